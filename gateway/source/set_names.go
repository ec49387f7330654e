package source

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/redact"
)

// NameUnder returns the name that a source with a known document has under another configuration of its API.
func (s *Source) NameUnder(api *config.API) string {
	switch {
	case api.Name != "":
		return api.Name
	case s.Config.Name == "":
		return s.Name
	}
	return apiName(s.Documents()[0].Title)
}

// NameSources names the sources without a configured name after the titles of their documents. Sources with the same
// title all get a suffix derived from the location of their documents, so that names don't depend on the order of the
// configuration or of loading. While one of them can't be read, the other has no suffix; clashes describes these cases.
// If a discovered service has the name of such an API, only the service gets a suffix.
func (set *Set) NameSources() (clashes []string) {
	names, clashes := set.nameByTitles(titleInUse, apiName)
	former := set.formerNames()
	for s, name := range names {
		if s.Name != name { // no needless write, because reports read it concurrently
			s.Name = name
		}
		if s.FormerName != former[s] {
			s.FormerName = former[s]
		}
	}
	return clashes
}

// titleInUse returns the title of the document in use; false if there is none.
func titleInUse(s *Source) (string, bool) {
	if s.Document == nil {
		return "", false
	}
	return s.Document.Title, true
}

// formerNames returns the names that the previous release gave the sources; nil if they are the same.
func (set *Set) formerNames() map[*Source]string {
	if !slices.ContainsFunc(set.Sources, func(s *Source) bool {
		return s.Document != nil && s.Config.Name == "" && apiName(s.Document.Title) != formerAPIName(s.Document.Title)
	}) {
		return nil
	}
	names, _ := set.nameByTitles(titleInUse, formerAPIName)
	return names
}

// namesWith returns the names of the sources if a document with this title were in use for changed.
func (set *Set) namesWith(changed *Source, title string) map[*Source]string {
	names, _ := set.nameByTitles(func(s *Source) (string, bool) {
		switch {
		case s == changed:
			return title, true
		case s.Document == nil:
			return "", false
		}
		return s.Document.Title, true
	}, apiName)
	return names
}

// NameWith returns the name of a source if a document with this title were in use for it.
func (set *Set) NameWith(s *Source, title string) string { return set.namesWith(s, title)[s] }

// nameByTitles returns names of the sources, made by nameOf from the titles of their documents. titleOf returns false
// for a source without a document.
func (set *Set) nameByTitles(titleOf func(*Source) (string, bool), nameOf func(title string) string) (names map[*Source]string, clashes []string) {
	names = make(map[*Source]string, len(set.Sources))
	members := map[string][]*Source{}
	for _, s := range set.Sources {
		name := s.owner.label
		if title, ok := titleOf(s); ok && title != "" && s.Config.Name == "" {
			name = nameOf(title)
		}
		names[s] = name
		members[name] = append(members[name], s)
	}
	for name, sources := range members {
		if len(sources) == 1 {
			continue
		}
		var specs []string
		stay := slices.DeleteFunc(slices.Clone(sources), yieldsName)
		for _, s := range sources {
			switch {
			case len(stay) > 0 && yieldsName(s):
				names[s] = digestName(name, fmt.Sprintf("%q", s.Config.Service()))
				clashes = append(clashes, fmt.Sprintf("the service %s of provider %s has the name %q of %s, so that a hash ends its name: give that API an entry with a name",
					serviceName(s.Config.Service()), s.Config.Service().Provider, name, redact.Location(stay[0].Config.Spec.String())))
			case s.Config.Name == "" && len(stay) > 1:
				names[s] = digestName(name, s.Config.Spec.String())
				if _, ok := titleOf(s); ok {
					specs = append(specs, redact.Location(s.Config.Spec.String()))
				}
			}
		}
		if len(specs) > 1 {
			clashes = append(clashes, fmt.Sprintf("%s would all be named %q, so that a hash ends their names and those of their tools, but not those of one "+
				"while the others can't be read: give each an entry with a name", strings.Join(specs, " and "), name))
		}
	}
	slices.Sort(clashes)
	return names, clashes
}

// YieldsName reports whether the tools of the API, like its own name, give way to those of other APIs.
func (s *Source) YieldsName() bool { return yieldsName(s) }

// yieldsName reports whether the API gives way to a configured API of the same name, even to one named by its title:
// its own name comes from the registration of a service that the configuration does not name.
func yieldsName(s *Source) bool { return s.Config.IsDiscovered() && !s.Config.TakesSecrets() }

// digestName returns a name with a hash at its end.
func digestName(name, of string) string {
	sum := sha256.Sum256([]byte(of))
	return name + "-" + hex.EncodeToString(sum[:4])
}

// serviceName returns the display name of a service.
func serviceName(s config.ServiceID) string { return strings.TrimPrefix(s.Namespace+"/"+s.Name, "/") }

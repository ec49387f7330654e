package gateway

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"drawbridge/gateway/catalog"
	"drawbridge/gateway/redact"
	"drawbridge/openapi/latin"
)

// nameFromLocation names an API until its document is known.
func nameFromLocation(location string) string {
	if u, err := url.Parse(location); err == nil && u.Host != "" {
		return apiName(u.Hostname())
	}
	base := filepath.Base(location)
	return apiName(strings.TrimSuffix(base, filepath.Ext(base)))
}

// maxAPIName is the maximum number of characters of an API's name, which leaves room for the operation in tool names.
const maxAPIName = 24

// apiName derives a name from a title: transliterated lower-case letters and digits, words joined by "-", as many whole
// words as fit. A possessive 's is dropped. Different titles with the same name are told apart like equal titles.
func apiName(title string) string {
	ascii, _ := latin.Text(title)
	return formerAPIName(ascii)
}

// formerAPIName is apiName of the previous release, which dropped all letters outside ASCII.
func formerAPIName(title string) string {
	title = strings.ReplaceAll(strings.ToLower(title), "’", "'") + " "
	words := strings.FieldsFunc(possessive.ReplaceAllString(title, "$1"), func(r rune) bool {
		return ('a' > r || r > 'z') && ('0' > r || r > '9')
	})
	name := ""
	for _, word := range words {
		switch {
		case name == "":
			name = word[:min(len(word), maxAPIName)]
		case len(name)+1+len(word) <= maxAPIName:
			name += "-" + word
		default:
			return name
		}
	}
	return cmp.Or(name, "api")
}

// possessive matches a possessive 's with the character after it.
var possessive = regexp.MustCompile(`'s([^\pL\pN])`)

// nameFor returns the name of the API for the title of its document.
func (s *source) nameFor(title string) string {
	if s.config.Name != "" || title == "" {
		return s.label
	}
	return apiName(title)
}

// nameSources names the sources without a configured name after the titles of their documents. Sources with the same
// title all get a suffix derived from the location of their documents, so that names don't depend on the order of the
// configuration or of loading. While one of them can't be read, the other has no suffix; clashes describes these cases.
func (d *deployment) nameSources() (clashes []string) {
	names, clashes := d.nameByTitles(titleInUse, apiName)
	for s, name := range names {
		if s.name != name { // no needless write, because reports read it concurrently
			s.name = name
		}
	}
	return clashes
}

// titleInUse returns the title of the document in use; false if there is none.
func titleInUse(s *source) (string, bool) {
	if s.loaded == nil {
		return "", false
	}
	return s.loaded.title, true
}

// formerNames returns the names that the previous release gave the sources; nil if they are the same.
func (d *deployment) formerNames() map[*source]string {
	if !slices.ContainsFunc(d.sources, func(s *source) bool {
		return s.loaded != nil && s.config.Name == "" && apiName(s.loaded.title) != formerAPIName(s.loaded.title)
	}) {
		return nil
	}
	names, _ := d.nameByTitles(titleInUse, formerAPIName)
	return names
}

// namesWith returns the names of the sources if a document with this title were in use for changed.
func (d *deployment) namesWith(changed *source, title string) map[*source]string {
	names, _ := d.nameByTitles(func(s *source) (string, bool) {
		switch {
		case s == changed:
			return title, true
		case s.loaded == nil:
			return "", false
		}
		return s.loaded.title, true
	}, apiName)
	return names
}

// nameByTitles returns names of the sources, made by nameOf from the titles of their documents. titleOf returns false
// for a source without a document.
func (d *deployment) nameByTitles(titleOf func(*source) (string, bool), nameOf func(title string) string) (names map[*source]string, clashes []string) {
	names = make(map[*source]string, len(d.sources))
	members := map[string][]*source{}
	for _, s := range d.sources {
		name := s.label
		if title, ok := titleOf(s); ok && title != "" && s.config.Name == "" {
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
		for _, s := range sources {
			if s.config.Name == "" {
				sum := sha256.Sum256([]byte(s.config.Spec.String()))
				names[s] = name + "-" + hex.EncodeToString(sum[:4])
				if _, ok := titleOf(s); ok {
					specs = append(specs, redact.Location(s.config.Spec.String()))
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

// clashesOf describes the tool names that depend on whether the documents of other APIs can be read.
func clashesOf(c *catalog.Catalog) []string {
	clashes := c.Clashes()
	if len(clashes) == 0 {
		return nil
	}
	const most = 5
	var list []string
	for _, clash := range clashes[:min(len(clashes), most)] {
		list = append(list, fmt.Sprintf("%q (%s)", clash.Name, strings.Join(clash.APIs, ", ")))
	}
	more := ""
	if len(clashes) > most {
		more = fmt.Sprintf(" and %d more", len(clashes)-most)
	}
	return []string{fmt.Sprintf("tools of several APIs would be named %s%s, so that a hash ends their names, but not those of one while the others "+
		"can't be read: name them by rules, or let tools.prefix tell them apart", strings.Join(list, ", "), more)}
}

// logClashes warns once of each unstable name.
func (g *Gateway) logClashes(gen, old *generation) {
	for _, clash := range gen.clashes {
		if old == nil || !slices.Contains(old.clashes, clash) {
			g.log.Warn("names clash", "problem", clash)
		}
	}
}

// NameClashes describes the names of APIs and tools that depend on whether other documents can be read.
func (g *Gateway) NameClashes() []string { return slices.Clone(g.Status().Config.Clashes) }

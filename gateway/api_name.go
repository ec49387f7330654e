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

// maxAPIName is the most characters of an API's name, so that tool names have room for the operation.
const maxAPIName = 24

// apiName makes a name of a title: lower case letters and digits, transliterated, words joined by "-", as many whole words as there is
// room for. A possessive 's is no word, and goes. Titles that read the same are told apart as those that are the same.
func apiName(title string) string {
	ascii, _ := latin.Text(title)
	return formerAPIName(ascii)
}

// formerAPIName is apiName as it was in the release before, which left out all letters outside ASCII.
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

// possessive is the 's at the end of a word, with what ends it.
var possessive = regexp.MustCompile(`'s([^\pL\pN])`)

// nameFor names the API when its document's title is known.
func (s *source) nameFor(title string) string {
	if s.config.Name != "" || title == "" {
		return s.label
	}
	return apiName(title)
}

// nameSources names the sources that the configuration leaves unnamed, after their documents' titles. Sources of
// the same title all get a suffix that depends on where their documents come from, so that names do not depend on
// the order of the configuration or of arrival. But while one of them can't be read the other has no suffix: that is
// what it returns, in words.
func (d *deployment) nameSources() (clashes []string) {
	names, clashes := d.nameByTitles(titleInUse, apiName)
	for s, name := range names {
		if s.name != name { // reports read it meanwhile
			s.name = name
		}
	}
	return clashes
}

// titleInUse returns the title of the document that is in use for a source; false: none is.
func titleInUse(s *source) (string, bool) {
	if s.loaded == nil {
		return "", false
	}
	return s.loaded.title, true
}

// formerNames returns the names that the release before gave the sources, nil if it gave them the same.
func (d *deployment) formerNames() map[*source]string {
	if !slices.ContainsFunc(d.sources, func(s *source) bool {
		return s.loaded != nil && s.config.Name == "" && apiName(s.loaded.title) != formerAPIName(s.loaded.title)
	}) {
		return nil
	}
	names, _ := d.nameByTitles(titleInUse, formerAPIName)
	return names
}

// namesWith returns the names that the sources have when a document with the title is in use for one of them.
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

// nameByTitles returns names of the sources by the titles of their documents, those that have one, of which nameOf makes names.
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

// clashesOf tells in words which names of tools depend on whether the documents of other APIs can be read.
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

// logClashes warns of names that are not as stable as others, once.
func (g *Gateway) logClashes(gen, old *generation) {
	for _, clash := range gen.clashes {
		if old == nil || !slices.Contains(old.clashes, clash) {
			g.log.Warn("names clash", "problem", clash)
		}
	}
}

// NameClashes returns which names of APIs and tools depend on whether other documents can be read, and why.
func (g *Gateway) NameClashes() []string { return slices.Clone(g.Status().Config.Clashes) }

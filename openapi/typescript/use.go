package typescript

import (
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
)

// use says how likely a caller needs a member, the likeliest first.
type use uint8

const (
	needed     use = iota // required
	mentioned             // by the query
	named                 // as a part of the path
	exampled              // it has a value in the example of a call
	chooses               // it pages, filters or sorts what a call reads
	rare                  // any other
	deprecated            // the document advises against it
	shared                // nearly all operations of the API have it
)

// Options say which arguments a caller is likely to need. The zero value knows nothing.
type Options struct {
	Query   string                 // what a caller looks for, in words: optional members that it names come first, with their types
	Example []byte                 // a call; its arguments come before others
	Reads   bool                   // the call only reads: arguments that page, filter and sort come before others
	Shared  func(name string) bool // whether nearly all operations of the API have the argument: those are last; nil if none is known
	Path    string                 // the template of its path: an argument with the name of a segment, such as orders, comes before others
	// NullIsAbsent reports that null says the same as no value, as in a call that changes nothing that exists: types of optional members
	// don't have it.
	NullIsAbsent bool
	// Length is the length in bytes up to which optional arguments get types and objects are opened; 0: 400.
	Length int
}

// pagers are words of names by which callers choose a part of a list.
var pagers = wordSet("limit page offset cursor per size max count first last after before start end skip top take token " +
	"q query search filter filters where sort order orderby direction since until from to status state type name id ids tag tags label labels")

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}

// useOf returns the use of a member of the root.
func (s *signature) useOf(m jsonschema.Member) use {
	switch {
	case m.Required:
		return needed
	case s.mentions(m.Name):
		return mentioned
	case s.isShared(m.Name):
		return shared
	case m.Schema.Keyword("deprecated").Name != "":
		return deprecated
	case s.isInPath(m.Name):
		return named
	case s.options.Example != nil && jsonscan.Lookup(s.options.Example, m.Name) != nil:
		return exampled
	case s.options.Reads && !slices.ContainsFunc(words(m.Name), func(word string) bool { return !pagers[word] }):
		return chooses
	}
	return rare
}

func (s *signature) isShared(name string) bool {
	return s.options.Shared != nil && s.options.Shared(name)
}

// isInPath reports whether a segment of the path has the name.
func (s *signature) isInPath(name string) bool {
	for segment := range strings.SplitSeq(s.options.Path, "/") {
		if segment != "" && segment[0] != '{' && slices.Equal(words(segment), words(name)) {
			return true
		}
	}
	return false
}

// mentions reports whether the query has all words of a name.
func (s *signature) mentions(name string) bool {
	if len(s.query) == 0 || len(name) > maxName {
		return false
	}
	all := words(name)
	return len(all) > 0 && !slices.ContainsFunc(all, func(word string) bool { return !s.query[singular(word)] })
}

// queryWords returns the words of a query by which names are recognized.
func queryWords(query string) map[string]bool {
	set := map[string]bool{}
	for _, word := range words(query) {
		set[singular(word)] = true
	}
	return set
}

// singular returns a word without the ending of an English plural.
func singular(word string) string {
	switch {
	case len(word) > 4 && strings.HasSuffix(word, "ies"):
		return word[:len(word)-3] + "y"
	case len(word) > 3 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss"):
		return word[:len(word)-1]
	}
	return word
}

// slashed are words of names whose values often have slashes in them.
var slashed = wordSet("path file filename filepath dir directory folder key ref branch object blob prefix uri url package image repository resource")

// saysSegment reports whether a text that is one segment of a path must be said to be one, since its name suggests more.
func saysSegment(name string) bool {
	all := words(name)
	return len(all) > 0 && slashed[all[len(all)-1]]
}

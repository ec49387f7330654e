package catalog

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// OperationKey identifies an operation of all versions of a document.
type OperationKey struct{ API, Method, Path string }

// Published are names under which operations were published earlier, the newest first.
type Published map[OperationKey]PublishedNames

// PublishedNames are those of one operation.
type PublishedNames struct {
	ID    string   `json:"id,omitempty"` // the operationId that it had; "" if that is unknown, or there was none
	Names []string `json:"names"`
	// Short reports that the newest was published as a short one.
	Short bool `json:"short,omitempty"`
}

// maxPublished is the number of names that are kept of an operation.
const maxPublished = 4

func keyOf(c *candidate) OperationKey { return OperationKey{c.api, c.op.Method, c.op.Path} }

// With returns the published names together with those of a catalog, which become the newest. Names of operations that are gone are
// forgotten when they are the most.
func (p Published) With(c *Catalog) Published {
	next := make(Published, len(c.tools))
	for _, t := range c.tools {
		key := OperationKey{t.API, t.Method, t.Path}
		names := append([]string{t.Name}, slices.DeleteFunc(slices.Clone(p[key].Names), func(name string) bool { return name == t.Name })...)
		next[key] = PublishedNames{ID: t.Document.ID, Names: names[:min(len(names), maxPublished)], Short: c.short}
	}
	const some = 1000
	if len(p) > 2*len(next)+some {
		return next
	}
	for key, of := range p {
		if _, ok := next[key]; !ok {
			// An operation that has moved has taken its names along.
			of.Names = slices.DeleteFunc(slices.Clone(of.Names), func(name string) bool { return c.byName[name] != nil })
			next[key] = of
		}
	}
	return next
}

// Under returns the published names with those of newer before them.
func (p Published) Under(newer Published) Published {
	if len(newer) == 0 {
		return p
	}
	all := maps.Clone(p)
	if all == nil {
		all = Published{}
	}
	for key, of := range newer {
		before := all[key]
		all[key] = PublishedNames{ID: cmp.Or(of.ID, before.ID), Names: slices.Concat(of.Names, before.Names),
			Short: before.Short && len(of.Names) > 0 && len(before.Names) > 0 && of.Names[0] == before.Names[0]}
	}
	return all
}

// keepPublished puts the newest name under which the operation was published before all others, if it can still be its short name.
func (s *shortName) keepPublished(o Options) {
	if s.configuredName() != "" {
		return
	}
	of := o.Published[keyOf(s.candidate)]
	for i, name := range of.Names {
		if s.fits(name, of.Short && i == 0, o) {
			s.names = append([]string{name}, slices.DeleteFunc(s.names, func(other string) bool { return other == name })...)
			s.kept = true
			return
		}
	}
}

// fits reports whether a name can be a short name of the operation, whichever others there were when it was published: a form of its
// id or path, and words of its path. The name of the operationId is one only if it is known to have been short, so that tools.names can change.
func (s *shortName) fits(name string, short bool, o Options) bool {
	if name == s.names[0] || (short || name != s.byID) && slices.Contains(s.names, name) {
		return true
	}
	if name == s.byID && !short || len(name) > o.limit() || slices.Contains(o.Reserved, name) || sanitize(name) != strings.TrimPrefix(name, "_") {
		return false
	}
	rest := name
	if o.prefixed() {
		api := prefix(s.api, "")
		if rest = strings.TrimPrefix(name, "_"); !strings.HasPrefix(rest, api) {
			return false
		}
		rest = rest[len(api):]
	}
	words, api := wordsIn(rest), wordsIn(sanitize(s.api))
	for _, form := range s.forms {
		first := slices.Concat(wordsIn(form), api)
		known := slices.Concat(first, wordsIn(wholePath(s.candidate)), wordsIn(s.hash()[:digits]))
		if len(words) > 0 && slices.Contains(first, words[0]) && !slices.ContainsFunc(words, func(word string) bool { return !slices.Contains(known, word) }) {
			return true
		}
	}
	return false
}

// owners tell which operation a name belongs to, also one that it has no more: it never comes to mean another one.
type owners struct {
	byID      map[string]*candidate
	published map[string][]owner
	known     Published
}

type owner struct {
	key  OperationKey
	id   string
	gone bool // the operation is
}

func newOwners(candidates []*candidate, p Published) *owners {
	o := &owners{byID: make(map[string]*candidate, len(candidates)), published: map[string][]owner{}, known: p}
	present := make(map[OperationKey]bool, len(candidates))
	for _, c := range candidates {
		o.byID[c.byID] = c
		present[keyOf(c)] = true
	}
	for key, names := range p {
		for _, name := range names.Names {
			o.published[name] = append(o.published[name], owner{key, names.ID, !present[key]})
		}
	}
	return o
}

// hasOther reports whether a name belongs to another operation than c. An operation that has moved, with its id, takes its names along.
func (o *owners) hasOther(name string, c *candidate) bool {
	if other := o.byID[name]; other != nil && other != c {
		return true
	}
	_, isKnown := o.known[keyOf(c)]
	return slices.ContainsFunc(o.published[name], func(of owner) bool {
		moved := of.gone && !isKnown && of.id != "" && of.id == c.op.ID && of.key.API == c.api
		return of.key != keyOf(c) && !moved
	})
}

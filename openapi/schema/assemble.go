package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"drawbridge/openapi/tree"
)

// stages are the ways to make a schema smaller, tried in this order until it fits (S6): first texts go, the deepest
// first, then branches keep nothing but their type.
var stages = [...]cut{
	uncut,
	{text: 4, depth: noLimit},
	{text: 3, depth: noLimit, short: true},
	{text: 2, depth: noLimit, short: true},
	{text: 2, depth: 8, short: true},
	{text: 2, depth: 6, short: true},
	{text: 2, depth: 5, short: true},
	{text: 2, depth: 4, short: true},
	{text: 2, depth: 3, short: true},
	{text: 2, depth: 2, short: true},
	{text: 2, depth: 1, short: true},
	{text: 1, depth: 1, short: true},
}

// fitted is an input schema with the degree to which it was reduced, or the error that prevented it. It is immutable.
type fitted struct {
	text  json.RawMessage
	stage int
	err   error
}

// report returns the schema, and warns of what was taken away. where is where that is said if c is not for one owner.
func (f *fitted) report(c *Converter, where *tree.Node) (json.RawMessage, error) {
	if f.stage > 0 {
		if c.at != nil {
			where = c.at
		}
		c.warn(warning(where, CodeSchemaSize, "the input schema takes more than %d bytes; %s", c.limits.MaxBytes, stages[f.stage]))
	}
	return f.text, f.err
}

// fit puts a tool's schema together, reduced as far as is needed. write makes the root fragment, without its closing
// brace, for a cut. own holds the definitions of the root schema's author, which keep their place; it may be nil.
func (c *Converter) fit(rename map[string]string, own *tree.Node, write func(e *emitter)) *fitted {
	size := 0
	attempt := func(i int) json.RawMessage {
		stage := stages[i]
		e := &emitter{c: c, cut: stage, rename: rename}
		root := c.written(func(dst []byte) []byte {
			e.out = dst
			write(e)
			return e.out
		})
		if i == 0 {
			e.report()
		}
		a := assembly{c: c, rename: rename, own: own, root: &fragment{body: root, holes: e.holes}}
		most := c.limits.MaxBytes + c.limits.MaxBytes/8
		if i == len(stages)-1 {
			a.collect(stage, noMost) // the error tells the size
		} else {
			a.collect(stage, most)
		}
		if size = a.size; size > most {
			return nil
		}
		a.breakCycles()
		out := c.written(a.write)
		if size = len(out); size > c.limits.MaxBytes {
			return nil
		}
		return out
	}
	if out := attempt(0); out != nil {
		return &fitted{text: out}
	}
	// Each stage takes away what the one before does, and more, so that the first that fits is found by halving.
	fits := make(map[int]json.RawMessage)
	first := 1 + sort.Search(len(stages)-1, func(i int) bool {
		fits[i+1] = attempt(i + 1)
		return fits[i+1] != nil
	})
	if first == len(stages) {
		return &fitted{err: &SizeError{size, c.limits.MaxBytes}}
	}
	return &fitted{text: fits[first], stage: first}
}

// String describes what a cut removes.
func (c cut) String() string {
	text := fmt.Sprintf("descriptions below level %d are left out", c.text)
	if c.depth != noLimit {
		text += fmt.Sprintf(", and everything but types below level %d", c.depth)
	}
	return text
}

// assembly puts the fragments of one tool's schema together.
type assembly struct {
	c      *Converter
	rename map[string]string
	own    *tree.Node // the root schema's own $defs
	root   *fragment
	cut    cut
	size   int     // about how many bytes write will return
	work   int     // steps that are not counted yet
	parts  []*part // in the order of discovery
	index  map[partKey]*part
	swaps  map[holeKey]*part // holes that are filled with another part than they ask for; nil: with nothing
	names  map[string]bool

	openName string // in $defs, of the schema that accepts everything
	open     bool   // it is referred to
}

// A part is a schema of $defs, or one that is written instead of the only reference to it.
type part struct {
	*fragment
	key     partKey
	uses    int
	state   uint8  // of the search for cycles
	name    string // in $defs
	inlined bool
}

type partKey struct {
	node    *tree.Node
	base    bool
	kept    bool
	merge   bool
	renamed bool
	in      *scope
}

func (h hole) key() partKey { return partKey{h.node, h.base, h.kept, h.merge, h.renamed, h.in} }

type holeKey struct {
	fragment *fragment
	index    int
}

// maxInlined is the most bytes of a schema that is written instead of the only reference to it.
const maxInlined = 1024

// noMost is a size that no schema has.
const noMost = math.MaxInt

// collect finds all parts, nearest first, because the depth at which a schema is first met decides how it is cut. It ends once they take more
// than most bytes. Those of a schema that is not cut are found nevertheless, each in one such schema, since their faults are reported then.
func (a *assembly) collect(c cut, most int) {
	a.cut = c
	a.size = len(a.root.body)
	a.index = map[partKey]*part{}
	byDepth := [][]partKey{nil}
	meet := func(f *fragment, depth int) {
		for _, h := range f.holes {
			d := depth + h.depth
			if c == uncut {
				d = 0 // the order of discovery is the author's then
			}
			for len(byDepth) <= d {
				byDepth = append(byDepth, nil)
			}
			byDepth[d] = append(byDepth[d], h.key())
		}
	}
	meet(a.root, 0)
	for depth := 0; depth < len(byDepth); depth++ {
		for i := 0; i < len(byDepth[depth]); i++ {
			key := byDepth[depth][i]
			if a.index[key] != nil {
				continue
			}
			if a.size > most {
				if c != uncut {
					return
				}
				if _, known := a.c.walked.Load(key); known {
					continue
				}
			}
			meet(a.add(key, depth).fragment, depth)
		}
	}
	if a.size > most {
		for key := range a.index {
			a.c.walked.Store(key, true)
		}
	}
}

func (a *assembly) add(key partKey, depth int) *part {
	form := fragmentKey{node: key.node, base: key.base, kept: key.kept, merge: key.merge, cut: a.cut.below(depth), in: key.in}
	p := &part{key: key}
	if key.renamed {
		p.fragment, _ = a.c.convert(form, a.rename)
	} else {
		p.fragment = a.c.fragment(form)
	}
	a.index[key] = p
	a.parts = append(a.parts, p)
	a.size += len(p.body) + 24 + 24*len(p.holes)
	if a.work += stepsOfPart + len(p.holes)/8; a.work >= 64 {
		a.c.limits.Pace.Work(a.work)
		a.work = 0
	}
	return p
}

// stepsOfPart is what a part takes beside its holes, eight of which take a step.
const stepsOfPart = 3

// breakCycles makes sure that no schema applies to a value for ever: "A: {allOf: [A]}" and its longer forms. Where an
// allOf leads back to a schema that lists alternatives, the schema without them is meant.
func (a *assembly) breakCycles() {
	a.search(a.root, nil)
	for i := 0; i < len(a.parts); i++ { // grows
		if p := a.parts[i]; p.state == unvisited {
			a.search(p.fragment, p)
		}
	}
}

const (
	unvisited uint8 = iota
	open
	done
)

func (a *assembly) search(f *fragment, self *part) {
	if self != nil {
		self.state = open
	}
	for i, h := range f.holes {
		if !h.inPlace {
			continue
		}
		p := a.index[h.key()]
		if p.state == open {
			if p = a.without(h); a.swaps == nil {
				a.swaps = map[holeKey]*part{}
			}
			a.swaps[holeKey{f, i}] = p
			if p == nil {
				a.c.tell(nodeWarning{h.node, warning(h.node, CodeSchemaCycle,
					"the schema is part of itself without an object or array between; it is left out there")})
				continue
			}
		}
		if p.state == unvisited {
			a.search(p.fragment, p)
		}
	}
	if self != nil {
		self.state = done
	}
}

// without returns the base form of the part that a hole asks for, nil if that would be a cycle again.
func (a *assembly) without(h hole) *part {
	if h.base || !h.all || h.node.Get("oneOf") == nil && a.c.anyOf(h.node) == nil {
		return nil
	}
	key := h.key()
	key.base = true
	p := a.index[key]
	if p == nil {
		p = a.add(key, 0)
		for _, h := range p.holes {
			if k := (h.key()); a.index[k] == nil {
				a.addAll(k)
			}
		}
	}
	if p.state == open {
		return nil
	}
	return p
}

// addAll adds a part and all that it needs.
func (a *assembly) addAll(key partKey) {
	for _, h := range a.add(key, 0).holes {
		if k := (h.key()); a.index[k] == nil {
			a.addAll(k)
		}
	}
}

// fill returns the part that belongs into a hole.
func (a *assembly) fill(f *fragment, i int) *part {
	if p, ok := a.swaps[holeKey{f, i}]; ok {
		return p
	}
	h := f.holes[i]
	return a.index[h.key()]
}

// write writes the schema with its $defs.
func (a *assembly) write(dst []byte) []byte {
	whole := map[*part]bool{}
	used := []*part{}
	count := func(f *fragment) {
		for i, h := range f.holes {
			p := a.fill(f, i)
			if p == nil {
				continue
			}
			if p.uses++; p.uses == 1 {
				used = append(used, p)
				whole[p] = h.whole
			}
		}
	}
	count(a.root)
	for i := 0; i < len(used); i++ {
		count(used[i].fragment)
	}
	a.names = map[string]bool{}
	size := len(a.root.body) + 16
	for _, p := range used {
		p.inlined = p.uses == 1 && whole[p] && len(p.body) <= maxInlined && !a.owns(p)
		if !p.inlined {
			p.name = a.name(p.key)
		}
		size += len(p.body) + 2*len(p.name) + 24*len(p.holes)
	}
	a.openName = a.unique("Anything")
	out := a.splice(slices.Grow(dst, size), a.root)
	comma := `,"$defs":{`
	define := func(name string) {
		out = append(append(out, comma...), '"')
		out = append(append(out, name...), `":`...)
		comma = ","
	}
	for _, p := range used {
		if !p.inlined {
			define(p.name)
			start := len(out)
			out = a.splice(out, p.fragment)
			if anchor := a.anchor(p); anchor != "" {
				out = slices.Insert(out, start+1, []byte(anchor)...)
			}
		}
	}
	if a.open {
		define(a.openName)
		out = append(out, "{}"...)
	}
	if comma == "," {
		out = append(out, '}')
	}
	return append(out, '}')
}

// owns reports whether a part is one of the definitions of the root schema's author.
func (a *assembly) owns(p *part) bool {
	return a.own != nil && !p.key.base && !p.key.renamed && p.key.node.Parent() == a.own
}

// anchor returns the keyword $anchor of the author's own definitions, which are unique within their schema.
func (a *assembly) anchor(p *part) string {
	name := p.key.node.Get("$anchor").Text()
	if !a.owns(p) || !plainAnchor(name) || a.names["#"+name] {
		return ""
	}
	a.names["#"+name] = true
	text := `"$anchor":"` + name + `"`
	if len(p.body) > len("{}") || len(p.holes) > 0 {
		text += ","
	}
	return text
}

// plainAnchor reports whether a name is allowed in $anchor (JSON Schema 2020-12, core, section 8.2.2).
func plainAnchor(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || !(c >= '0' && c <= '9' || c == '-' || c == '.')) {
			return false
		}
	}
	return name != "" && len(name) <= 64
}

// splice writes a fragment with its holes filled.
func (a *assembly) splice(out []byte, f *fragment) []byte {
	from := 0
	for i, h := range f.holes {
		out = append(out, f.body[from:h.at]...)
		from = h.at
		switch p := a.fill(f, i); {
		case p == nil && h.whole && h.union: // being itself is no alternative
			out = append(out, `{"not":{}}`...)
		case p == nil && h.whole:
			out = append(out, "{}"...)
		case p == nil:
			// The hole is the value of a "$ref" that has to go: it becomes a reference to what accepts everything.
			a.open = true
			out = append(out, `"#/$defs/`+a.openName+`"`...)
		case p.inlined:
			out = a.splice(out, p.fragment)
		case h.whole:
			out = append(out, `{"$ref":"#/$defs/`+p.name+`"}`...)
		default:
			out = append(out, `"#/$defs/`+p.name+`"`...)
		}
	}
	return append(out, f.body[from:]...)
}

// name returns the member of $defs for a schema: its name in the document in characters that need no escape anywhere.
func (a *assembly) name(key partKey) string {
	n := key.node
	name := n.Key()
	if name == "" || name == "schema" || name == "items" {
		if title := n.Get("title").Text(); title != "" && len(title) <= 64 {
			name = title
		}
	}
	if name == "" {
		name = path.Base(n.Position().File)
		name = strings.TrimSuffix(name, path.Ext(name))
	}
	name = strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-', r == '_':
			return r
		}
		return '_'
	}, name), "_")
	if len(name) > 64 {
		name = name[:64]
	}
	if name == "" {
		name = "Schema"
	}
	if key.base {
		name += "Base"
	}
	if key.renamed {
		name += "Arguments"
	}
	return a.unique(name)
}

func (a *assembly) unique(name string) string {
	unique := name
	for i := 2; a.names[unique]; i++ {
		unique = name + "_" + strconv.Itoa(i)
	}
	a.names[unique] = true
	return unique
}

// SizeError refuses a schema that is too large in its shortest form. To find that out takes time, so a document that
// has many of them is dear.
type SizeError struct{ Bytes, Max int }

func (e *SizeError) Error() string {
	return fmt.Sprintf("the input schema takes %d bytes even when all but names and types are left out; at most %d are allowed", e.Bytes, e.Max)
}

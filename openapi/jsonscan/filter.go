package jsonscan

import (
	"bytes"
	"strconv"
	"strings"
)

// Fate is what a [Filter] does with a value.
type Fate uint8

// The fates; if several apply to one value, the greatest counts.
const (
	Keep Fate = iota
	Mask      // a string becomes "[hidden]", any other value null
	Drop      // the member or element is removed
)

// A Filter hides members of values. Its zero value hides nothing. It must not be changed once it is in use.
type Filter struct {
	names map[string]Fate
	paths *filterNode
}

// filterNode is a position in the pointers of a filter.
type filterNode struct {
	fate     Fate
	children map[string]*filterNode
	any      *filterNode // of the segment *
}

// Name adds the name of members to hide at any depth.
func (f *Filter) Name(name string, fate Fate) {
	if f.names == nil {
		f.names = make(map[string]Fate)
	}
	f.names[name] = max(f.names[name], fate)
}

// Pointer adds the values at a JSON Pointer (RFC 6901) in which the segment * matches every member and every element.
// "" adds nothing.
func (f *Filter) Pointer(pointer string, fate Fate) {
	if pointer == "" {
		return
	}
	if f.paths == nil {
		f.paths = &filterNode{}
	}
	n := f.paths
	for token := range strings.SplitSeq(pointer[1:], "/") {
		next := &n.any
		if token != "*" {
			token = UnescapeToken(token)
			if n.children == nil {
				n.children = make(map[string]*filterNode)
			}
			child := n.children[token]
			if child == nil {
				child = &filterNode{}
				n.children[token] = child
			}
			n = child
			continue
		}
		if *next == nil {
			*next = &filterNode{}
		}
		n = *next
	}
	n.fate = max(n.fate, fate)
}

// IsEmpty reports whether the filter hides nothing.
func (f *Filter) IsEmpty() bool { return f.names == nil && f.paths == nil }

// Add adds what another filter hides by the names of members.
func (f *Filter) Add(other *Filter) {
	for name, fate := range other.names {
		f.Name(name, fate)
	}
}

// AddAt adds, for the values at the JSON Pointer to, what another filter hides of a value at the path from, which is made of unescaped
// tokens. It reports whether that is anything.
func (f *Filter) AddAt(to string, other *Filter, from []string) (hides bool) {
	nodes := []*filterNode{other.paths}
	for _, token := range from {
		fate := other.names[token]
		var next []*filterNode
		for _, n := range nodes {
			if n != nil {
				next = append(next, n.children[token], n.any)
			}
		}
		for _, n := range next {
			if n != nil {
				fate = max(fate, n.fate)
			}
		}
		if fate != Keep {
			f.Pointer(to, fate)
			return true
		}
		nodes = next
	}
	for _, n := range nodes {
		hides = f.addBelow(to, n) || hides
	}
	return hides
}

// addBelow adds the fates of the positions below a node.
func (f *Filter) addBelow(to string, n *filterNode) (hides bool) {
	if n == nil {
		return false
	}
	if n.fate != Keep {
		f.Pointer(to, n.fate)
		hides = true
	}
	for token, next := range n.children {
		hides = f.addBelow(to+"/"+EscapeToken(token), next) || hides
	}
	return f.addBelow(to+"/*", n.any) || hides
}

// Apply returns a JSON text, which was scanned before, without the values that the filter hides: data itself if it has
// none of them.
func (f *Filter) Apply(data []byte) []byte {
	w := filtering{f: f, data: data}
	var at []*filterNode
	if f.paths != nil {
		at = append(at, f.paths)
	}
	w.value(skipSpace(data, 0), at)
	if w.out == nil {
		return data
	}
	return append(w.out, data[w.copied:]...)
}

// filtering is the state of one text in a filter.
type filtering struct {
	f      *Filter
	data   []byte
	out    []byte // the text decided so far; nil if nothing was hidden so far
	copied int
}

// value filters the value at i, to which nodes apply, and returns its end.
func (w *filtering) value(i int, nodes []*filterNode) int {
	if i >= len(w.data) {
		return i
	}
	switch c := w.data[i]; {
	case len(w.f.names) == 0 && len(nodes) == 0:
	case c == '{':
		return w.all(i, '}', nodes)
	case c == '[':
		return w.all(i, ']', nodes)
	case c == '"':
		return w.held(i, nodes)
	}
	return skipValue(w.data, i)
}

// held filters a string at i that may contain JSON: some services nest it so, and so do events beside others that are
// not JSON.
func (w *filtering) held(i int, nodes []*filterNode) int {
	end := skipString(w.data, i+1)
	switch w.data[min(i+1, len(w.data)-1)] {
	case '{', '[', ' ', '\\':
	default:
		return end
	}
	text := Unquote(w.data[i:end])
	if first := skipSpace(text, 0); first == len(text) || text[first] != '{' && text[first] != '[' {
		return end
	}
	if _, err := Scan(text, Options{}); err != nil {
		return end
	}
	inside := filtering{f: w.f, data: text}
	if inside.value(skipSpace(text, 0), nodes); inside.out != nil {
		w.cut(i, end, string(AppendString(nil, append(inside.out, text[inside.copied:]...))))
	}
	return end
}

// all filters the members of an object, or the elements of an array, at i.
func (w *filtering) all(i int, end byte, nodes []*filterNode) int {
	comma, kept := 0, 0 // the comma before the member, and the number of members before it that stay
	for index := 0; ; index++ {
		i = skipSpace(w.data, i+1)
		if i >= len(w.data) || w.data[i] == end {
			return i + 1
		}
		start, fate := i, Keep
		var next []*filterNode
		var name []byte
		if end == '}' {
			behind := skipString(w.data, i+1)
			name = Unquote(w.data[i:behind])
			fate = w.f.names[string(name)]
			i = skipSpace(w.data, skipSpace(w.data, behind)+1) // skips the colon
		} else if len(nodes) > 0 {
			name = strconv.AppendInt(nil, int64(index), 10)
		}
		for _, n := range nodes {
			for _, child := range [...]*filterNode{n.children[string(name)], n.any} {
				if child != nil {
					fate, next = max(fate, child.fate), append(next, child)
				}
			}
		}
		begin := i
		switch fate {
		case Keep:
			i = w.value(i, next)
		case Mask:
			i = skipValue(w.data, i)
			mask := "null"
			if w.data[begin] == '"' {
				mask = `"[hidden]"`
			}
			w.cut(begin, i, mask)
		case Drop:
			i = skipValue(w.data, i)
		}
		behind := skipSpace(w.data, i)
		switch {
		case fate != Drop:
			kept++
		case kept > 0:
			w.cut(comma, i, "")
		case behind < len(w.data) && w.data[behind] == ',':
			w.cut(start, behind+1, "")
		default:
			w.cut(start, i, "")
		}
		if i = behind; i >= len(w.data) || w.data[i] != ',' {
			return i + 1
		}
		comma = i
	}
}

// cut replaces the text from one offset to another.
func (w *filtering) cut(from, to int, by string) {
	if w.out == nil {
		w.out = make([]byte, 0, len(w.data))
	}
	w.out = append(append(w.out, w.data[w.copied:from]...), by...)
	w.copied = to
}

// Mentions reports whether a text that is not JSON contains a word by which the filter recognizes values to hide;
// always if the filter has positions without a name.
func (f *Filter) Mentions(text []byte) bool {
	for name := range f.names {
		if bytes.Contains(text, []byte(name)) {
			return true
		}
	}
	var mentions func(n *filterNode, name string) bool
	mentions = func(n *filterNode, name string) bool {
		if n == nil {
			return false
		}
		if n.fate != Keep && (name == "" || bytes.Contains(text, []byte(name))) {
			return true
		}
		for child, next := range n.children {
			if mentions(next, child) {
				return true
			}
		}
		return mentions(n.any, name)
	}
	return mentions(f.paths, "")
}

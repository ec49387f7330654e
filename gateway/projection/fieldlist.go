package projection

import (
	"bytes"
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

// Missed is a path of a field list that leads to no value of an answer.
type Missed struct {
	Path string
	// Known are names of members that are there where the path leaves the answer, at most maxKnown.
	Known []string
}

// maxKnown is how many names are listed where a path leaves an answer, maxMissed how many paths that do are returned.
const maxKnown, maxMissed = 12, 5

// Apply returns the fields of an answer that the list selects: its tokens as they are, in their order. The answer must be
// compact JSON that was scanned before. Objects in arrays that have none of the fields stay as {}; elements that are no objects,
// and so have no fields, are left out, and an answer that is none is returned as it is. The work is in proportion to the length
// of the answer, whatever the list says, and the result is no longer than the answer. sliced are the arrays that have one place in the
// answer and of which elements were selected by their positions.
func (l *FieldList) Apply(data []byte) (projected []byte, missed []Missed, sliced []Sliced) {
	w := selecting{l: l, data: data, out: make([]byte, 0, min(len(data), 4096)), seen: make([]bool, len(l.nodes)), ended: make([]bool, len(l.nodes)), met: make([]bool, len(l.nodes))}
	if len(data) == 0 || !w.holds(0, 0) {
		return data, w.missed(), nil
	}
	w.value(0, 0, 0)
	return w.out, w.missed(), slices.DeleteFunc(w.sliced, func(s Sliced) bool { return s.Path == severalPlaces })
}

// severalPlaces is the path of arrays that a path of the list leads to more than once.
const severalPlaces = "*"

// selecting is one answer on its way through a list.
type selecting struct {
	l     *FieldList
	data  []byte
	out   []byte
	seen  []bool // nodes that a value was found for
	ended []bool // nodes where the answer ends in null or an empty array
	met   []bool // nodes where it has an object
	// sliced are the arrays of nodes with slices, slicedAt their indices by the node.
	sliced   []Sliced
	slicedAt map[int]int
}

// value writes what a node selects of the value that starts at i, and returns the offset behind it. level is the number of arrays of the node
// that the value stands in.
func (w *selecting) value(i, n, level int) int {
	node := &w.l.nodes[n]
	w.seen[n] = true
	if node.whole && level < len(node.slices) && w.data[i] == '[' {
		return w.array(i, n, level)
	}
	if !node.whole {
		switch w.data[i] {
		case '{':
			w.met[n] = true
			return w.object(i, node)
		case '[':
			return w.array(i, n, level)
		}
		w.ended[n] = true // null, since holds has let it through
	}
	end := jsonscan.Skip(w.data, i)
	w.out = append(w.out, w.data[i:end]...)
	return end
}

func (w *selecting) array(i, n, level int) int {
	var of slice // all elements
	if marks := w.l.nodes[n].slices; level < len(marks) {
		of = marks[level]
	}
	total := len(w.data) // at most
	if of.from < 0 || of.to < 0 {
		total = count(w.data, i)
	}
	start, end := of.of(total)
	w.out = append(w.out, '[')
	if i++; w.data[i] == ']' {
		w.ended[n] = true
		w.out = append(w.out, ']')
		return i + 1
	}
	first := true
	for position := 0; ; i++ {
		if start <= position && position < end && w.holds(i, n) {
			if !first {
				w.out = append(w.out, ',')
			}
			first = false
			i = w.value(i, n, level+1)
		} else {
			i = jsonscan.Skip(w.data, i)
		}
		position++
		if w.data[i] == ']' {
			if !of.all() {
				w.slice(n, level, of, position)
			}
			w.out = append(w.out, ']')
			return i + 1
		}
	}
}

func (w *selecting) object(i int, node *fieldNode) int {
	w.out = append(w.out, '{')
	if i++; w.data[i] == '}' {
		w.out = append(w.out, '}')
		return i + 1
	}
	first := true
	for {
		start := i
		i = jsonscan.Skip(w.data, i)
		name := w.data[start+1 : i-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			name = jsonscan.Unquote(w.data[start:i])
		}
		next, ok := node.children[string(name)]
		if !ok {
			next = node.any
		}
		if i++; next == 0 || !w.holds(i, next) {
			i = jsonscan.Skip(w.data, i)
		} else {
			if !first {
				w.out = append(w.out, ',')
			}
			first = false
			w.out = append(w.out, w.data[start:i]...) // the name and the colon
			i = w.value(i, next, 0)
		}
		if i++; w.data[i-1] == '}' {
			w.out = append(w.out, '}')
			return i
		}
	}
}

// slice notes what was selected of an array of a node. Of arrays in arrays, and of more than one array of a node, nothing is told: there would
// be a note for each.
func (w *selecting) slice(n, level int, of slice, total int) {
	first, end := of.of(total)
	w.ended[n] = w.ended[n] || first == end // nothing can be said of the paths behind it
	if level > 0 {
		return
	}
	if at, known := w.slicedAt[n]; known {
		w.sliced[at].Path = severalPlaces
		return
	}
	if w.slicedAt == nil {
		w.slicedAt = map[int]int{}
	}
	node := &w.l.nodes[n]
	w.slicedAt[n] = len(w.sliced)
	w.sliced = append(w.sliced, Sliced{Path: strings.Join(w.l.paths[node.open[0]].path[:node.depth], "."), First: first, End: end, Total: total})
}

// holds reports whether the value at i can have what a node selects: a string, a number and a boolean have no members.
func (w *selecting) holds(i, n int) bool {
	if w.l.nodes[n].whole {
		return true
	}
	switch w.data[i] {
	case '{', '[', 'n':
		return true
	}
	return false
}

// missed returns the paths for which nothing was found.
func (w *selecting) missed() (all []Missed) {
	found := make([]bool, len(w.l.paths))
	for n := range w.l.nodes {
		node := &w.l.nodes[n]
		if w.seen[n] {
			for _, i := range node.ends {
				found[i] = true
			}
		}
		// Nothing can be said of the paths behind null or an empty array if that is all there is.
		if w.ended[n] && !w.met[n] || w.seen[n] && node.whole {
			for _, i := range node.open {
				found[i] = true
			}
		}
	}
	for i := range w.l.paths {
		if found[i] {
			continue
		}
		if all = append(all, Missed{Path: w.l.paths[i].text, Known: w.known(&w.l.paths[i])}); len(all) == maxMissed {
			break
		}
	}
	return all
}

// known returns the names of members where a path leaves the answer, of the first element of each array on the way.
func (w *selecting) known(p *fieldPath) (names []string) {
	value := w.data
	for depth := 0; ; depth++ {
		for jsonscan.KindOf(value) == jsonscan.Array {
			value = firstElement(value)
		}
		if jsonscan.KindOf(value) != jsonscan.Object || depth == len(p.path) {
			return nil
		}
		var next []byte
		names = names[:0]
		for name, member := range jsonscan.Members(value) {
			if p.wild[depth] || string(name) == p.path[depth] {
				next = member
				break
			}
			if len(names) < maxKnown {
				names = append(names, text.Truncate(string(bytes.ToValidUTF8(name, []byte("\uFFFD"))), 40))
			}
		}
		if next == nil {
			return slices.Clip(names)
		}
		value = next
	}
}

func firstElement(array []byte) []byte {
	for e := range jsonscan.Elements(array) {
		return e
	}
	return nil
}

package jsonpath

import "drawbridge/openapi/tree"

// Query is a JSONPath query. It is immutable.
type Query struct {
	text     string
	root     bool // it begins at the root of the document, not at the current node
	segments []segment
}

// String returns the query as written.
func (q *Query) String() string { return q.text }

// segment is a child segment, or a descendant segment, which is applied to a node and to all of its descendants.
type segment struct {
	descendant bool
	selectors  []selector
}

type selectorKind uint8

const (
	byName selectorKind = iota
	byIndex
	bySlice
	byWildcard
	byFilter
)

// selector selects children of a node. Only the field of its kind is set.
type selector struct {
	kind   selectorKind
	name   string
	index  int
	slice  slice
	filter expression
}

// slice is [start:end:step]; a nil bound is the end of the array in the direction of step.
type slice struct {
	start, end *int
	step       int
}

// isSingular reports whether the query selects at most one node, by its form (RFC 9535 section 2.3.5.1).
func (q *Query) isSingular() bool {
	for i := range q.segments {
		s := &q.segments[i]
		if s.descendant || len(s.selectors) != 1 || s.selectors[0].kind > byIndex {
			return false
		}
	}
	return true
}

// bounds returns the first index of the slice in an array of a length, and the index before which it ends, in the
// direction of its step (RFC 9535 section 2.3.4.2.2).
func (s *slice) bounds(length int) (from, to int) {
	normal := func(i *int, absent int) int {
		switch {
		case i == nil:
			return absent
		case *i < 0:
			return *i + length
		default:
			return *i
		}
	}
	if s.step < 0 {
		return max(min(normal(s.start, length-1), length-1), -1), max(min(normal(s.end, -1), length-1), -1)
	}
	return min(max(normal(s.start, 0), 0), length), min(max(normal(s.end, length), 0), length)
}

// at returns the child of a node that a name or an index selects; nil if there is none.
func (s *selector) at(n *tree.Node) *tree.Node {
	if s.kind == byName {
		return n.Get(s.name)
	}
	if n.Kind() != tree.Array {
		return nil
	}
	if s.index < 0 {
		return n.At(s.index + n.Len())
	}
	return n.At(s.index)
}

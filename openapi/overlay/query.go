package overlay

import (
	"errors"
	"strings"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"

	"drawbridge/openapi/tree"
)

// query is a JSONPath query (RFC 9535). The library parses it and evaluates its filters; segments and the other selectors
// are evaluated here, on the tree, so that the nodes themselves are selected, in the order of the document, within bounds.
type query struct {
	text     string
	segments []*spec.Segment
}

// parseQuery parses a query.
func parseQuery(text string) (*query, error) {
	path, err := jsonpath.Parse(text)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "jsonpath: "))
	}
	return &query{text: text, segments: path.Query().Segments()}, nil
}

// selectFrom returns the nodes that the query selects, each once, in the order of the first selection.
func (q *query) selectFrom(root *tree.Node, w *work) ([]*tree.Node, error) {
	s := selection{work: w, values: newValues(root, w)}
	nodes := []*tree.Node{root}
	for _, segment := range q.segments {
		s.seen, s.selected = make(map[*tree.Node]struct{}), nil
		for _, n := range nodes {
			if err := s.segment(segment, n); err != nil {
				return nil, err
			}
		}
		nodes = s.selected
	}
	if len(nodes) > maxMatches {
		return nil, errTooManyMatches
	}
	return nodes, nil
}

// selection collects what one segment selects.
type selection struct {
	work     *work
	values   *values
	seen     map[*tree.Node]struct{}
	selected []*tree.Node
}

// segment applies a segment to a node, and to its descendants if it is a descendant segment.
func (s *selection) segment(segment *spec.Segment, n *tree.Node) error {
	if err := s.work.take(1); err != nil {
		return err
	}
	for _, selector := range segment.Selectors() {
		if err := s.selector(selector, n); err != nil {
			return err
		}
	}
	if !segment.IsDescendant() {
		return nil
	}
	for i := range n.Len() {
		if err := s.segment(segment, n.At(i)); err != nil {
			return err
		}
	}
	return nil
}

func (s *selection) selector(selector spec.Selector, n *tree.Node) error {
	switch selector := selector.(type) {
	case spec.Name:
		return s.add(n.Get(string(selector)))
	case spec.WildcardSelector:
		for i := range n.Len() {
			if err := s.add(n.At(i)); err != nil {
				return err
			}
		}
	case spec.Index:
		if n.Kind() != tree.Array {
			return nil
		}
		i := int(selector)
		if i < 0 {
			i += n.Len()
		}
		return s.add(n.At(i))
	case spec.SliceSelector:
		return s.slice(selector, n)
	case *spec.FilterSelector:
		return s.filter(selector, n)
	}
	return nil
}

// slice selects a part of an array.
func (s *selection) slice(slice spec.SliceSelector, n *tree.Node) error {
	if n.Kind() != tree.Array {
		return nil
	}
	lower, upper := slice.Bounds(n.Len())
	from, more := lower, func(i int) bool { return i < upper }
	if slice.Step() < 0 {
		from, more = upper, func(i int) bool { return i > lower }
	}
	for i := from; slice.Step() != 0 && i >= 0 && i < n.Len() && more(i); i += slice.Step() {
		if err := s.add(n.At(i)); err != nil {
			return err
		}
	}
	return nil
}

// filter selects the children for which an expression holds.
func (s *selection) filter(filter *spec.FilterSelector, n *tree.Node) error {
	if n.Len() == 0 {
		return nil
	}
	cost := costOf(filter)
	root, err := s.values.root(cost.absolute)
	if err != nil {
		return err
	}
	for i := range n.Len() {
		child := n.At(i)
		value, err := s.values.of(child)
		if err != nil {
			return err
		}
		if err := s.work.take(cost.of(s.values, child)); err != nil {
			return err
		}
		if filter.Eval(value, root) {
			if err := s.add(child); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds a node to what is selected; nil is no node.
func (s *selection) add(n *tree.Node) error {
	if n == nil {
		return nil
	}
	if _, known := s.seen[n]; known {
		return s.work.take(1)
	}
	s.seen[n] = struct{}{}
	s.selected = append(s.selected, n)
	return s.work.take(1)
}

package jsonpath

import "drawbridge/openapi/tree"

// Select returns the nodes that the query selects in a document, each once, in the order of the first selection.
func (q *Query) Select(root *tree.Node, w Work) ([]*tree.Node, error) {
	s := selection{evaluation: &evaluation{root: root, work: w}}
	nodes := []*tree.Node{root}
	for i := range q.segments {
		s.seen, s.selected = make(map[*tree.Node]struct{}), nil
		for _, n := range nodes {
			if err := s.segment(&q.segments[i], n); err != nil {
				return nil, err
			}
		}
		nodes = s.selected
	}
	return nodes, nil
}

// selection collects the nodes that one segment selects.
type selection struct {
	*evaluation
	seen     map[*tree.Node]struct{}
	selected []*tree.Node
}

// segment applies a segment to a node, and to its descendants if it is a descendant segment.
func (s *selection) segment(segment *segment, n *tree.Node) error {
	if err := s.work.Take(1); err != nil {
		return err
	}
	for i := range segment.selectors {
		if err := s.each(&segment.selectors[i], n, s.add); err != nil {
			return err
		}
	}
	if !segment.descendant {
		return nil
	}
	for i := range n.Len() {
		if err := s.segment(segment, n.At(i)); err != nil {
			return err
		}
	}
	return nil
}

// add adds a node to the selection.
func (s *selection) add(n *tree.Node) error {
	if err := s.work.Take(selectSteps); err != nil {
		return err
	}
	if _, known := s.seen[n]; known {
		return nil
	}
	if len(s.selected) == maxSelected {
		return errTooManySelected
	}
	s.seen[n] = struct{}{}
	s.selected = append(s.selected, n)
	return nil
}

// evaluation is the evaluation of one query on one document.
type evaluation struct {
	root     *tree.Node
	work     Work
	patterns map[string]*pattern
}

// each calls found for each child of a node that a selector selects, until that returns an error.
func (e *evaluation) each(s *selector, n *tree.Node, found func(*tree.Node) error) error {
	if err := e.work.Take(1); err != nil {
		return err
	}
	switch s.kind {
	case byName, byIndex:
		if child := s.at(n); child != nil {
			return found(child)
		}
	case byWildcard:
		for i := range n.Len() {
			if err := found(n.At(i)); err != nil {
				return err
			}
		}
	case bySlice:
		return e.sliced(&s.slice, n, found)
	case byFilter:
		for i := range n.Len() {
			child := n.At(i)
			holds, err := s.filter.holds(e, child)
			if err == nil && holds {
				err = found(child)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// sliced calls found for each element of a slice.
func (e *evaluation) sliced(s *slice, n *tree.Node, found func(*tree.Node) error) error {
	if n.Kind() != tree.Array || s.step == 0 {
		return nil
	}
	from, to := s.bounds(n.Len())
	for i := from; s.step > 0 && i < to || s.step < 0 && i > to; i += s.step {
		if err := found(n.At(i)); err != nil {
			return err
		}
	}
	return nil
}

// walk calls found for each node that segments select from a node, a node as often as it is selected, in no particular order.
func (e *evaluation) walk(segments []segment, n *tree.Node, found func(*tree.Node) error) error {
	if len(segments) == 0 {
		return found(n)
	}
	if err := e.work.Take(1); err != nil {
		return err
	}
	next := func(child *tree.Node) error { return e.walk(segments[1:], child, found) }
	for i := range segments[0].selectors {
		if err := e.each(&segments[0].selectors[i], n, next); err != nil {
			return err
		}
	}
	if !segments[0].descendant {
		return nil
	}
	for i := range n.Len() {
		if err := e.walk(segments, n.At(i), found); err != nil {
			return err
		}
	}
	return nil
}

// query calls found for each node that a query in a filter selects.
func (e *evaluation) query(q *Query, current *tree.Node, found func(*tree.Node) error) error {
	if q.root {
		current = e.root
	}
	return e.walk(q.segments, current, found)
}

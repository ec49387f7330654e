package jsonpath

import (
	"strconv"

	"drawbridge/openapi/tree"
)

// operand is a side of a comparison, or an argument of a function: a *literal, a *Query or a *call.
type operand interface {
	// value returns the value of the operand for the current node.
	value(e *evaluation, current *tree.Node) (value, error)
}

// value is a JSON value, or nothing, whose kind is tree.Invalid. A function that returns a logical result returns a
// Bool.
type value struct {
	kind   tree.Kind
	text   string
	number float64
	truth  bool
	node   *tree.Node // of an array or object
}

// literal is a literal; null if no field is set.
type literal struct {
	text   *string
	number *float64
	truth  *bool
}

func (l *literal) value(e *evaluation, _ *tree.Node) (value, error) {
	switch {
	case l.text != nil:
		return value{kind: tree.String, text: *l.text}, e.work.Take(1)
	case l.number != nil:
		return value{kind: tree.Number, number: *l.number}, e.work.Take(1)
	case l.truth != nil:
		return value{kind: tree.Bool, truth: *l.truth}, e.work.Take(1)
	}
	return value{kind: tree.Null}, e.work.Take(1)
}

// value returns the one value that a singular query selects.
func (q *Query) value(e *evaluation, current *tree.Node) (value, error) {
	if q.root {
		current = e.root
	}
	for i := range q.segments {
		if err := e.work.Take(1); err != nil || current == nil {
			return value{}, err
		}
		current = q.segments[i].selectors[0].at(current)
	}
	return e.of(current)
}

// of returns the value of a node. RFC 9535 compares numbers as I-JSON has them, by their values as float64.
func (e *evaluation) of(n *tree.Node) (value, error) {
	v := value{kind: n.Kind(), text: n.Text(), node: n}
	steps := 1
	switch v.kind { //nolint:exhaustive // the others have no value of their own
	case tree.Number:
		steps += len(v.text) / digitsPerStep
		v.number, _ = strconv.ParseFloat(v.text, 64) // out of range is infinite
	case tree.Bool:
		v.truth = n.Bool()
	}
	return v, e.work.Take(steps)
}

// equal compares two values.
func (e *evaluation) equal(a, b value) (bool, error) {
	if err := e.work.Take(1); err != nil || a.kind != b.kind {
		return false, err
	}
	switch a.kind { //nolint:exhaustive // null has one value
	case tree.String:
		return a.text == b.text, e.work.Take(min(len(a.text), len(b.text)) / textPerStep)
	case tree.Number:
		return a.number == b.number, nil
	case tree.Bool:
		return a.truth == b.truth, nil
	case tree.Array, tree.Object:
		return e.equalNodes(a.node, b.node)
	}
	return true, nil // null is null, and nothing is nothing
}

// equalNodes compares two arrays or two objects.
func (e *evaluation) equalNodes(a, b *tree.Node) (bool, error) {
	if a == b || a.Len() != b.Len() {
		return a == b, nil
	}
	for i := range a.Len() {
		x, y := a.At(i), b.At(i)
		if a.Kind() == tree.Object {
			y = b.Get(x.Key())
		}
		left, err := e.of(x)
		if err != nil {
			return false, err
		}
		right, err := e.of(y)
		if err != nil {
			return false, err
		}
		if equal, err := e.equal(left, right); !equal || err != nil {
			return false, err
		}
	}
	return true, nil
}

// less reports whether a number is less than another, or a text is before another by its characters.
func (e *evaluation) less(a, b value) (bool, error) {
	if err := e.work.Take(1 + min(len(a.text), len(b.text))/textPerStep); err != nil || a.kind != b.kind {
		return false, err
	}
	switch a.kind { //nolint:exhaustive // the others have no order
	case tree.String:
		return a.text < b.text, nil
	case tree.Number:
		return a.number < b.number, nil
	}
	return false, nil
}

package jsonpath

import (
	"errors"

	"drawbridge/openapi/tree"
)

// expression is a logical expression of a filter.
type expression interface {
	// holds evaluates the expression on the current node.
	holds(e *evaluation, current *tree.Node) (bool, error)
}

type (
	or  []expression
	and []expression
	not struct{ inner expression }

	// exists is the test whether a query selects anything.
	exists struct{ query *Query }
	// truth is the result of a logical function.
	truth struct{ call *call }
	// comparison compares two values.
	comparison struct {
		left, right operand
		op          string
	}
)

func (o or) holds(e *evaluation, current *tree.Node) (bool, error) {
	for _, inner := range o {
		if holds, err := inner.holds(e, current); holds || err != nil {
			return holds, err
		}
	}
	return false, nil
}

func (a and) holds(e *evaluation, current *tree.Node) (bool, error) {
	for _, inner := range a {
		if holds, err := inner.holds(e, current); !holds || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (n not) holds(e *evaluation, current *tree.Node) (bool, error) {
	holds, err := n.inner.holds(e, current)
	return !holds, err
}

// errFound ends a walk that has found enough.
var errFound = errors.New("found")

func (x exists) holds(e *evaluation, current *tree.Node) (bool, error) {
	err := e.query(x.query, current, func(*tree.Node) error { return errFound })
	if errors.Is(err, errFound) {
		return true, nil
	}
	return false, err
}

func (t truth) holds(e *evaluation, current *tree.Node) (bool, error) {
	v, err := t.call.value(e, current)
	return v.truth, err
}

func (c comparison) holds(e *evaluation, current *tree.Node) (bool, error) {
	left, err := c.left.value(e, current)
	if err != nil {
		return false, err
	}
	right, err := c.right.value(e, current)
	if err != nil {
		return false, err
	}
	switch c.op {
	case "==":
		return e.equal(left, right)
	case "!=":
		equal, err := e.equal(left, right)
		return !equal, err
	case "<":
		return e.less(left, right)
	case ">":
		return e.less(right, left)
	case "<=":
		less, err := e.less(left, right)
		if less || err != nil {
			return less, err
		}
		return e.equal(left, right)
	default:
		less, err := e.less(right, left)
		if less || err != nil {
			return less, err
		}
		return e.equal(left, right)
	}
}

package jsonpath

import (
	"errors"
	"unicode/utf8"

	"drawbridge/openapi/tree"
)

// function is one of the functions of RFC 9535 section 2.4.
type function struct {
	args    int
	takes   string // the arguments, in words
	nodes   bool   // it takes a query with all the nodes that it selects; otherwise values
	logical bool   // it returns true or false, which is not a value; the second argument is a regular expression
	whole   bool   // the regular expression must match the whole text
	of      func(e *evaluation, c *call, current *tree.Node) (value, error)
}

const (
	takesValue   = "a value: a literal, a query that leads to one value, or a function that returns one"
	takesQuery   = "a query"
	takesPattern = "two values, a text and a regular expression"
)

// functionNamed returns a function; nil if there is none with that name.
func functionNamed(name string) *function {
	switch name {
	case "length":
		return &function{args: 1, takes: takesValue, of: lengthOf}
	case "count":
		return &function{args: 1, takes: takesQuery, nodes: true, of: countOf}
	case "value":
		return &function{args: 1, takes: takesQuery, nodes: true, of: valueOf}
	case "match":
		return &function{args: 2, takes: takesPattern, logical: true, whole: true, of: matches}
	case "search":
		return &function{args: 2, takes: takesPattern, logical: true, of: matches}
	}
	return nil
}

// call is a call of a function with arguments of the right number and types.
type call struct {
	function *function
	args     []operand
}

func (c *call) value(e *evaluation, current *tree.Node) (value, error) {
	return c.function.of(e, c, current)
}

// lengthOf returns the number of characters, elements or members.
func lengthOf(e *evaluation, c *call, current *tree.Node) (value, error) {
	v, err := c.args[0].value(e, current)
	if err != nil {
		return value{}, err
	}
	switch v.kind { //nolint:exhaustive // other values have no length
	case tree.String:
		return value{kind: tree.Number, number: float64(utf8.RuneCountInString(v.text))}, e.work.Take(len(v.text) / textPerStep)
	case tree.Array, tree.Object:
		return value{kind: tree.Number, number: float64(v.node.Len())}, nil
	}
	return value{}, nil
}

// countOf returns the number of nodes that a query selects.
func countOf(e *evaluation, c *call, current *tree.Node) (value, error) {
	n := 0
	err := e.query(c.args[0].(*Query), current, func(*tree.Node) error { n++; return e.work.Take(1) }) //nolint:errcheck // the parser takes nothing else
	return value{kind: tree.Number, number: float64(n)}, err
}

// valueOf returns the value of the only node that a query selects; nothing if there are none or several.
func valueOf(e *evaluation, c *call, current *tree.Node) (value, error) {
	var only *tree.Node
	err := e.query(c.args[0].(*Query), current, func(n *tree.Node) error { //nolint:errcheck // the parser takes nothing else
		if only != nil {
			return errFound
		}
		only = n
		return nil
	})
	if errors.Is(err, errFound) {
		return value{}, nil
	}
	if err != nil {
		return value{}, err
	}
	return e.of(only)
}

// matches applies a regular expression to a text. A value of another type doesn't match, nor does an invalid regular expression.
func matches(e *evaluation, c *call, current *tree.Node) (value, error) {
	text, err := c.args[0].value(e, current)
	if err != nil {
		return value{}, err
	}
	expr, err := c.args[1].value(e, current)
	if err != nil || text.kind != tree.String || expr.kind != tree.String {
		return value{kind: tree.Bool}, err
	}
	p, err := e.pattern(expr.text, c.function.whole)
	if err != nil || p.re == nil {
		return value{kind: tree.Bool}, err
	}
	if err := e.work.Take(p.cost(text.text)); err != nil {
		return value{}, err
	}
	return value{kind: tree.Bool, truth: p.re.MatchString(text.text)}, nil
}

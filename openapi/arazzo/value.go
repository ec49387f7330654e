package arazzo

import (
	"encoding/json"
	"fmt"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/tree"
)

// Value is a constant, an expression, a text with expressions, a selector, or an object or array of them. It is immutable. The zero Value has
// no value.
type Value struct {
	constant   json.RawMessage
	expression *Expression
	template   *Template
	selector   *Selector
	kind       tree.Kind // Object or Array for members
	members    []member
}

type member struct {
	name  string
	value Value
}

// Evaluate returns the value as JSON. The error says which expression has no value.
func (v *Value) Evaluate(s Scope) (json.RawMessage, error) {
	switch {
	case v.expression != nil:
		value, ok := v.expression.Evaluate(s)
		if !ok {
			return nil, fmt.Errorf("%s has no value", v.expression)
		}
		return value, nil
	case v.template != nil:
		text, err := v.template.Text(s)
		return jsonscan.AppendString(nil, text), err
	case v.selector != nil:
		return v.selector.Select(s)
	case v.kind == tree.Invalid:
		return v.constant, nil
	}
	open, end := byte('{'), byte('}')
	if v.kind == tree.Array {
		open, end = '[', ']'
	}
	all := []byte{open}
	for i := range v.members {
		if i > 0 {
			all = append(all, ',')
		}
		if v.kind == tree.Object {
			all = append(jsonscan.AppendString(all, v.members[i].name), ':')
		}
		one, err := v.members[i].value.Evaluate(s)
		if err != nil {
			return nil, err
		}
		all = append(all, one...)
	}
	return append(all, end), nil
}

// value reads a value. Texts that begin with $ are expressions, and may have others in braces.
func (r *reader) value(n *tree.Node, use use) (v Value) {
	switch n.Kind() { //nolint:exhaustive // the others are constants
	case tree.String:
		text := n.Text()
		if strings.HasPrefix(text, "$") {
			e, err := ParseExpression(text)
			r.failed(n, err)
			if err == nil {
				r.refers(n, e, use)
			}
			return Value{expression: &e}
		}
		if strings.Contains(text, "{$") {
			t, err := ParseTemplate(text)
			r.failed(n, err)
			if err == nil {
				r.refersAll(n, t.expressions, use)
			}
			return Value{template: t}
		}
	case tree.Object, tree.Array:
		if isSelector(n) {
			return Value{selector: r.selector(n, use)}
		}
		v.kind = n.Kind()
		for i := range n.Len() {
			child := n.At(i)
			v.members = append(v.members, member{child.Key(), r.value(child, use)})
		}
		return v
	}
	return Value{constant: n.AppendJSON(nil)}
}

// isSelector reports whether a value is a Selector Object: an object with exactly its fields.
func isSelector(n *tree.Node) bool {
	return n.Len() == 3 && n.Get("context").Kind() == tree.String && n.Get("selector").Kind() == tree.String && n.Get("type") != nil
}

func (r *reader) selector(n *tree.Node, use use) *Selector {
	kind, version := r.queryType(n)
	s, err := ParseSelector(n.Get("context").Text(), n.Get("selector").Text(), kind, version)
	r.failed(n, err)
	if strings.HasPrefix(r.description.Version, "1.0.") {
		r.wrong(n, "is a Selector Object, which needs arazzo: 1.1.0")
	}
	if s != nil {
		r.refers(n, s.context, use)
	}
	return s
}

// queryType reads a type, which is text or an Expression Type Object.
func (r *reader) queryType(of *tree.Node) (kind QueryType, version string) {
	n := of.Get("type")
	if n.Kind() == tree.Object {
		r.isObject(n, "type", "version")
		return QueryType(r.text(n, "type", true)), r.text(n, "version", true)
	}
	return QueryType(r.text(of, "type", false)), ""
}

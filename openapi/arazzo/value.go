package arazzo

import (
	"encoding/json"
	"fmt"
	"iter"
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

// Evaluate returns the value as JSON; nil if it is an expression without a value. Members of objects that have none are left out, so that
// optional inputs stay optional. The error says which of the other expressions has no value.
func (v *Value) Evaluate(s Scope) (json.RawMessage, error) {
	switch {
	case v.expression != nil:
		value, _ := v.expression.Evaluate(s)
		return value, nil
	case v.template != nil:
		text, err := v.template.Text(s)
		if err != nil {
			return nil, err
		}
		return jsonscan.AppendString(nil, text), nil
	case v.selector != nil:
		return v.selector.Select(s)
	case v.kind == tree.Invalid:
		return v.constant, nil
	}
	return v.composite(s)
}

// composite returns an object or array.
func (v *Value) composite(s Scope) (json.RawMessage, error) {
	open, end := byte('{'), byte('}')
	if v.kind == tree.Array {
		open, end = '[', ']'
	}
	all := []byte{open}
	for i := range v.members {
		one, err := v.members[i].value.Evaluate(s)
		switch {
		case err != nil:
			return nil, err
		case one == nil && v.kind == tree.Object:
			continue
		case one == nil:
			return nil, fmt.Errorf("%s has no value", v.members[i].value.expression)
		}
		if len(all) > 1 {
			all = append(all, ',')
		}
		if v.kind == tree.Object {
			all = append(jsonscan.AppendString(all, v.members[i].name), ':')
		}
		if all = append(all, one...); len(all) > maxComposed {
			return nil, fmt.Errorf("the value has more than %d MiB", maxComposed>>20)
		}
	}
	return append(all, end), nil
}

// JSONText returns the value of a text that is JSON itself, in which values of expressions are escaped; false if it is none.
func (v *Value) JSONText(s Scope) (value json.RawMessage, ok bool, err error) {
	text := ""
	switch {
	case v.template != nil:
		if text, err = v.template.JSON(s); err != nil {
			return nil, false, err
		}
	case v.kind == tree.Invalid && jsonscan.KindOf(v.constant) == jsonscan.String:
		text = string(jsonscan.Unquote(v.constant))
	default:
		return nil, false, nil
	}
	if _, err := jsonscan.Scan([]byte(text), jsonscan.Options{Unique: true}); err != nil {
		return nil, false, nil
	}
	return json.RawMessage(strings.TrimSpace(text)), true, nil
}

// Expression returns the expression that the value is; nil if it is another value.
func (v *Value) Expression() *Expression { return v.expression }

// Constant returns the JSON of a value without expressions; nil if it has some, or is an object or array.
func (v *Value) Constant() json.RawMessage { return v.constant }

// IsZero reports whether there is no value.
func (v *Value) IsZero() bool {
	return v.constant == nil && v.expression == nil && v.template == nil && v.selector == nil && v.kind == tree.Invalid
}

// IsText reports whether the value is a text with expressions in it.
func (v *Value) IsText() bool { return v.template != nil }

// Kind returns [tree.Object] or [tree.Array] for a value with members, else [tree.Invalid].
func (v *Value) Kind() tree.Kind { return v.kind }

// Members yields the members of an object, or the elements of an array, whose names are "".
func (v *Value) Members() iter.Seq2[string, *Value] {
	return func(yield func(string, *Value) bool) {
		for i := range v.members {
			if !yield(v.members[i].name, &v.members[i].value) {
				return
			}
		}
	}
}

// Expressions returns all expressions in the value.
func (v *Value) Expressions() (all []Expression) {
	switch {
	case v.expression != nil:
		return []Expression{*v.expression}
	case v.template != nil:
		return v.template.expressions
	case v.selector != nil:
		return []Expression{v.selector.context}
	}
	for i := range v.members {
		all = append(all, v.members[i].value.Expressions()...)
	}
	return all
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

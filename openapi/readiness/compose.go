package readiness

import (
	"encoding/json"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/tree"
)

// shownExample is the size of the largest example that a tool shows, in bytes.
const shownExample = 300

// exampleOf returns the example that a document has of a body, or nil.
func (d *document) exampleOf(b *body) *tree.Node {
	for _, n := range []*tree.Node{b.media, d.follow(b.schema)} {
		for _, name := range []string{"example", "examples"} {
			if value := n.Get(name); value != nil {
				return value
			}
		}
	}
	return nil
}

// composer composes an example of a value from the examples, defaults and enumerations of its parts. It invents
// nothing: without one of these for each required part there is no example.
type composer struct {
	w    *walk
	left int // bytes for optional members
}

// compose returns an example of a schema as compact JSON, with optional members that the document exemplifies as long
// as it stays short; false if the document doesn't say enough, or if it would be too long to be shown.
func (d *document) compose(schema *tree.Node) (json.RawMessage, bool) {
	c := composer{d.walk(), shownExample / 2}
	value, ok := c.value(schema, 0)
	return value, ok && len(value) <= shownExample && len(value) > len("{}")
}

func (c *composer) value(s *tree.Node, depth int) ([]byte, bool) {
	if depth > maxDepth || c.w.left < 0 {
		return nil, false
	}
	if value, ok := c.documented(s); ok {
		return value, true
	}
	switch c.w.kind(s) {
	case "object":
		return c.object(s, depth)
	case "array":
		item, ok := c.value(c.w.keyword(s, "items"), depth+1)
		if !ok {
			return nil, false
		}
		return append(append([]byte{'['}, item...), ']'), true
	}
	return nil, false
}

// documented returns the example of a schema, or else its default or first value.
func (c *composer) documented(s *tree.Node) ([]byte, bool) {
	for _, name := range []string{"example", "examples", "const", "default", "enum"} {
		value := c.w.keyword(s, name)
		if name == "examples" || name == "enum" {
			if value.Kind() != tree.Array {
				continue
			}
			value = value.At(0)
		}
		if value != nil && value.Kind() != tree.Null {
			if text := value.AppendJSON(nil); len(text) <= shownExample {
				return text, true
			}
		}
	}
	return nil, false
}

func (c *composer) object(s *tree.Node, depth int) ([]byte, bool) {
	out := []byte{'{'}
	add := func(name string, value []byte) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(jsonscan.AppendString(out, name), ':'), value...)
	}
	members := c.w.members(s)
	for _, m := range members {
		if c.w.keyword(m.schema, "readOnly").Bool() {
			continue
		}
		if m.required {
			value, ok := c.value(m.schema, depth+1)
			if !ok {
				return nil, false
			}
			add(m.name, value)
			continue
		}
		left := c.left
		value, ok := c.value(m.schema, depth+1)
		if c.left = left; ok && len(value)+len(m.name)+4 <= c.left {
			c.left -= len(value) + len(m.name) + 4
			add(m.name, value)
		}
	}
	return append(out, '}'), len(members) > 0 && len(out) > 1
}

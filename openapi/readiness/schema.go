package readiness

import (
	"slices"

	"drawbridge/openapi/tree"
)

// Limits of a walk over one schema, since documents are untrusted.
const (
	maxSchemas = 20_000 // schemas that are visited
	maxDepth   = 8      // of nested values
)

// walk is a walk over the schema of one value, within limits.
type walk struct {
	d    *document
	left int // schemas that may still be visited
}

func (d *document) walk() *walk { return &walk{d, maxSchemas} }

// member is a declared property.
type member struct {
	name     string
	schema   *tree.Node // references not followed
	required bool
}

// parts yields the schemas that always apply to a value: s with its references followed, and the members of allOf.
func (w *walk) parts(s *tree.Node) (all []*tree.Node) {
	var add func(s *tree.Node, depth int)
	add = func(s *tree.Node, depth int) {
		if w.left--; w.left < 0 || depth > maxDepth {
			return
		}
		target := w.d.follow(s)
		if target.Kind() != tree.Object || slices.Contains(all, target) {
			return
		}
		all = append(all, target)
		for _, part := range target.Get("allOf").Items() {
			add(part, depth+1)
		}
	}
	add(s, 0)
	return all
}

// members returns the properties that a schema and its allOf declare.
func (w *walk) members(s *tree.Node) (all []member) {
	parts := w.parts(s)
	required := map[string]bool{}
	for _, part := range parts {
		for _, name := range part.Get("required").Items() {
			required[name.Text()] = true
		}
	}
	known := map[string]bool{}
	for _, part := range parts {
		for name, schema := range part.Get("properties").Members() {
			if !known[name] {
				known[name] = true
				all = append(all, member{name, schema, required[name]})
			}
		}
	}
	return all
}

// keyword returns the first value of a keyword of a schema and its allOf, or nil.
func (w *walk) keyword(s *tree.Node, name string) *tree.Node {
	for _, part := range w.parts(s) {
		if value := part.Get(name); value != nil {
			return value
		}
	}
	return nil
}

// kind returns the type of a schema, without null: "object", "array" or another; "" if it has none or several.
func (w *walk) kind(s *tree.Node) string {
	kind := w.keyword(s, "type")
	if kind.Kind() == tree.Array {
		found := ""
		for _, item := range kind.Items() {
			if text := item.Text(); text != "null" {
				if found != "" {
					return ""
				}
				found = text
			}
		}
		return found
	}
	switch {
	case kind != nil:
		return kind.Text()
	case w.keyword(s, "properties") != nil:
		return "object"
	case w.keyword(s, "items") != nil:
		return "array"
	}
	return ""
}

// isUntyped reports whether a schema does not describe its values.
func (w *walk) isUntyped(s *tree.Node) bool {
	if s == nil {
		return true
	}
	for _, keyword := range []string{"type", "properties", "items", "enum", "const", "anyOf", "oneOf", "format", "additionalProperties"} {
		if w.keyword(s, keyword) != nil {
			return false
		}
	}
	return true
}

// isDeep reports whether a schema has objects in objects.
func (w *walk) isDeep(s *tree.Node) bool {
	for w.kind(s) == "array" {
		if w.left < 0 {
			return false
		}
		s = w.keyword(s, "items")
	}
	for _, m := range w.members(s) {
		schema := m.schema
		if w.kind(schema) == "array" {
			schema = w.keyword(schema, "items")
		}
		if len(w.members(schema)) > 0 || w.keyword(schema, "oneOf").Len() > 1 || w.keyword(schema, "anyOf").Len() > 1 {
			return true
		}
	}
	return false
}

// listed returns the schema of the items if a schema is that of a list: an array, or an object with one array of
// objects, or nil.
func (w *walk) listed(s *tree.Node) *tree.Node {
	if w.kind(s) == "array" {
		return w.keyword(s, "items")
	}
	var items *tree.Node
	for _, m := range w.members(s) {
		if w.kind(m.schema) != "array" {
			continue
		}
		if item := w.keyword(m.schema, "items"); len(w.members(item)) > 0 {
			if items != nil {
				return nil
			}
			items = item
		}
	}
	return items
}

// typeOf returns the type and format of a schema as a key for comparing.
func (w *walk) typeOf(s *tree.Node) string {
	return w.kind(s) + "/" + w.keyword(s, "format").Text()
}

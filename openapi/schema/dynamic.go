package schema

import (
	"fmt"
	"strings"

	"drawbridge/openapi/tree"
)

// A scope is the dynamic scope of a schema (JSON Schema 2020-12, core, sections 7.1 and 8.2.3.2): the schemas to which the names of
// $dynamicAnchor are bound while it is applied. With it documents describe generic types: a list of anything has "$dynamicRef: #item",
// and each kind of list refers to it and has a definition with "$dynamicAnchor: item". Scopes with equal bindings are the same scope. It
// is immutable.
//
// A scope grows along the references from the schema of a tool: a referenced schema adds the anchors that it has itself or among its
// $defs, except for names that are bound already, since the outermost binding wins. Anchors in inline schemas that no reference leads to
// are not bound; a $dynamicRef to one is resolved like a $ref, with the nearest anchor.
type scope struct {
	names []string
	nodes []*tree.Node
}

func (s *scope) lookup(name string) *tree.Node {
	if s == nil {
		return nil
	}
	for i, n := range s.names {
		if n == name {
			return s.nodes[i]
		}
	}
	return nil
}

// hasAnchors reports whether a named schema of the document binds anything, which is rare.
func hasAnchors(set *tree.Set, d Dialect) bool {
	if d != OpenAPI31 {
		return false
	}
	for _, n := range set.Root().Get("components").Get("schemas").Members() {
		if n.Get("$dynamicAnchor") != nil {
			return true
		}
		for _, def := range n.Get("$defs").Members() {
			if def.Get("$dynamicAnchor") != nil {
				return true
			}
		}
	}
	return false
}

// enter returns the scope in which the schema that ref leads to is applied.
func (c *Converter) enter(outer *scope, ref *tree.Node) *scope {
	s := outer
	n, err := c.set.Resolve(ref)
	for range maxRefChain {
		if err != nil {
			return nil
		}
		s = c.bind(s, n)
		if !c.pureRef(n) {
			break
		}
		n, err = c.set.Resolve(c.reference(n))
	}
	return c.wanted(s, n)
}

// follow returns what a schema stands for, and the scope in which that is applied.
func (c *Converter) follow(n *tree.Node, s *scope) (*tree.Node, *scope) {
	s = c.bind(s, n)
	if !c.pureRef(n) {
		return n, c.wanted(s, n)
	}
	target, _ := c.target(c.reference(n))
	return target, c.enter(s, c.reference(n))
}

// scopeOf returns the scope of what a tool's root schema refers to, siblings of the references being taken in.
func (c *Converter) scopeOf(n *tree.Node) *scope {
	if !c.dynamic {
		return nil
	}
	var s *scope
	for range maxRefChain {
		s = c.bind(s, n)
		ref := c.reference(n)
		if ref == nil {
			break
		}
		next, err := c.set.Resolve(ref)
		if err != nil {
			break
		}
		n = next
	}
	return c.wanted(s, n)
}

// wanted returns the scope if what it binds makes a difference to a schema.
func (c *Converter) wanted(s *scope, n *tree.Node) *scope {
	if s == nil || !c.reachesDynamic(n) {
		return nil
	}
	return s
}

// bind adds what a schema binds to a scope.
func (c *Converter) bind(outer *scope, n *tree.Node) *scope {
	s := scope{}
	if outer != nil {
		s = scope{append(s.names, outer.names...), append(s.nodes, outer.nodes...)}
	}
	add := func(n *tree.Node) {
		name := n.Get("$dynamicAnchor")
		if name.Kind() == tree.String && s.lookup(name.Text()) == nil {
			s.names, s.nodes = append(s.names, name.Text()), append(s.nodes, n)
		}
	}
	add(n)
	for _, def := range n.Get("$defs").Members() {
		add(def)
	}
	if outer != nil && len(s.names) == len(outer.names) {
		return outer
	}
	if len(s.names) == 0 || len(s.names) > maxAnchors {
		return outer
	}
	var key strings.Builder
	for i, name := range s.names {
		fmt.Fprintf(&key, "%s %p\n", name, s.nodes[i])
	}
	known, _ := c.scopes.LoadOrStore(key.String(), &s)
	found, _ := known.(*scope)
	return found
}

const (
	maxAnchors = 20   // in one scope
	maxReached = 5000 // schemas that are looked at for a $dynamicRef
)

// dynamicTarget returns what a $dynamicRef stands for in a scope, nil when the scope does not say.
func (c *Converter) dynamicTarget(s *scope, ref *tree.Node) *tree.Node {
	if s == nil || ref.Key() != "$dynamicRef" {
		return nil
	}
	_, name, ok := strings.Cut(ref.Text(), "#")
	if !ok {
		return nil
	}
	// A name that is bound here and leads to a plain $anchor there is a plain reference.
	if n, err := c.set.Resolve(ref); err == nil && n.Get("$dynamicAnchor").Text() != name {
		return nil
	}
	return s.lookup(name)
}

// reachesDynamic reports whether a $dynamicRef is met on the way through a schema and all that it refers to.
func (c *Converter) reachesDynamic(n *tree.Node) bool {
	if known, ok := c.reaches.Load(n); ok {
		return known == true
	}
	seen := map[*tree.Node]bool{n: true}
	queue := []*tree.Node{n}
	found := false
	for i := 0; i < len(queue) && !found; i++ {
		add := func(n *tree.Node) {
			if k := n.Kind(); (k == tree.Object || k == tree.Array) && !seen[n] {
				seen[n] = true
				queue = append(queue, n)
			}
		}
		found = len(queue) > maxReached
		for name, v := range queue[i].Members() {
			switch {
			case name == "$dynamicRef" && v.Kind() == tree.String:
				found = true
			case name == "$ref" && v.Kind() == tree.String:
				if target, err := c.set.Resolve(v); err == nil {
					add(target)
				}
			case name != "example" && name != "examples" && name != "default" && name != "enum" && name != "const":
				add(v)
			}
		}
		for _, v := range queue[i].Items() {
			add(v)
		}
	}
	c.reaches.Store(n, found)
	return found
}

package openapi

import (
	"strings"
	"sync"

	"drawbridge/openapi/tree"
)

// derivation knows which schemas are made from which: by "allOf: [{$ref: Base}]", the way in which documents say that
// one is a kind of the other (OAS 3.0.4 "Models with Polymorphism Support").
type derivation struct {
	once     sync.Once
	children map[*tree.Node][]*tree.Node // by the base, in the document's order
}

// maxDerived is the most kinds of one base that are told apart in a body.
const maxDerived = 100

// derived returns the schema of a body that is a base schema with a discriminator as the alternatives that are meant: a
// base names none of the properties of its kinds, so that they could not be given. Any other schema is returned as it
// is.
func (c *compiler) derived(s *tree.Node) *tree.Node {
	base := c.follow(s)
	d := base.Get("discriminator")
	if d == nil || base.Get("oneOf") != nil || base.Get("anyOf") != nil {
		return s
	}
	c.kinds.once.Do(c.derive)
	var kinds []*tree.Node
	seen := map[*tree.Node]bool{base: true}
	add := func(n *tree.Node) bool {
		if n == nil || seen[n] || n.Kind() != tree.Object || len(kinds) == maxDerived {
			return false
		}
		seen[n] = true
		kinds = append(kinds, n)
		return true
	}
	concrete := d.Get("mapping").Len() == 0
	for _, target := range d.Get("mapping").Members() {
		n, err := c.set.Resolve(target) // a reference, or the bare name of a schema
		if err == nil {
			n = c.follow(n)
			concrete = concrete || n == base
			add(n)
		}
	}
	mapped := kinds
	var visit func(n *tree.Node)
	visit = func(n *tree.Node) {
		for _, child := range c.kinds.children[n] {
			if add(child) {
				visit(child)
			}
		}
	}
	visit(base)
	for _, n := range mapped {
		visit(n)
	}
	if len(kinds) == 0 {
		return s
	}
	if concrete {
		kinds = append(kinds, base)
	}
	either := tree.NewArray(base)
	for _, n := range kinds {
		ref := tree.NewObject(n)
		ref.Set("$ref", tree.NewString(n, "#"+fragment(n.Pointer())))
		either.Append(ref)
	}
	union := tree.Copy(base)
	union.Set("anyOf", either)
	return union
}

// fragment escapes what means something else in the fragment of a reference.
func fragment(pointer string) string {
	return strings.NewReplacer("%", "%25", "#", "%23").Replace(pointer)
}

// derive looks through the named schemas of the document.
func (c *compiler) derive() {
	c.kinds.children = make(map[*tree.Node][]*tree.Node)
	root := c.set.Root()
	for _, named := range []*tree.Node{root.Get("components").Get("schemas"), root.Get("definitions")} {
		for _, s := range named.Members() {
			for _, part := range s.Get("allOf").Items() {
				if base := c.follow(part); part.Get("$ref") != nil && base != nil && base != s {
					c.kinds.children[base] = append(c.kinds.children[base], s)
				}
			}
		}
	}
}

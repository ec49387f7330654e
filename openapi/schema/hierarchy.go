package schema

import (
	"strings"

	"drawbridge/openapi/tree"
)

// maxKinds is the most schemas that may extend one base; a base of more stays as it is written.
const maxKinds = 100

// alternativesOfBases finds the alternatives of each base of a hierarchy. A base has a discriminator and no oneOf or
// anyOf; the schemas that extend it name it in their allOf, and it knows nothing of them but what a mapping says (OAS
// 3.0.4 and 3.1.1, discriminator object, "models with polymorphism support"). JSON Schema sees only the base where the
// base is referred to, so that what the others add would be refused. So the base is read as if it said anyOf of the schemas
// that extend it, directly or not, and of itself; where the mapping gives the value of the discriminator for one, the
// alternative says it.
//
// A value that no mapping gives is not asked for: by the standard it is the schema's name, but documents that leave out
// the mapping often have other values. Only the named schemas of the root document are looked at.
func alternativesOfBases(set *tree.Set) map[*tree.Node]*tree.Node {
	named := set.Root().Get("components").Get("schemas")
	if named == nil {
		named = set.Root().Get("definitions")
	}
	var bases []*tree.Node
	for _, n := range named.Members() {
		if discriminatorName(n) != "" && n.Get("oneOf") == nil && n.Get("anyOf") == nil {
			bases = append(bases, n)
		}
	}
	if len(bases) == 0 {
		return nil
	}
	h := hierarchy{set: set, named: named, children: map[*tree.Node][]*tree.Node{}}
	for _, n := range named.Members() {
		for _, part := range n.Get("allOf").Items() {
			h.add(part, n)
		}
		if n.Len() > 1 {
			h.add(n, n)
		}
	}
	found := map[*tree.Node]*tree.Node{}
	for _, base := range bases {
		if list := h.alternatives(base); list != nil {
			found[base] = list
		}
	}
	return found
}

// anyOf returns the alternatives that a schema lists, or that were found for it.
func (c *Converter) anyOf(n *tree.Node) *tree.Node {
	if list := n.Get("anyOf"); list != nil {
		return list
	}
	return c.found[n]
}

// Alternatives returns the array of alternatives that were found for a base, or nil.
func (c *Converter) Alternatives(n *tree.Node) *tree.Node { return c.found[n] }

// discriminatorName returns the property that tells kinds apart; it is a text in Swagger 2.0 and an object since.
func discriminatorName(n *tree.Node) string {
	d := n.Get("discriminator")
	name := d.Get("propertyName").Text()
	if d.Kind() == tree.String {
		name = d.Text()
	}
	if unclean(name) {
		return ""
	}
	return name
}

// hierarchy knows which named schemas extend which.
type hierarchy struct {
	set      *tree.Set
	named    *tree.Node
	children map[*tree.Node][]*tree.Node
}

// add notes that child extends what ref refers to, if it is a reference.
func (h *hierarchy) add(ref, child *tree.Node) {
	if ref.Get("$ref").Kind() != tree.String {
		return
	}
	base, err := h.set.Follow(ref)
	if err != nil || base == child {
		return
	}
	// All bases of one child are added in one go, so that a child that was added before is the last.
	if known := h.children[base]; len(known) == 0 || known[len(known)-1] != child {
		h.children[base] = append(known, child)
	}
}

// kinds lists what extends base, directly or not; ok is false if that is too much.
func (h *hierarchy) kinds(base *tree.Node) (all []*tree.Node, ok bool) {
	all = []*tree.Node{base}
	seen := map[*tree.Node]bool{base: true}
	for i := 0; i < len(all); i++ {
		for _, child := range h.children[all[i]] {
			if !seen[child] {
				seen[child] = true
				all = append(all, child)
			}
		}
		if len(all) > maxKinds {
			return nil, false
		}
	}
	return all[1:], true
}

// values returns the mapping of a discriminator the other way round.
func (h *hierarchy) values(base *tree.Node) map[*tree.Node][]*tree.Node {
	out := map[*tree.Node][]*tree.Node{}
	for value, to := range base.Get("discriminator").Get("mapping").Members() {
		target := h.named.Get(to.Text())
		if target == nil {
			var err error
			if target, err = h.set.Resolve(to); err != nil {
				continue
			}
		}
		if !unclean(value) {
			out[target] = append(out[target], tree.NewString(to, value))
		}
	}
	return out
}

func (h *hierarchy) alternatives(base *tree.Node) *tree.Node {
	kinds, ok := h.kinds(base)
	if !ok || len(kinds) == 0 {
		return nil
	}
	name := discriminatorName(base)
	property := base.Get("properties").Get(name)
	values := h.values(base)
	if property.Get("readOnly").Bool() {
		clear(values) // it is no argument
	}
	alternatives := tree.NewArray(base)
	for _, kind := range kinds {
		alternative := tree.NewObject(kind)
		ref := tree.NewString(kind, "#"+strings.ReplaceAll(kind.Pointer(), "%", "%25"))
		alternative.Set("$ref", ref)
		if target, err := h.set.Resolve(ref); err != nil || target != kind {
			return nil // the document has ids that make references mean something else
		}
		if fixedValues(kind.Get("properties").Get(name)) == nil {
			say(alternative, name, values[kind])
		}
		alternatives.Append(alternative)
	}
	own := values[base]
	if base.Get("discriminator").Get("mapping").Len() > 0 && len(own) == 0 && len(values) > 0 {
		own = []*tree.Node{tree.NewString(base, base.Key())} // names are values too, whatever is mapped
	}
	itself := tree.NewObject(base)
	if say(itself, name, own); len(own) == 0 {
		anything := tree.NewObject(base)
		properties := tree.NewObject(base)
		properties.Set(name, anything)
		itself.Set("properties", properties)
	}
	alternatives.Append(itself)
	return alternatives
}

// say restricts a property of an alternative to the given values, if there are any.
func say(alternative *tree.Node, name string, values []*tree.Node) {
	if len(values) == 0 {
		return
	}
	property := tree.NewObject(alternative)
	if len(values) == 1 {
		property.Set("const", values[0])
	} else {
		list := tree.NewArray(alternative)
		for _, v := range values {
			list.Append(v)
		}
		property.Set("enum", list)
	}
	properties := tree.NewObject(alternative)
	properties.Set(name, property)
	alternative.Set("properties", properties)
}

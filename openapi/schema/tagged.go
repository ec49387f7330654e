package schema

import (
	"slices"

	"drawbridge/openapi/tree"
)

// tagged returns the alternatives of n, each with the values of the discriminator that its mapping gives for it (OAS 3.0.4,
// discriminator object), so that a model sees which value goes with which alternative, and one of another is refused. The
// property is required then, as the standard has it, unless a defaultMapping says what is meant without. complete tells whether each has
// some. An alternative that can't have the values stays as it is written, and one that has fewer itself.
func (c *Converter) tagged(n, list *tree.Node) (alternatives *tree.Node, complete bool) {
	if list.Kind() != tree.Array || n.Get("discriminator").Get("mapping").Len() == 0 || c.found[n] != nil {
		return list, false
	}
	type result struct {
		alternatives *tree.Node
		complete     bool
	}
	known, ok := c.tags.Load(list)
	if !ok {
		made, complete := c.newTagged(n, list)
		known, _ = c.tags.LoadOrStore(list, result{made, complete})
	}
	r, _ := known.(result)
	return r.alternatives, r.complete
}

func (c *Converter) newTagged(n, list *tree.Node) (alternatives *tree.Node, complete bool) {
	name := discriminatorName(n)
	values := c.mapped(n)
	if name == "" || len(values) == 0 {
		return list, false
	}
	optional := n.Get("discriminator").Get("defaultMapping") != nil
	alternatives, complete = tree.NewArray(list), true
	changed := false
	for _, branch := range list.Items() {
		said, fixed := c.sayable(c.resolve(branch), name, values[c.resolve(branch)])
		if len(said) == 0 {
			complete = complete && fixed
			alternatives.Append(tree.Copy(branch))
			continue
		}
		changed = true
		alternative := tree.NewObject(branch)
		parts := tree.NewArray(branch)
		parts.Append(tree.Copy(branch))
		alternative.Set("allOf", parts)
		say(alternative, name, said)
		if !optional {
			required := tree.NewArray(branch)
			required.Append(tree.NewString(branch, name))
			alternative.Set("required", required)
		}
		alternatives.Append(alternative)
	}
	if !changed {
		return list, complete
	}
	return alternatives, complete
}

// mapped returns the values that the mapping of a discriminator gives for each schema.
func (c *Converter) mapped(n *tree.Node) map[*tree.Node][]*tree.Node {
	components := c.set.Root().Get("components").Get("schemas")
	if components == nil {
		components = c.set.Root().Get("definitions")
	}
	values := make(map[*tree.Node][]*tree.Node)
	for value, to := range n.Get("discriminator").Get("mapping").Members() {
		target := components.Get(to.Text())
		if target == nil {
			var err error
			if target, err = c.set.Resolve(to); err != nil {
				continue
			}
		}
		if target = c.resolve(target); target != nil && !unclean(value) {
			values[target] = append(values[target], tree.NewString(to, value))
		}
	}
	return values
}

// sayable returns those of the values that an alternative can have in the property; none if it says as much itself, which
// fixed tells, or if the property isn't sent as a string.
func (c *Converter) sayable(n *tree.Node, name string, values []*tree.Node) (said []*tree.Node, fixed bool) {
	var property *tree.Node
	closed := false
	seen := make(map[*tree.Node]bool)
	var visit func(n *tree.Node)
	visit = func(n *tree.Node) {
		if n == nil || seen[n] || len(seen) > maxEmptied {
			return
		}
		seen[n] = true
		if property == nil {
			property = n.Get("properties").Get(name)
		}
		if more := n.Get("additionalProperties"); more.Kind() == tree.Bool && !more.Bool() {
			closed = true
		}
		for _, part := range n.Get("allOf").Items() {
			visit(c.resolve(part))
		}
	}
	visit(n)
	if property == nil && closed || property != nil && c.hidden(property, Request) {
		return nil, false
	}
	if set := c.typesOf(property); set != 0 && set&stringType == 0 {
		return nil, false
	}
	own := fixedValues(c.resolve(property))
	for _, v := range values {
		if own == nil || slices.Contains(own, string(v.AppendJSON(nil))) {
			said = append(said, v)
		}
	}
	if own != nil && len(said) == len(own) {
		return nil, true
	}
	return said, own != nil && len(said) == 0
}

package schema

import (
	"slices"

	"drawbridge/openapi/tree"
)

// tagged returns the alternatives of n, each with the values of the discriminator that its mapping, or its name, gives for it (OAS
// 3.0.4, discriminator object), so that a model sees which value goes with which alternative, and one of another is refused. The
// property becomes required, as in the standard, unless a defaultMapping gives the alternative of values without it. complete reports
// whether each alternative has values. An alternative that can't have the values, or that has fewer itself, is left unchanged.
func (c *Converter) tagged(n, list *tree.Node) (alternatives *tree.Node, complete bool) {
	if list.Kind() != tree.Array || n.Get("discriminator").Kind() != tree.Object || c.found[n] != nil {
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
	values, named := c.mapped(n), false
	if n.Get("discriminator").Get("mapping").Len() == 0 {
		values, named = c.implied(n, list), true
	}
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
		if title := c.componentOf(branch); named && c.resolve(branch).Get("title") == nil {
			alternative.Set("title", tree.NewString(branch, title))
		}
		alternatives.Append(alternative)
	}
	if !changed {
		return list, complete
	}
	return alternatives, complete
}

// components returns the named schemas of the document.
func (c *Converter) components() *tree.Node {
	if components := c.set.Root().Get("components").Get("schemas"); components != nil {
		return components
	}
	return c.set.Root().Get("definitions")
}

// componentOf returns the name of the component that an alternative refers to, "" if it refers to none.
func (c *Converter) componentOf(branch *tree.Node) string {
	target, err := c.set.Resolve(branch)
	if err != nil || c.reference(branch) == nil || target == nil || unclean(target.Key()) || c.components().Get(target.Key()) != target {
		return ""
	}
	return target.Key()
}

// implied returns the values of a discriminator without mapping for each schema: the name of the component, or the value of the
// property's enum that is written like it but for case and separators. It is nil if the document shows that other values are meant: an
// alternative isn't a component, doesn't declare the property as a text, or has other values or examples for it.
func (c *Converter) implied(n, list *tree.Node) map[*tree.Node][]*tree.Node {
	name := discriminatorName(n)
	values := make(map[*tree.Node][]*tree.Node)
	own := c.resolve(n.Get("properties").Get(name))
	for _, branch := range list.Items() {
		component, target := c.componentOf(branch), c.resolve(branch)
		if component == "" || target == nil {
			return nil
		}
		property := c.resolve(c.declaredIn(target, name))
		if property == nil {
			property = own
		}
		value := impliedValue(property, component)
		if value == "" || own != nil && impliedValue(own, value) != value {
			return nil
		}
		values[target] = append(values[target], tree.NewString(branch, value))
	}
	return values
}

// impliedValue returns the value that the name of a component gives to a property that tells kinds apart, "" if the property has others.
func impliedValue(property *tree.Node, component string) string {
	set, _ := writtenTypes(property.Get("type"))
	if fixed := property.Get("enum") != nil || property.Get("const") != nil; set&^nullType != stringType && !(set == 0 && fixed) ||
		property.Get("anyOf") != nil || property.Get("oneOf") != nil || property.Get("allOf") != nil {
		return ""
	}
	listed := make([]*tree.Node, 0, property.Get("enum").Len()+1)
	for _, v := range property.Get("enum").Items() {
		listed = append(listed, v)
	}
	if v := property.Get("const"); v != nil {
		listed = append(listed, v)
	}
	if len(listed) == 0 {
		for _, word := range []string{"default", "example"} {
			if v := property.Get(word); v != nil {
				listed = append(listed, v)
			}
		}
		if len(listed) == 0 {
			return component
		}
	}
	match := ""
	for _, v := range listed {
		switch text := v.Text(); {
		case text == component:
			return component
		case letters(text) == letters(component):
			match = text
		}
	}
	return match
}

// declaredIn returns the property of an object schema or of one that it takes over, or nil.
func (c *Converter) declaredIn(n *tree.Node, name string) *tree.Node {
	next, seen := []*tree.Node{n}, make(map[*tree.Node]bool)
	for len(next) > 0 && len(seen) < maxEmptied {
		n, next = next[0], next[1:]
		if n == nil || seen[n] {
			continue
		}
		seen[n] = true
		if property := n.Get("properties").Get(name); property != nil {
			return property
		}
		for _, part := range n.Get("allOf").Items() {
			next = append(next, c.resolve(part))
		}
	}
	return nil
}

// mapped returns the values that the mapping of a discriminator gives for each schema.
func (c *Converter) mapped(n *tree.Node) map[*tree.Node][]*tree.Node {
	components := c.components()
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

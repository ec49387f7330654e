package schema

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"drawbridge/openapi/tree"
	"drawbridge/openapi/truncate"
)

// discriminator tells in words what the discriminator of a schema with alternatives says (OAS 3.0.4, discriminator
// object): JSON Schema has no such keyword, and without it a model can't know the value.
func (c *Converter) discriminator(n *tree.Node) string {
	d := n.Get("discriminator")
	name := discriminatorName(n)
	if name == "" || n.Get("oneOf") == nil && c.anyOf(n) == nil {
		return ""
	}
	found := c.found[n] != nil
	for _, list := range []*tree.Node{n.Get("oneOf"), n.Get("anyOf")} {
		if _, complete := c.tagged(n, list); complete {
			return "" // the alternatives say it
		}
	}
	var values []string
	add := func(value string) {
		if value != "" && !unclean(value) {
			values = append(values, fmt.Sprintf("%q", truncate.Words(value, maxShown)))
		}
	}
	mapped := map[string]bool{}
	for value, target := range d.Get("mapping").Members() {
		add(value)
		mapped[path.Base(target.Text())] = true
	}
	for _, union := range []*tree.Node{n.Get("oneOf"), c.anyOf(n)} {
		for _, branch := range union.Items() {
			if found && c.reference(branch) == nil {
				continue // the base itself
			}
			if fixedValues(c.resolve(branch).Get("properties").Get(name)) != nil {
				return "" // the alternatives say it themselves
			}
			if target, err := c.set.Resolve(branch); err == nil && !mapped[target.Key()] {
				add(target.Key())
			}
		}
	}
	if len(values) == 0 {
		return ""
	}
	if more := len(values) - maxAllowed; more > 0 {
		values = append(values[:maxAllowed], fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("%q tells which of the alternatives it is: %s.", truncate.Words(name, maxShown), strings.Join(values, ", "))
}

// lists tells whether a schema, or one that it is composed of, has child among its alternatives. A child of a
// discriminator does "allOf: [parent]" to take over the parent's properties (OAS 3.0.4, discriminator object), not to
// be one of the parent's children again.
func (c *Converter) lists(parent, child *tree.Node) bool {
	return c.listsWithin(parent, child, map[*tree.Node]bool{})
}

func (c *Converter) listsWithin(parent, child *tree.Node, seen map[*tree.Node]bool) bool {
	if parent == nil || seen[parent] || len(seen) > 100 {
		return false
	}
	seen[parent] = true
	for _, union := range []*tree.Node{parent.Get("oneOf"), c.anyOf(parent)} {
		for _, branch := range union.Items() {
			branch = c.resolve(branch)
			if branch == child && branch != nil {
				return true
			}
			if (branch.Get("oneOf") != nil || c.anyOf(branch) != nil) && c.listsWithin(branch, child, seen) {
				return true
			}
		}
	}
	for _, part := range parent.Get("allOf").Items() {
		if c.listsWithin(c.resolve(part), child, seen) {
			return true
		}
	}
	return c.reference(parent) != nil && c.listsWithin(c.resolve(parent), child, seen)
}

// overlap tells whether ordinary values of one alternative fit another too. With oneOf they are refused, which hardly
// an author wants: of "oneOf: [{type: string, format: date}, {type: string}]" no date would be accepted, nor any object
// of two kinds that only their discriminator keeps apart.
//
// Objects of which one kind is a special case of the other stay as they are written, unless a discriminator says that
// they are meant to be kept apart by it.
func (c *Converter) overlap(n *tree.Node, branches *tree.Node) bool {
	if branches.Len() > 1 && slices.ContainsFunc(itemsOf(branches), c.unsaid) {
		return true // such as a reference that leads nowhere: with two of them, or one beside any value, nothing would fit
	}
	told := n.Get("discriminator").Kind() == tree.Object
	var seen []alternatives
	for _, s := range branches.Items() {
		b := c.alternative(s)
		for i := range seen {
			if b.meets(&seen[i], told) {
				return true
			}
		}
		seen = append(seen, b)
	}
	return false
}

// itemsOf returns the elements of an array.
func itemsOf(n *tree.Node) []*tree.Node {
	all := make([]*tree.Node, 0, n.Len())
	for _, item := range n.Items() {
		all = append(all, item)
	}
	return all
}

// unsaid tells whether a schema plainly accepts every value.
func (c *Converter) unsaid(n *tree.Node) bool {
	left := maxUnsaid
	return c.unsaidWithin(n, &left)
}

func (c *Converter) unsaidWithin(n *tree.Node, left *int) bool {
	*left--
	switch {
	case n == nil, n.Kind() == tree.Bool && n.Bool():
		return true
	case n.Kind() != tree.Object, *left < 0, c.found[n] != nil:
		return false
	}
	for name, v := range n.Members() {
		switch r := ruleOf(name, c.dialect); {
		case r == dropped, r == nullRule, r.annotation(), v.Len() == 0 && (r == namesRule || r == allOfRule || r == unionRule):
		case r == refRule:
			if v != c.reference(n) {
				continue
			}
			if target, _ := c.target(v); target != nil && !c.unsaidWithin(target, left) {
				return false
			}
		case r == typeRule:
			if set, _ := writtenTypes(v); set != 0 {
				return false
			}
		case r == allOfRule:
			for _, part := range v.Items() {
				if !c.unsaidWithin(part, left) {
					return false
				}
			}
		default:
			return false
		}
	}
	return true
}

const maxUnsaid = 64 // schemas looked at: composition can multiply

// alternatives is what tells one alternative from others.
type alternatives struct {
	types  types
	values []string // enum or const as JSON; nil: any
	object objectKind
}

// objectKind is what tells objects from others.
type objectKind struct {
	known    bool // properties are declared
	closed   bool
	required []string
	types    map[string]types    // of properties
	values   map[string][]string // of properties that have few
}

func (c *Converter) alternative(s *tree.Node) alternatives {
	a := alternatives{types: c.typesOf(s)}
	if a.types&numberType != 0 {
		a.types |= integerType
	}
	if s = c.resolve(s); s == nil {
		return a
	}
	a.values = fixedValues(s)
	a.object = objectKind{types: map[string]types{}, values: map[string][]string{}}
	c.objectKind(s, &a.object, map[*tree.Node]bool{})
	return a
}

func fixedValues(s *tree.Node) []string {
	var out []string
	for _, v := range s.Get("enum").Items() {
		out = append(out, string(v.AppendJSON(nil)))
	}
	if v := s.Get("const"); v != nil {
		out = append(out, string(v.AppendJSON(nil)))
	}
	return out
}

func (c *Converter) objectKind(n *tree.Node, o *objectKind, seen map[*tree.Node]bool) {
	if n == nil || seen[n] {
		return
	}
	seen[n] = true
	for name, property := range n.Get("properties").Members() {
		o.known = true
		if c.hidden(property, Request) {
			continue
		}
		t := c.typesOf(property)
		if t&numberType != 0 {
			t |= integerType
		}
		o.types[name] |= t
		if property = c.resolve(property); property != nil && o.values[name] == nil {
			o.values[name] = fixedValues(property)
		}
	}
	hidden := c.hiddenNames(n, nil)
	for _, name := range n.Get("required").Items() {
		if !slices.Contains(o.required, name.Text()) && !slices.Contains(hidden, name.Text()) {
			o.required = append(o.required, name.Text())
		}
	}
	if more := n.Get("additionalProperties"); more.Kind() == tree.Bool && !more.Bool() {
		o.closed = true
	}
	for _, part := range n.Get("allOf").Items() {
		c.objectKind(c.resolve(part), o, seen)
	}
}

// meets tells whether two alternatives share ordinary values.
func (a *alternatives) meets(b *alternatives, told bool) bool {
	common := a.types & b.types
	if common&^objectType != 0 && !disjoint(a.values, b.values) {
		return true
	}
	if common&objectType == 0 {
		return false
	}
	one, other := a.object.covers(&b.object), b.object.covers(&a.object)
	return one && other || told && (one || other)
}

// covers tells whether the smallest objects of kind b are of kind a too.
func (a *objectKind) covers(b *objectKind) bool {
	if !a.known && !b.known {
		return false // "oneOf: [{required: [a]}, {required: [b]}]" means what it says
	}
	for _, name := range a.required {
		if !slices.Contains(b.required, name) {
			return false
		}
	}
	for _, name := range b.required {
		set, declared := a.types[name]
		if !declared {
			if a.closed {
				return false
			}
			continue
		}
		if other := b.types[name]; set != 0 && other != 0 && set&other == 0 || disjoint(a.values[name], b.values[name]) {
			return false
		}
	}
	return true
}

// disjoint tells whether two lists of values, nil standing for all values, have none in common.
func disjoint(a, b []string) bool {
	if a == nil || b == nil {
		return false
	}
	for _, x := range a {
		if slices.Contains(b, x) {
			return false
		}
	}
	return true
}

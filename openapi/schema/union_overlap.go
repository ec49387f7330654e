package schema

import (
	"slices"

	"drawbridge/openapi/tree"
)

// overlap reports whether ordinary values of one alternative fit another too. With oneOf they are refused, which hardly
// an author wants: of "oneOf: [{type: string, format: date}, {type: string}]" no date would be accepted, nor any object
// of two kinds that only their discriminator keeps apart.
//
// Objects of which one kind is a special case of the other stay as they are written, unless a discriminator says that
// they are meant to be kept apart by it.
//
// Each is compared with each, so that there is an end to it: of lists that would take too many comparisons, values may fit more than one.
func (c *Converter) overlap(n *tree.Node, branches *tree.Node) bool {
	key := overlapKey{branches, n.Get("discriminator").Kind() == tree.Object}
	known, ok := c.overlaps.Load(key)
	if !ok {
		known, _ = c.overlaps.LoadOrStore(key, c.newOverlap(branches, key.told))
	}
	overlap, _ := known.(bool)
	return overlap
}

// overlapKey is what decides about the overlap of alternatives: their list, and whether a discriminator distinguishes them.
type overlapKey struct {
	list *tree.Node
	told bool
}

// maxOverlapLooks is how many names and values of alternatives are looked at to find out whether they overlap: 1,000 of 300 names each, or
// 2,400 small ones.
const maxOverlapLooks = 3_000_000

// comparedInStep is how many of them take the time of a step.
const comparedInStep = 8

func (c *Converter) newOverlap(branches *tree.Node, told bool) bool {
	if branches.Len() > 1 && slices.ContainsFunc(itemsOf(branches), c.unsaid) {
		return true // such as a reference that leads nowhere: with two of them, or one beside any value, nothing would fit
	}
	left, before := maxOverlapLooks, maxOverlapLooks
	var seen []alternatives
	for _, s := range branches.Items() {
		c.limits.Pace.Work((before - left) / comparedInStep)
		before = left
		b := c.alternative(s, &left)
		for i := range seen {
			if b.meets(&seen[i], told, &left) || left < 0 {
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

// unsaid reports whether a schema plainly accepts every value.
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
	values values // enum or const
	object objectKind
}

// values are those of an enum or const as JSON; nil: any.
type values map[string]bool

// objectKind is what tells objects from others.
type objectKind struct {
	known    bool // properties are declared
	closed   bool
	required nameSet
	types    map[string]types  // of properties
	values   map[string]values // of properties that have few
}

// nameSet is a set of names in the order in which they came, so that the same is counted each time.
type nameSet struct {
	names []string
	known map[string]bool
}

func (s *nameSet) has(name string) bool { return s.known[name] }

func (s *nameSet) add(name string) {
	if s.known == nil {
		s.known = make(map[string]bool)
	}
	s.known[name] = true
	s.names = append(s.names, name)
}

// alternative reads an alternative. left counts down what is looked at.
func (c *Converter) alternative(s *tree.Node, left *int) alternatives {
	a := alternatives{types: c.typesOf(s)}
	if a.types&numberType != 0 {
		a.types |= integerType
	}
	if s = c.resolve(s); s == nil {
		return a
	}
	a.values = valuesOf(s, left)
	a.object = objectKind{types: map[string]types{}, values: map[string]values{}}
	c.objectKind(s, &a.object, map[*tree.Node]bool{}, left)
	return a
}

// valuesOf returns the values that a schema fixes.
func valuesOf(s *tree.Node, left *int) values {
	fixed := fixedValues(s)
	*left -= len(fixed)
	if fixed == nil {
		return nil
	}
	set := make(values, len(fixed))
	for _, v := range fixed {
		set[v] = true
	}
	return set
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

func (c *Converter) objectKind(n *tree.Node, o *objectKind, seen map[*tree.Node]bool, left *int) {
	if n == nil || seen[n] || *left < 0 {
		return
	}
	seen[n] = true
	*left--
	for name, property := range n.Get("properties").Members() {
		if *left--; *left < 0 {
			return
		}
		c.step()
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
			if set := valuesOf(property, left); set != nil {
				o.values[name] = set
			}
		}
	}
	hidden := c.hiddenIn(n, nil)
	for _, name := range n.Get("required").Items() {
		if *left--; !o.required.has(name.Text()) && !hidden.has(name.Text()) {
			o.required.add(name.Text())
		}
	}
	if more := n.Get("additionalProperties"); more.Kind() == tree.Bool && !more.Bool() {
		o.closed = true
	}
	for _, part := range n.Get("allOf").Items() {
		c.objectKind(c.resolve(part), o, seen, left)
	}
}

// meets reports whether two alternatives share ordinary values.
func (a *alternatives) meets(b *alternatives, told bool, left *int) bool {
	*left--
	common := a.types & b.types
	if common&^objectType != 0 && !disjoint(a.values, b.values, left) {
		return true
	}
	if common&objectType == 0 {
		return false
	}
	one, other := a.object.covers(&b.object, left), b.object.covers(&a.object, left)
	return one && other || told && (one || other)
}

// covers reports whether the smallest objects of kind b are of kind a too.
func (a *objectKind) covers(b *objectKind, left *int) bool {
	if !a.known && !b.known {
		return false // "oneOf: [{required: [a]}, {required: [b]}]" means what it says
	}
	for _, name := range a.required.names {
		if *left--; !b.required.has(name) {
			return false
		}
	}
	for _, name := range b.required.names {
		*left--
		set, declared := a.types[name]
		if !declared {
			if a.closed {
				return false
			}
			continue
		}
		if other := b.types[name]; set != 0 && other != 0 && set&other == 0 || disjoint(a.values[name], b.values[name], left) {
			return false
		}
	}
	return true
}

// disjoint reports whether two sets of values, nil standing for all values, have none in common.
func disjoint(a, b values, left *int) bool {
	if a == nil || b == nil {
		return false
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	*left -= len(a)
	for x := range a {
		if b[x] {
			return false
		}
	}
	return true
}

package tree

import "regexp"

// maxClosedSteps limits the names and schemas that are examined to find closed parts; later ones stay unrepaired.
const maxClosedSteps = 500_000

// closedParts finds the schemas that are closed against the schemas that they are composed with. "additionalProperties:
// false" considers only the properties of its own schema, "unevaluatedProperties: false" nothing beside that schema
// (JSON Schema 2020-12 core, sections 10.3.2.3 and 11.3): in "allOf: [{$ref: Base}, {properties: …,
// additionalProperties: false}]" no property of Base can be given, and no object is valid if one is required. Authors
// mean "no others than all these".
type closedParts struct {
	w     *walker
	steps int
	path  map[*Node]bool // schemas around the current one
	inner map[*Node]bool // whether a schema or a part of it is closed
}

// noteClosed records the schemas that repairClosed needs.
func (w *walker) noteClosed(n *Node) {
	for _, word := range [...]string{"additionalProperties", "unevaluatedProperties"} {
		if k := n.Get(word); k.Kind() == Bool && !k.Bool() || k.Kind() == String {
			w.closed = true
		}
	}
	if parts, alternatives := compositionOf(n); len(parts) > 0 || len(alternatives) > 0 {
		w.composed = append(w.composed, n)
	}
}

// repairClosed opens closed parts, also for their other uses: one extension of a part opens it everywhere. It comes
// after all other repairs.
func (w *walker) repairClosed() {
	if !w.closed {
		return
	}
	c := closedParts{w: w, path: map[*Node]bool{}, inner: map[*Node]bool{}}
	for _, n := range w.composed {
		c.openParts(n, nil)
	}
}

// compositionOf returns the schemas that apply to a value in addition to n, and lists of alternatives. References are
// among the first, as written.
func compositionOf(n *Node) (parts []*Node, alternatives [][]*Node) {
	if n.Get("$ref").Kind() == String && n.Len() > 1 {
		parts = append(parts, n.Get("$ref"))
	}
	for _, word := range [...]string{"allOf", "oneOf", "anyOf", "then", "else", "dependentSchemas"} {
		switch k := n.Get(word); {
		case k == nil || k.body == nil:
		case word == "oneOf" || word == "anyOf":
			alternatives = append(alternatives, k.body.kids)
		case word == "then" || word == "else":
			parts = append(parts, k)
		default:
			parts = append(parts, k.body.kids...)
		}
	}
	return parts, alternatives
}

// schema returns the schema of a part of a composition: the part itself, or the target of its reference. It is nil if
// there is none.
func (c *closedParts) schema(part *Node) *Node {
	for hops := 0; hops <= c.w.budget.RefChain; hops++ {
		ref := part
		if part.Kind() == Object {
			if ref = part.Get("$ref"); ref.Kind() != String || part.Len() > 1 {
				return part
			}
		}
		if ref.Kind() != String {
			return nil
		}
		part = c.w.set.resolve(c.w.loader, ref).node
	}
	return nil
}

func (c *closedParts) spent() bool {
	c.steps++
	return c.steps > maxClosedSteps
}

// merge adds names to others.
func (c *closedParts) merge(into, from names) {
	for name := range from {
		if c.spent() {
			return
		}
		into[name] = true
	}
}

// holdsClosed reports whether n or a part of it is closed.
func (c *closedParts) holdsClosed(n *Node) bool {
	if known, ok := c.inner[n]; ok || n == nil || c.spent() {
		return known
	}
	c.inner[n] = false
	found := isFalse(n.Get("additionalProperties")) || isFalse(n.Get("unevaluatedProperties"))
	parts, alternatives := compositionOf(n)
	for _, list := range append(alternatives, parts) {
		for _, k := range list {
			found = c.holdsClosed(c.schema(k)) || found
		}
	}
	c.inner[n] = found
	return found
}

func isFalse(n *Node) bool { return n.Kind() == Bool && !n.Bool() }

// names are the members of an object that schemas declare or require.
type names map[string]bool

// own adds the names of one schema to into. Read-only properties don't count: callers don't send them.
func (c *closedParts) own(n *Node, into names) {
	readOnly := map[string]bool{}
	for name, property := range n.Get("properties").Members() {
		switch {
		case c.spent():
		case property.Get("readOnly").Bool():
			readOnly[name] = true
		default:
			into[name] = true
		}
	}
	for _, name := range n.Get("required").Items() {
		if name.Kind() == String && !readOnly[name.text] && !c.spent() {
			into[name.text] = true
		}
	}
}

// addAll adds the names of a schema and of everything that it is composed of to into.
func (c *closedParts) addAll(n *Node, into names, seen map[*Node]bool) {
	if n == nil || seen[n] || c.path[n] || c.spent() {
		return
	}
	seen[n] = true
	c.own(n, into)
	parts, alternatives := compositionOf(n)
	for _, k := range parts {
		c.addAll(c.schema(k), into, seen)
	}
	for _, list := range alternatives {
		c.alternatives(list, into, seen)
	}
}

// alternatives adds the names of a list of alternatives. It adds none if one of these is the current schema: the
// declarations of the others are irrelevant to it, although it extends the schema that lists them all.
func (c *closedParts) alternatives(list []*Node, into names, seen map[*Node]bool) {
	for _, k := range list {
		if c.spent() || c.path[c.schema(k)] {
			return
		}
	}
	for _, k := range list {
		c.addAll(c.schema(k), into, seen)
	}
}

// openParts opens n, and the schemas that it is composed of, where they are closed against outer, the declarations of their
// neighbours.
func (c *closedParts) openParts(n *Node, outer names) {
	if n == nil || c.path[n] || !c.holdsClosed(n) || c.spent() {
		return
	}
	c.path[n] = true
	defer delete(c.path, n)
	own := names{}
	c.own(n, own)
	parts, alternatives := compositionOf(n)
	var inner []names // of the parts, then of the lists of alternatives
	for _, k := range parts {
		inner = append(inner, names{})
		c.addAll(c.schema(k), inner[len(inner)-1], map[*Node]bool{})
	}
	for _, list := range alternatives {
		inner = append(inner, names{})
		c.alternatives(list, inner[len(inner)-1], map[*Node]bool{})
	}
	// without returns outer and the names within n, except those of one element of inner.
	without := func(self int) names {
		all := names{}
		c.merge(all, outer)
		for i, set := range inner {
			if i != self {
				c.merge(all, set)
			}
		}
		return all
	}
	c.open(n, "additionalProperties", without(-1))
	if isFalse(n.Get("unevaluatedProperties")) {
		unseen := names{}
		c.merge(unseen, outer)
		for _, set := range append(inner, own) {
			for name := range set {
				delete(unseen, name)
			}
		}
		c.open(n, "unevaluatedProperties", unseen)
	}
	for i, k := range parts {
		others := without(i)
		c.merge(others, own)
		c.openParts(c.schema(k), others)
	}
	for i, list := range alternatives {
		others := without(len(parts) + i)
		c.merge(others, own)
		for name := range inner[len(parts)+i] {
			delete(others, name) // an alternative that doesn't declare it leaves it to others
		}
		tag := discriminatorOf(n)
		for _, k := range list {
			c.declareTag(c.schema(k), tag)
			c.openParts(c.schema(k), others)
		}
	}
}

// declareTag adds the discriminator property to an alternative that is closed and doesn't declare it: every value has
// it (OAS 3.0.4, discriminator object), and no other member is meant to be allowed.
func (c *closedParts) declareTag(n *Node, tag string) {
	if tag == "" || !isFalse(n.Get("additionalProperties")) || matchesPattern(n, tag) {
		return
	}
	known := names{}
	if c.addAll(n, known, map[*Node]bool{}); known[tag] && n.Get("properties").Get(tag) == nil && !requires(n, tag) || n.Get("properties").Get(tag) != nil {
		return
	}
	c.w.warn.add(n.Get("additionalProperties"), CodeClosedPart, "\"additionalProperties: false\" refuses %s, which tells the alternatives apart; declared", quote(clip(tag)))
	properties := n.Get("properties")
	if properties.Kind() != Object {
		properties = newChild(n, n, "properties", Object, "")
		n.put("properties", properties)
	}
	properties.put(tag, newChild(properties, properties, tag, Object, ""))
}

// requires reports whether a schema itself requires a member.
func requires(n *Node, name string) bool {
	for _, item := range n.Get("required").Items() {
		if item.Kind() == String && item.text == name {
			return true
		}
	}
	return false
}

// discriminatorOf returns the name of the discriminator property of the alternatives of a schema; "" if it has none.
func discriminatorOf(n *Node) string {
	if n.Get("oneOf") == nil && n.Get("anyOf") == nil {
		return ""
	}
	return n.Get("discriminator").Get("propertyName").Text()
}

// open removes the keyword that closes n, unless n itself declares all of the names.
func (c *closedParts) open(n *Node, keyword string, others names) {
	k := n.Get(keyword)
	if !isFalse(k) {
		return
	}
	refused := ""
	for name := range others {
		if n.Get("properties").Get(name) == nil && (refused == "" || name < refused) && !matchesPattern(n, name) {
			refused = name
		}
	}
	if refused == "" {
		return
	}
	c.w.warn.add(k, CodeClosedPart, "\"%s: false\" refuses %s, which another part of the same composition has; left out", keyword, quote(clip(refused)))
	n.remove(keyword)
}

// matchesPattern reports whether a name matches a pattern of a schema, or a pattern that can't be evaluated.
func matchesPattern(n *Node, name string) bool {
	for pattern := range n.Get("patternProperties").Members() {
		if p, err := regexp.Compile(pattern); err != nil || p.MatchString(name) {
			return true
		}
	}
	return false
}

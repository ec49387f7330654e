package schema

import "drawbridge/openapi/tree"

// maxComposed is how many schemas that others refer to are looked at where a schema is composed of them. Chains and rings of allOf could
// otherwise be as long as the document, and each of their schemas would be walked again for each of the others.
const maxComposed = 100

// A hiddenNames is a set of properties that "required" must not name, because they are readOnly in a schema that applies to the same object:
// those of a schema with all that it is composed of, and those of the schemas around it. It is made when it is asked for the first time,
// because most schemas require nothing. Nil is the empty set.
type hiddenNames struct {
	c     *Converter
	node  *tree.Node
	outer *hiddenNames
	parts []*readOnlyPart // nil until the first question
}

// hiddenIn returns the set for a schema within others.
func (c *Converter) hiddenIn(n *tree.Node, outer *hiddenNames) *hiddenNames {
	return &hiddenNames{c: c, node: n, outer: outer}
}

// has reports whether a name is in the set.
func (h *hiddenNames) has(name string) bool {
	for ; h != nil; h = h.outer {
		if h.parts == nil {
			h.parts = h.c.readOnlyParts(h.node)
		}
		for _, p := range h.parts {
			if p.names[name] {
				return true
			}
		}
	}
	return false
}

// A readOnlyPart is what one schema adds to the set, with the members of its allOf that are written in it.
type readOnlyPart struct {
	names map[string]bool
	refs  []*tree.Node // the other members of its allOf
}

// readOnlyParts returns the parts of a schema and of those that it is composed of, at most maxComposed.
func (c *Converter) readOnlyParts(n *tree.Node) []*readOnlyPart {
	first := c.readOnlyPart(n)
	parts := []*readOnlyPart{first}
	if len(first.refs) == 0 {
		return parts
	}
	seen := map[*tree.Node]bool{n: true}
	for i := 0; i < len(parts); i++ { // grows
		c.work(int64(1 + len(parts[i].refs)))
		for _, ref := range parts[i].refs {
			if !seen[ref] && len(parts) < maxComposed {
				seen[ref] = true
				parts = append(parts, c.readOnlyPart(ref))
			}
		}
	}
	return parts
}

// readOnlyPart returns the part of one schema.
func (c *Converter) readOnlyPart(n *tree.Node) *readOnlyPart {
	if known, ok := c.readOnly.Load(n); ok {
		p, _ := known.(*readOnlyPart)
		return p
	}
	p := &readOnlyPart{}
	c.addReadOnly(p, n)
	known, _ := c.readOnly.LoadOrStore(n, p)
	p, _ = known.(*readOnlyPart)
	return p
}

func (c *Converter) addReadOnly(p *readOnlyPart, n *tree.Node) {
	c.step()
	for name, s := range n.Get("properties").Members() {
		c.step()
		if c.hidden(s, Request) {
			if p.names == nil {
				p.names = map[string]bool{}
			}
			p.names[name] = true
		}
	}
	for _, part := range n.Get("allOf").Items() {
		if c.reference(part) == nil {
			c.addReadOnly(p, part)
		} else if target := c.resolve(part); target != nil {
			p.refs = append(p.refs, target)
		}
	}
}

// step is taken for each schema and property that is looked at. Steps are counted here first, because the budget is one that several
// goroutines have together.
func (c *Converter) step() { c.work(1) }

// work takes several steps.
func (c *Converter) work(steps int64) {
	const batch = 32
	now := c.steps.Add(steps)
	if batches := now/batch - (now-steps)/batch; batches > 0 {
		c.limits.Pace.Work(int(batches * batch))
	}
}

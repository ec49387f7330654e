package schema

import "drawbridge/openapi/tree"

// A property that is readOnly is left out of requests, unless nothing would be left of its object. Many documents have one schema for
// a resource and for the reference to it ("customer: {id, href}"), all of it readOnly because the service makes it: a model would see
// an empty object there, and no call could ever name the customer. So an object without any other property keeps them, as
// optional, if it is a schema that is referred to, or if an example of a request gives one of them. Where such a schema is
// a part of another, as the base of a resource, they are left out as ever.

// keeps reports whether the value that a schema describes keeps its readOnly properties in a request.
func (c *Converter) keeps(n *tree.Node) bool {
	if n.Kind() != tree.Object || n.Get("properties") == nil && n.Get("allOf") == nil && c.reference(n) == nil {
		return false
	}
	known, ok := c.kept.Load(n)
	if !ok {
		known, _ = c.kept.LoadOrStore(n, c.emptied(n) && (c.resolve(n) != n || c.onlyPart(n) != nil || c.samples()[n]))
	}
	kept, _ := known.(bool)
	return kept
}

// maxEmptied is how many schemas an object may be composed of that is looked at.
const maxEmptied = 64

// emptied reports whether all properties that an object declares are readOnly, wherever its composition holds them.
func (c *Converter) emptied(n *tree.Node) bool {
	hidden := false
	seen := make(map[*tree.Node]bool)
	var declares func(n *tree.Node) bool // anything that is sent
	declares = func(n *tree.Node) bool {
		if n = c.resolve(n); n == nil || seen[n] {
			return false
		}
		seen[n] = true
		if len(seen) > maxEmptied || n.Get("additionalProperties").Kind() == tree.Object || n.Get("patternProperties").Len() > 0 {
			return true
		}
		if n.Get("properties").Len() > 0 {
			if c.sends(n) {
				return true
			}
			hidden = true
		}
		for _, list := range []*tree.Node{n.Get("allOf"), n.Get("oneOf"), c.anyOf(n)} {
			for _, part := range list.Items() {
				if declares(part) {
					return true
				}
			}
		}
		return false
	}
	return !declares(n) && hidden
}

// sends reports whether a property of an object is sent.
func (c *Converter) sends(n *tree.Node) bool {
	known, ok := c.sent.Load(n)
	if !ok {
		sent := false
		for _, property := range n.Get("properties").Members() {
			c.step()
			if sent = !c.hidden(property, Request); sent {
				break
			}
		}
		known, _ = c.sent.LoadOrStore(n, sent)
	}
	return known == true
}

// A sampler follows the examples of requests through their schemas.
type sampler struct {
	c     *Converter
	held  map[*tree.Node]bool // objects of which an example gives a readOnly property
	steps int
}

const maxSampleSteps = 1_000_000

// samples returns the objects of which an example of a request gives a readOnly property.
func (c *Converter) samples() map[*tree.Node]bool {
	c.sampledOnce.Do(func() {
		s := sampler{c: c, held: make(map[*tree.Node]bool), steps: maxSampleSteps}
		for _, paths := range []string{"paths", tree.MSPaths} {
			for _, item := range c.set.Root().Get(paths).Members() {
				for _, op := range s.follow(item).Members() {
					if op.Kind() == tree.Object {
						s.operation(op)
					}
				}
			}
		}
		c.sampled = s.held
	})
	return c.sampled
}

func (s *sampler) follow(n *tree.Node) *tree.Node {
	to, err := s.c.set.Follow(n)
	if err != nil {
		return nil
	}
	return to
}

func (s *sampler) operation(op *tree.Node) {
	for _, media := range s.follow(op.Get("requestBody")).Get("content").Members() {
		schema := media.Get("schema")
		s.value(schema, media.Get("example"), 0)
		for _, example := range media.Get("examples").Members() {
			s.value(schema, s.follow(example).Get("value"), 0)
		}
		s.value(schema, s.c.resolve(schema).Get("example"), 0)
	}
	for _, p := range op.Get("parameters").Items() { // 2.0
		if p = s.follow(p); p.Get("in").Text() == "body" {
			s.value(p.Get("schema"), s.c.resolve(p.Get("schema")).Get("example"), 0)
		}
	}
}

// value holds a value of an example against its schema.
func (s *sampler) value(schema, value *tree.Node, depth int) {
	n := s.c.resolve(schema)
	if s.steps--; s.steps < 0 || depth > maxValueDepth || n == nil {
		return
	}
	switch value.Kind() {
	case tree.Object:
		for name, property := range n.Get("properties").Members() {
			if member := value.Get(name); member != nil {
				if s.c.hidden(property, Request) {
					s.held[n] = true
				}
				s.value(property, member, depth+1)
			}
		}
		if more := n.Get("additionalProperties"); more.Kind() == tree.Object {
			for _, member := range value.Members() {
				s.value(more, member, depth+1)
			}
		}
	case tree.Array:
		for _, item := range value.Items() {
			s.value(n.Get("items"), item, depth+1)
		}
	default:
		return
	}
	for _, word := range []string{"allOf", "anyOf", "oneOf"} {
		for _, part := range n.Get(word).Items() {
			s.value(part, value, depth+1)
		}
	}
}

package schema

import (
	"strconv"
	"sync"

	"drawbridge/openapi/jsonschema"
)

// referred holds the compiled checks of referenced schemas, for examples and defaults beside such references or above them. The tools of
// a document share them.
type referred struct {
	mu     sync.Mutex
	checks map[partKey]*check // complete whenever mu is free
}

// withoutTexts leaves out what is not checked, and with it the examples, whose own check would ask for this one again.
var withoutTexts = cut{depth: noLimit}

// referredCheck returns the check of the schema that a hole refers to, with all that it refers to itself.
func (c *Converter) referredCheck(h hole) *check {
	c.referred.mu.Lock()
	defer c.referred.mu.Unlock()
	if c.referred.checks == nil {
		c.referred.checks = make(map[partKey]*check)
	}
	var waiting []partKey
	get := func(h hole) *check {
		key := h.key()
		known := c.referred.checks[key]
		if known == nil {
			known = &check{}
			c.referred.checks[key] = known
			waiting = append(waiting, key)
		}
		return known
	}
	found := get(h)
	for len(waiting) > 0 { // no recursion: a document may have a chain of 200,000
		c.limits.Pace.Work(32)
		key := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		f := c.fragment(fragmentKey{node: key.node, base: key.base, kept: key.kept, merge: key.merge, cut: withoutTexts, in: key.in})
		p, text := f.program(0, get)
		p.fill(c.referred.checks[key], jsonschema.Parse(text))
	}
	return found
}

// program returns the schema that begins at start with a reference in each hole, and the programmer that knows what they refer to. A
// renamed hole is that of a tool's root value, whose examples are not compared: they have the names of the request.
func (f *fragment) program(start int, referred func(h hole) *check) (p *programmer, text []byte) {
	p = newProgrammer()
	from := start
	for i, h := range f.holes {
		text = append(text, f.body[from:h.at]...)
		from = h.at
		name := strconv.Itoa(i)
		p.named[name] = &check{}
		if !h.renamed {
			p.named[name] = referred(h)
		}
		if h.whole {
			text = append(text, `{"$ref":"`+jsonschema.ReferenceTo(name)+`"}`...)
		} else {
			text = append(text, `"`+jsonschema.ReferenceTo(name)+`"`...)
		}
	}
	return p, append(text, f.body[from:]...)
}

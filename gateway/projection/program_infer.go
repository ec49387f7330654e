package projection

import (
	"slices"

	"github.com/itchyny/gojq"

	"drawbridge/openapi/jsonscan"
)

// cardinality is how many values a query gives for one.
type cardinality uint8

// The cardinalities, in the order of how little they say.
const (
	one   cardinality = iota
	maybe             // one or none
	many              // any number
)

// times returns how many values come of values that each give so many.
func (c cardinality) times(other cardinality) cardinality { return max(c, other) }

// value describes the values that a query gives.
type value struct {
	// shape is that of each value if the answer has the shape that the document declares; nil if nothing is known.
	shape *jsonscan.Shape
	// sure are the kinds of each value, whatever the answer is; 0 if they depend on it.
	sure  jsonscan.Kinds
	gives cardinality
}

// of returns one value of certain kinds.
func of(kinds jsonscan.Kinds) value {
	if kinds == 0 {
		return value{}
	}
	return value{shape: &jsonscan.Shape{Kinds: kinds}, sure: kinds}
}

func integer() *jsonscan.Shape { return &jsonscan.Shape{Kinds: ofNumber, Integer: true} }

// arrayOf returns an array of values.
func arrayOf(v value) value {
	return value{shape: &jsonscan.Shape{Kinds: ofArray, Items: v.shape}, sure: ofArray}
}

func (v value) with(gives cardinality) value {
	v.gives = gives
	return v
}

func (v value) times(gives cardinality) value { return v.with(v.gives.times(gives)) }

// either returns what two values have in common.
func either(a, b value) value {
	v := value{shape: eitherShape(a.shape, b.shape), gives: max(a.gives, b.gives)}
	if a.sure == b.sure {
		v.sure = a.sure
	}
	return v
}

// eitherShape returns a shape that everything fits which fits a or b; nil if that is anything.
func eitherShape(a, b *jsonscan.Shape) *jsonscan.Shape { return eitherTo(a, b, maxEither) }

// maxEither is how deep two shapes are compared; deeper parts may be anything.
const maxEither = 8

func eitherTo(a, b *jsonscan.Shape, depth int) *jsonscan.Shape {
	if a == b {
		return a
	}
	if depth == 0 || a == nil || b == nil || a.Kinds == 0 || b.Kinds == 0 {
		return nil
	}
	out := &jsonscan.Shape{Kinds: a.Kinds | b.Kinds}
	numbers := func(s *jsonscan.Shape) bool { return s.Kinds.Has(jsonscan.Number) }
	out.Integer = (!numbers(a) || a.Integer) && (!numbers(b) || b.Integer) && (numbers(a) || numbers(b))
	switch inA, inB := a.Kinds.Has(jsonscan.Object), b.Kinds.Has(jsonscan.Object); {
	case inA && inB:
		for _, p := range a.Properties {
			if i := propertyAt(b, p.Name); i >= 0 {
				out.Properties = append(out.Properties, jsonscan.Property{Name: p.Name, Shape: eitherTo(p.Shape, b.Properties[i].Shape, depth-1)})
			}
		}
	case inA:
		out.Properties = a.Properties
	case inB:
		out.Properties = b.Properties
	}
	switch inA, inB := a.Kinds.Has(jsonscan.Array), b.Kinds.Has(jsonscan.Array); {
	case inA && inB:
		out.Items = eitherTo(a.Items, b.Items, depth-1)
	case inA:
		out.Items = a.Items
	case inB:
		out.Items = b.Items
	}
	return out
}

func propertyAt(s *jsonscan.Shape, name string) int {
	return slices.IndexFunc(s.Properties, func(p jsonscan.Property) bool { return p.Name == name })
}

// index returns the value behind an index. around is the value that queries in the index see.
func (c *checker) index(i *gojq.Index, in, around value) value {
	name, known := "", i.Name != ""
	gives := one
	switch {
	case known:
		name = i.Name
	case i.Str != nil:
		gives = c.text(i.Str, around)
		name, known = i.Str.Str, i.Str.Queries == nil
	case i.IsSlice:
		for _, q := range []*gojq.Query{i.Start, i.End} {
			if q != nil {
				gives = gives.times(c.query(q, around).gives)
			}
		}
		return value{shape: in.shape, gives: gives}
	default:
		key := c.query(i.Start, around)
		gives = key.gives
		if key.sure == ofNumber {
			return value{shape: c.elements(in, ""), gives: gives}
		}
		if t := i.Start.Term; t != nil && t.Type == gojq.TermTypeString && t.Str.Queries == nil && t.SuffixList == nil {
			name, known = t.Str.Str, true
		}
	}
	if !known {
		return value{gives: gives}
	}
	return value{shape: c.member(in, name), gives: gives}
}

// member returns the shape of a member, and records it if there is none of that name.
func (c *checker) member(in value, name string) *jsonscan.Shape {
	s := in.shape
	if s == nil || s.Kinds == 0 {
		return nil
	}
	if !s.Kinds.Has(jsonscan.Object) {
		if s.Kinds != ofNull {
			c.miss(Missing{Name: name, Kinds: s.Kinds})
		}
		return nil
	}
	if i := propertyAt(s, name); i >= 0 {
		member := s.Properties[i].Shape
		if s.Kinds != ofObject && member != nil { // null has no members, and so gives null for each
			return eitherShape(member, &jsonscan.Shape{Kinds: ofNull})
		}
		return member
	}
	if len(s.Properties) > 0 {
		known := make([]string, len(s.Properties))
		for i := range s.Properties {
			known[i] = s.Properties[i].Name
		}
		c.miss(Missing{Name: name, Known: known})
	}
	return nil
}

// elements returns the shape of what iteration gives.
func (c *checker) elements(in value, prefix string) *jsonscan.Shape {
	s := in.shape
	if s == nil || s.Kinds == 0 {
		return nil
	}
	switch {
	case s.Kinds.Has(jsonscan.Array) && !s.Kinds.Has(jsonscan.Object):
		if s.Items == nil || s.Items.Kinds == 0 || s.Items.Kinds&ofNull != 0 {
			return s.Items
		}
		return eitherShape(s.Items, &jsonscan.Shape{Kinds: ofNull}) // an index beyond the end gives null
	case !s.Kinds.Has(jsonscan.Array) && !s.Kinds.Has(jsonscan.Object) && s.Kinds != ofNull:
		c.miss(Missing{Name: prefix + "[]", Kinds: s.Kinds})
	}
	return nil
}

// object returns the objects that a construction gives.
func (c *checker) object(o *gojq.Object, in value) value {
	s := &jsonscan.Shape{Kinds: ofObject}
	gives, known := one, true
	for _, m := range o.KeyVals {
		var v value
		name := m.Key
		switch {
		case m.KeyString != nil:
			gives = gives.times(c.text(m.KeyString, in))
			if name = m.KeyString.Str; m.KeyString.Queries != nil {
				known = false
			}
		case m.KeyQuery != nil:
			gives = gives.times(c.query(m.KeyQuery, in).gives)
			known = false
		}
		switch {
		case m.Val != nil:
			v = c.query(m.Val, in)
		case len(name) > 1 && name[0] == '$': // {$x}
			v = c.call(&gojq.Func{Name: name}, in)
			name = name[1:]
		default: // {name}
			v = value{shape: c.member(in, name)}
		}
		gives = gives.times(v.gives)
		if i := propertyAt(s, name); i >= 0 {
			s.Properties[i].Shape = eitherShape(s.Properties[i].Shape, v.shape)
		} else {
			s.Properties = append(s.Properties, jsonscan.Property{Name: name, Shape: v.shape})
		}
	}
	if !known { // a computed name may be any of the others
		s.Properties = nil
	}
	return value{shape: s, sure: ofObject, gives: gives}
}

// pattern binds the variables of a pattern.
func (c *checker) pattern(p *gojq.Pattern, in, v value) {
	v.gives = one
	if p.Name != "" {
		c.bound = append(c.bound, boundVariable{p.Name, v})
		return
	}
	for _, element := range p.Array {
		c.pattern(element, in, value{shape: c.elements(v, "")})
	}
	for _, m := range p.Object {
		name := m.Key
		switch {
		case m.KeyString != nil:
			c.text(m.KeyString, in)
			if name = m.KeyString.Str; m.KeyString.Queries != nil {
				name = ""
			}
		case m.KeyQuery != nil:
			c.query(m.KeyQuery, in)
		}
		member := value{}
		if len(name) > 1 && name[0] == '$' {
			member.shape = c.member(v, name[1:])
			c.bound = append(c.bound, boundVariable{name, member})
		} else if name != "" {
			member.shape = c.member(v, name)
		}
		if m.Val != nil {
			c.pattern(m.Val, in, member)
		}
	}
}

// Missing is a place where a program expects something that the document's answer schema does not have.
type Missing struct {
	// Name is the member that is missing, or [] for elements.
	Name string
	// Known are the members that are there; nil if the value is none that has members.
	Known []string
	// Kinds are those of the value if it has no members or elements.
	Kinds jsonscan.Kinds
}

func (c *checker) miss(m Missing) {
	if !slices.ContainsFunc(c.missing, func(other Missing) bool { return other.Name == m.Name }) {
		c.missing = append(c.missing, m)
	}
}

// Check follows the program through the shape of an answer, nil if none is known. It returns the shape of the result, compiled,
// nil if that can't be told, and the names that the answer does not have.
func (p *Program) Check(answer *jsonscan.Shape) (result *jsonscan.Shape, missing []Missing) {
	c := checker{}
	v := c.query(p.query, value{shape: answer})
	if v.shape == nil || v.shape.Kinds == 0 {
		return nil, c.missing
	}
	left := maxShapes
	if result = copyShape(v.shape, &left); left < 0 {
		return nil, c.missing
	}
	result.Compile()
	return result, c.missing
}

// maxShapes is the number of parts that the shape of a result may have: a program can use one part many times.
const maxShapes = 1000

// copyShape returns a shape that shares no part with another, since shapes of documents are in use.
func copyShape(s *jsonscan.Shape, left *int) *jsonscan.Shape {
	if *left--; s == nil || *left < 0 {
		return nil
	}
	out := &jsonscan.Shape{Kinds: s.Kinds, Integer: s.Integer, Items: copyShape(s.Items, left)}
	for i := range s.Properties {
		out.Properties = append(out.Properties, jsonscan.Property{Name: s.Properties[i].Name, Shape: copyShape(s.Properties[i].Shape, left)})
	}
	return out
}

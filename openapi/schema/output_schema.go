package schema

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/tree"
)

// Output returns the loose output schema of an answer with the given schema: types, properties and items, with
// null always allowed and nothing required, so that every answer fits that keeps to the document's types. It is nil
// when nothing can be said, or nothing within the limit. Equal schemas share one Output.
func (c *Converter) Output(schema *tree.Node) *Output {
	n := c.resolve(schema)
	if n.Kind() != tree.Object {
		return nil
	}
	known, ok := c.outputs.Load(n)
	if !ok {
		known, _ = c.outputs.LoadOrStore(n, c.output(n))
	}
	o, _ := known.(*Output)
	return o
}

const (
	maxOutputDepth = 12
	maxLooseSteps  = 20_000 // schemas looked at for one answer: composition can multiply without end
)

// output looks one level deeper each time until the limit is met, and keeps the last result that is within it.
func (c *Converter) output(n *tree.Node) *Output {
	if set, format := writtenTypes(n.Get("type")); set == stringType && (format == "binary" || n.Get("format").Text() == "binary") {
		return nil // not JSON
	}
	var best *Output
	for depth := 1; depth <= maxOutputDepth; depth++ {
		b := looseBuilder{c: c, left: c.limits.MaxOutput, steps: maxLooseSteps}
		shape := b.shape(n, depth, false)
		if shape != nil && shape.Kinds == 0 && len(shape.Properties) > 0 {
			shape.Kinds = jsonscan.Of(jsonscan.Object) // alternatives that list properties and leave out their type
		}
		if b.left < 0 || b.steps < 0 || shape == nil || shape.Kinds == 0 {
			break
		}
		o := &Output{Shape: shape, Wrapped: shape.Kinds != jsonscan.Of(jsonscan.Object)}
		if o.Wrapped {
			shape.Kinds |= jsonscan.Of(jsonscan.Null)
		}
		write := func(nested bool) []byte {
			return c.written(func(dst []byte) []byte { return o.append(dst, nested) })
		}
		schema := write(true)
		if len(schema) > c.limits.MaxOutput {
			schema = write(false) // a level more says more
		}
		if len(schema) > c.limits.MaxOutput {
			break
		}
		o.Schema = json.RawMessage(schema)
		best = o
		if !b.cut {
			break
		}
	}
	if best != nil {
		best.Shape.Compile()
	}
	return best
}

// OutputOf returns the output schema of answers of a shape, nil if nothing can be said of it, or nothing within the default limit.
func OutputOf(shape *jsonscan.Shape) json.RawMessage {
	if shape == nil || shape.Kinds == 0 {
		return nil
	}
	o := &Output{Shape: shape, Wrapped: shape.Kinds != jsonscan.Of(jsonscan.Object)}
	for _, nested := range []bool{true, false} {
		if schema := o.append(nil, nested); len(schema) <= defaultMaxOutput {
			return schema
		}
	}
	return nil
}

// looseBuilder makes the shape of one answer.
type looseBuilder struct {
	c      *Converter
	left   int  // bytes of schema that may still be made
	steps  int  // schemas that may still be looked at
	cut    bool // something lies deeper
	leaves map[leafKey]*jsonscan.Shape
	around []*tree.Node // the schemas that the one being looked at is part of
	here   int          // those from here on apply to the same value
}

type leafKey struct {
	kinds   jsonscan.Kinds
	integer bool
}

// part returns the shape of a property or of items, null included; nil for anything.
func (b *looseBuilder) part(n *tree.Node, depth int) *jsonscan.Shape {
	here := b.here
	b.here = len(b.around)
	defer func() { b.here = here }()
	s := b.shape(n, depth, false)
	if s == nil || s.Kinds == 0 && len(s.Properties) == 0 && s.Items == nil {
		return nil
	}
	if s.Kinds != 0 {
		s.Kinds |= jsonscan.Of(jsonscan.Null)
	}
	if len(s.Properties) > 0 || s.Items != nil {
		return s
	}
	key := leafKey{s.Kinds, s.Integer}
	if known := b.leaves[key]; known != nil {
		return known
	}
	if b.leaves == nil {
		b.leaves = map[leafKey]*jsonscan.Shape{}
	}
	b.leaves[key] = s
	return s
}

// shape returns the shape of a schema down to the given number of levels; nil for anything. branch tells that it is a
// part of another schema in place, so that a type that it leaves out may be the other's.
func (b *looseBuilder) shape(n *tree.Node, depth int, branch bool) *jsonscan.Shape {
	b.steps--
	if b.c.dynamic && n.Get("$dynamicRef") != nil {
		return nil // it depends on the way here
	}
	if n = b.c.resolve(n); n.Kind() != tree.Object || b.left < 0 || b.steps < 0 {
		return nil
	}
	again := false
	for i, outer := range b.around {
		switch {
		case outer != n:
		case i >= b.here:
			return nil // it contains itself in place, and adds nothing
		default:
			depth, again = 0, true // once is enough of a schema that contains itself further down
		}
	}
	b.around = append(b.around, n)
	defer func() { b.around = b.around[:len(b.around)-1] }()
	s := &jsonscan.Shape{}
	s.Kinds, s.Integer = kindsOf(b.ownTypes(n, branch))
	if depth > 0 {
		b.addParts(n, s, depth)
	} else if n.Get("properties").Len() > 0 || n.Get("items") != nil {
		b.cut = b.cut || !again
	}
	b.left -= len(`"type":["",null],`) + 6
	for _, member := range n.Get("allOf").Items() {
		s = both(s, b.shape(member, depth, true))
	}
	for _, word := range []string{"oneOf", "anyOf"} {
		if list := n.Get(word); list.Len() > 0 { // not what extends a base: it adds members, which are free
			s = both(s, b.union(list, depth))
		}
	}
	if b.c.marksNull(n) && s.Kinds != 0 {
		s.Kinds |= jsonscan.Of(jsonscan.Null)
	}
	return s
}

// ownTypes returns the types that a schema itself names, or those of the values that it lists; 0 if it leaves them open.
func (b *looseBuilder) ownTypes(n *tree.Node, branch bool) types {
	set, _ := writtenTypes(n.Get("type"))
	if set == 0 && !branch {
		set = impliedTypes(n)
	}
	if set == 0 {
		for _, v := range n.Get("enum").Items() {
			set |= typeOfValue(v)
		}
		if v := n.Get("const"); v != nil {
			set = typeOfValue(v)
		}
	}
	if set != 0 && b.c.marksNull(n) {
		set |= nullType
	}
	return set
}

// addParts adds the properties and the items of a schema to its shape.
func (b *looseBuilder) addParts(n *tree.Node, s *jsonscan.Shape, depth int) {
	required := map[string]bool{}
	for _, name := range n.Get("required").Items() {
		required[name.Text()] = true
	}
	for name, property := range n.Get("properties").Members() {
		if b.c.hidden(property, Response) || unclean(name) {
			continue
		}
		b.left -= len(name) + len(`"":{},`)
		s.Properties = append(s.Properties, jsonscan.Property{
			Name: strings.Clone(name), Shape: b.part(property, depth-1), // the document's text is not kept alive
			Required: required[name],
		})
	}
	if items := n.Get("items"); items.Kind() == tree.Object && n.Get("prefixItems") == nil {
		b.left -= len(`"items":{},`)
		s.Items = b.part(items, depth-1)
	}
}

// kindsOf translates types; integer tells that numbers must be whole.
func kindsOf(set types) (kinds jsonscan.Kinds, integer bool) {
	for _, t := range []struct {
		is   types
		kind jsonscan.Kind
	}{
		{stringType, jsonscan.String}, {integerType | numberType, jsonscan.Number}, {booleanType, jsonscan.Bool},
		{objectType, jsonscan.Object}, {arrayType, jsonscan.Array}, {nullType, jsonscan.Null},
	} {
		if set&t.is != 0 {
			kinds |= jsonscan.Of(t.kind)
		}
	}
	return kinds, set&integerType != 0 && set&numberType == 0
}

// both returns the shape of values that fit a and b. Where the two disagree nothing is said.
func both(a, b *jsonscan.Shape) *jsonscan.Shape {
	if b == nil {
		return a
	}
	out := &jsonscan.Shape{Kinds: a.Kinds, Integer: a.Integer || b.Integer, Properties: slices.Clip(a.Properties), Items: a.Items}
	switch {
	case out.Kinds == 0:
		out.Kinds = b.Kinds
	case b.Kinds != 0:
		// Null is kept when one side has it: 3.0 documents write "nullable" beside an allOf whose members have it not.
		out.Kinds = a.Kinds&b.Kinds | (a.Kinds|b.Kinds)&jsonscan.Of(jsonscan.Null)
		if a.Kinds&b.Kinds&^jsonscan.Of(jsonscan.Null) == 0 {
			return &jsonscan.Shape{}
		}
	}
	for _, p := range b.Properties {
		i := slices.IndexFunc(out.Properties, func(q jsonscan.Property) bool { return q.Name == p.Name })
		switch {
		case i < 0:
			out.Properties = append(out.Properties, p)
		case out.Properties[i].Shape == nil || p.Required && !out.Properties[i].Required:
			out.Properties = slices.Clone(out.Properties)
			q := &out.Properties[i]
			q.Shape, q.Required = cmp.Or(q.Shape, p.Shape), q.Required || p.Required
		}
	}
	if out.Items == nil {
		out.Items = b.Items
	}
	return out
}

// union returns the shape of values that fit one of several schemas; nil when one of them may be anything.
func (b *looseBuilder) union(list *tree.Node, depth int) *jsonscan.Shape {
	var out *jsonscan.Shape
	for i, branch := range list.Items() {
		s := b.shape(branch, depth, true)
		if i > 0 {
			s = eitherShape(out, s)
		}
		if s == nil {
			return nil
		}
		out = s
	}
	return out
}

// either merges the properties of two alternatives. A property of which one of them does not speak may be anything.
func either(a, b []jsonscan.Property) []jsonscan.Property {
	out := slices.Clone(a)
	for i, p := range out {
		j := slices.IndexFunc(b, func(q jsonscan.Property) bool { return q.Name == p.Name })
		if j < 0 {
			out[i].Shape, out[i].Required = nil, false
		} else {
			out[i].Shape, out[i].Required = eitherShape(p.Shape, b[j].Shape), p.Required && b[j].Required
		}
	}
	for _, p := range b {
		if !slices.ContainsFunc(a, func(q jsonscan.Property) bool { return q.Name == p.Name }) {
			out = append(out, jsonscan.Property{Name: p.Name})
		}
	}
	return out
}

// unruly reports whether a leaves its type open and is not plainly meant to be of objects, as b is.
func unruly(a, b *jsonscan.Shape) bool {
	return a.Kinds == 0 && (len(a.Properties) == 0 || !b.Kinds.Has(jsonscan.Object))
}

// eitherShape returns a shape that everything fits which fits a or b.
func eitherShape(a, b *jsonscan.Shape) *jsonscan.Shape {
	if a == b {
		return a
	}
	if a == nil || b == nil || unruly(a, b) || unruly(b, a) {
		return nil
	}
	out := &jsonscan.Shape{}
	if a.Kinds != 0 && b.Kinds != 0 {
		out.Kinds = a.Kinds | b.Kinds
	}
	numbers := func(s *jsonscan.Shape) bool { return s.Kinds.Has(jsonscan.Number) }
	out.Integer = (!numbers(a) || a.Integer) && (!numbers(b) || b.Integer) && (numbers(a) || numbers(b))
	switch objects := jsonscan.Object; {
	case a.Kinds.Has(objects) && b.Kinds.Has(objects):
		out.Properties = either(a.Properties, b.Properties)
	case a.Kinds.Has(objects):
		out.Properties = a.Properties
	case b.Kinds.Has(objects):
		out.Properties = b.Properties
	}
	switch arrays := jsonscan.Array; {
	case a.Kinds.Has(arrays) && b.Kinds.Has(arrays):
		out.Items = eitherShape(a.Items, b.Items)
	case a.Kinds.Has(arrays):
		out.Items = a.Items
	case b.Kinds.Has(arrays):
		out.Items = b.Items
	}
	return out
}

// append writes the schema of an output. Some clients refuse an object without properties, so the root always has them, and with
// nested every object within.
func (o *Output) append(dst []byte, nested bool) []byte {
	switch {
	case o.Wrapped:
		dst = append(appendShape(append(dst, `{"type":"object","properties":{"result":`...), o.Shape, nested), "}}"...)
	case len(o.Shape.Properties) == 0 && !nested:
		dst = append(dst, `{"type":"object","properties":{}}`...)
	default:
		dst = appendShape(dst, o.Shape, nested)
	}
	return dst
}

// appendShape writes a shape as a JSON Schema that says exactly what jsonscan checks. With empty, objects of which no
// properties are known have none.
func appendShape(dst []byte, s *jsonscan.Shape, empty bool) []byte {
	if s == nil {
		return append(dst, "{}"...)
	}
	dst = append(dst, '{')
	start := len(dst)
	member := func(name string) {
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), name...), `":`...)
	}
	var names []string
	for _, k := range []struct {
		kind jsonscan.Kind
		name string
	}{
		{jsonscan.Object, "object"}, {jsonscan.Array, "array"}, {jsonscan.String, "string"}, {jsonscan.Number, "number"},
		{jsonscan.Bool, "boolean"}, {jsonscan.Null, "null"},
	} {
		if s.Kinds&jsonscan.Of(k.kind) == 0 {
			continue
		}
		if k.kind == jsonscan.Number && s.Integer {
			k.name = "integer"
		}
		names = append(names, k.name)
	}
	switch len(names) {
	case 0:
	case 1:
		member("type")
		dst = append(append(append(dst, '"'), names[0]...), '"')
	default:
		member("type")
		dst = append(append(append(dst, `["`...), strings.Join(names, `","`)...), `"]`...)
	}
	if len(s.Properties) > 0 || empty && s.Kinds.Has(jsonscan.Object) {
		member("properties")
		dst = append(dst, '{')
		for i, p := range s.Properties {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(jsonscan.AppendString(dst, p.Name), ':')
			dst = appendShape(dst, p.Shape, empty)
		}
		dst = append(dst, '}')
	}
	if s.Items != nil {
		member("items")
		dst = appendShape(dst, s.Items, empty)
	}
	return append(dst, '}')
}

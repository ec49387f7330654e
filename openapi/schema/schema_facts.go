package schema

import (
	"bytes"
	"strings"

	"drawbridge/openapi/tree"
)

// schemaFacts is what must be known about a schema before its first keyword is written, because keywords of the older dialects change the
// meaning of their neighbours.
type schemaFacts struct {
	ref      *tree.Node // the reference in the schema
	target   *tree.Node // what it leads to; nil if nothing
	in       *scope     // in which it is applied
	viaAllOf bool       // the reference is written as "allOf: [{$ref: …}]", the way to give it siblings in 3.0

	alone     bool // nothing else is said
	annotated bool // nothing but annotations is said

	types    types  // null included if the schema is nullable
	inferred bool   // types is not written but follows from other keywords
	dropType bool   // "type" is beside a reference where the dialect ignores it, or repeats the target's
	format   string // that the word under "type" implies
	numeric  bool   // of numbers that are also taken as texts: pattern is that of such texts

	addNull  bool // null becomes one of the values of enum
	wrapNull bool // null is an alternative to all that the schema asserts
	noNull   bool // null is not accepted, whatever the schema says

	hidden            *hiddenNames // properties that required must not name
	misplaced         *tree.Node   // enum of an array that is meant for its items
	unreadablePattern bool         // patternProperties has an expression that can't be checked
}

// facts reads a schema object.
func (e *emitter) facts(n *tree.Node, at place) *schemaFacts {
	f := &schemaFacts{hidden: at.hidden}
	e.refer(n, f)
	e.typeFacts(n, at, f)
	composed := e.besideReference(n, f)
	e.nullFacts(n, at, f, composed)
	f.misplaced = misplacedEnum(n.Get("enum"), f.types)
	if set, ok := e.valuesOfOthers(n.Get("enum"), f); ok {
		e.warnf(n.Get("enum"), CodeSchemaType, "none of the values is of type %s; their own types count", strings.Join((f.types&^nullType).names(), " or "))
		f.types = set
	}
	if p := n.Get("patternProperties"); p != nil {
		f.unreadablePattern = !readablePatterns(p)
	}
	if n.Get("required") != nil || n.Get("allOf") != nil {
		f.hidden = e.c.hiddenIn(n, f.hidden)
	}
	return f
}

// besideReference finds out whether a schema says anything but a reference. It reports whether other schemas apply in place.
func (e *emitter) besideReference(n *tree.Node, f *schemaFacts) (composed bool) {
	f.alone, f.annotated = f.target != nil, f.target != nil
	composed = e.c.found[n] != nil
	for name := range n.Members() {
		switch r := ruleOf(name, e.c.dialect); {
		case r == dropped, r == refRule, r == nullRule, r == typeRule && f.dropType, name == "allOf" && f.viaAllOf:
		case r.annotation():
			f.alone = false
		default:
			f.alone, f.annotated = false, false
			composed = composed || r == unionRule || r == allOfRule || r == inPlaceRule
		}
	}
	return composed
}

// nullFacts finds out whether null is one of the values of a schema, and where that is said.
func (e *emitter) nullFacts(n *tree.Node, at place, f *schemaFacts, composed bool) {
	f.noNull = at.extra.refusesNull()
	marked := e.c.marksNull(n)
	nullable := (marked || at.null) && !f.noNull && !(at.extra != nil && at.extra.object)
	if nullable && !(f.target != nil && e.c.acceptsNull(f.target)) {
		f.alone, f.annotated = false, f.annotated && !marked
		f.wrapNull = f.target != nil || composed || n.Get("const") != nil
		f.addNull = !f.wrapNull
	}
	switch written := !f.inferred && hasNull(n.Get("enum")); {
	case f.noNull:
		f.types &^= nullType
	case f.types != 0 && (f.addNull || written):
		f.types |= nullType
	}
}

func hasNull(enum *tree.Node) bool {
	for _, v := range enum.Items() {
		if v.Kind() == tree.Null {
			return true
		}
	}
	return false
}

// misplacedEnum returns the enum of an array if it is meant for the array's items, because none of its values is an array.
func misplacedEnum(enum *tree.Node, set types) *tree.Node {
	if set&^nullType != arrayType || enum.Len() == 0 {
		return nil
	}
	for _, v := range enum.Items() {
		if v.Kind() == tree.Array {
			return nil
		}
	}
	return enum
}

// valuesOfOthers returns the types of the values of an enum if none of them is of the type beside it, so that nothing would
// fit both: "type: boolean, enum: [0, 1]" (sinao).
func (e *emitter) valuesOfOthers(enum *tree.Node, f *schemaFacts) (set types, ok bool) {
	if enum.Kind() != tree.Array || f.types&^nullType == 0 || f.misplaced != nil || f.target != nil {
		return 0, false
	}
	null := false
	for _, v := range enum.Items() {
		own := typeOfValue(v)
		if own == nullType {
			null = true
			continue
		}
		if own&f.types != 0 || own == numberType && f.types&integerType != 0 || !bytes.Equal(literal(v, f.types), v.AppendJSON(nil)) {
			return 0, false
		}
		set |= own
	}
	if set != 0 && (null || f.types&nullType != 0) {
		set |= nullType
	}
	return set, set != 0
}

// refer finds the reference of a schema and what it leads to.
func (e *emitter) refer(n *tree.Node, f *schemaFacts) {
	f.ref = e.c.reference(n)
	if all := n.Get("allOf"); f.ref == nil && all.Len() == 1 && e.c.pureRef(all.At(0)) {
		f.ref, f.viaAllOf = e.c.reference(all.At(0)), true
	}
	if f.ref == nil {
		return
	}
	target, problem := e.c.target(f.ref)
	if e.c.dynamic {
		in := e.c.bind(e.in, n)
		if bound := e.c.dynamicTarget(in, f.ref); bound != nil {
			target, f.in = e.c.follow(bound, in)
		} else {
			f.in = e.c.enter(in, f.ref)
		}
	}
	if target == nil {
		e.warnf(f.ref, CodeSchemaRef, "%s; anything is accepted here", problem)
		f.viaAllOf = false
		return
	}
	f.target = target
}

func (e *emitter) typeFacts(n *tree.Node, at place, f *schemaFacts) {
	t := n.Get("type")
	f.types, f.format = writtenTypes(t)
	if f.types, f.numeric = onlyNumber(n, f.types); f.numeric && t == nil && f.target == nil {
		f.inferred = true
	}
	if f.types&(numberType|integerType) == numberType && formatNamed(n.Get("format").Text()) != nil {
		// The format registry of OpenAPI has the integer formats for numbers, and services read such a number into an integer.
		f.types = f.types&^numberType | integerType
	}
	if t != nil && f.types == 0 && t.Kind() != tree.Null && t.Text() != "any" {
		e.warnf(t, CodeSchemaType, "%s is not a type; anything is accepted", excerpt(t))
	}
	e.reportTypeWords(t)
	if f.types == 0 && f.target == nil && !at.branch {
		f.types = impliedTypes(n)
		f.inferred = f.types != 0
	}
	if f.target != nil && f.types != 0 {
		f.dropType = e.c.dialect != OpenAPI31 && !f.viaAllOf || f.types == e.c.typesOf(f.target)
	}
}

// reportTypeWords reports the words under "type" that JSON Schema doesn't have and that are read as one which it has.
func (e *emitter) reportTypeWords(t *tree.Node) {
	report := func(n *tree.Node) {
		set, format := typeName(n.Text())
		if n.Kind() != tree.String || set == 0 || set.names()[0] == n.Text() || n.Text() == "file" && e.c.dialect == Swagger20 {
			return
		}
		meant := `"` + set.names()[0] + `"`
		if format != "" {
			meant += ` with the format "` + format + `"`
		}
		e.warnf(n, CodeSchemaWord, "%s is not a type of JSON Schema; read as %s", excerpt(n), meant)
	}
	switch t.Kind() {
	case tree.String:
		report(t)
	case tree.Array:
		for _, item := range t.Items() {
			report(item)
		}
	}
}

// writtenTypes reads the value of "type".
func writtenTypes(t *tree.Node) (set types, format string) {
	switch t.Kind() {
	case tree.String:
		return typeName(t.Text())
	case tree.Array:
		for _, item := range t.Items() {
			kind, implied := typeName(item.Text())
			if item.Kind() == tree.Null {
				kind = nullType
			}
			set |= kind
			if implied != "" {
				format = implied
			}
		}
	}
	return set, format
}

// impliedTypes is for schemas that leave out their type, as one in eight documents has them.
func impliedTypes(n *tree.Node) types {
	switch {
	case n.Get("properties").Kind() == tree.Object, n.Get("additionalProperties").Kind() == tree.Object,
		n.Get("patternProperties").Kind() == tree.Object:
		return objectType
	case n.Get("items") != nil, n.Get("prefixItems") != nil:
		return arrayType
	}
	return 0
}

// typesOf returns the types that a schema accepts as far as is plain to see; 0 when it is not. nullable counts.
func (c *Converter) typesOf(n *tree.Node) types {
	if n = c.resolve(n); n.Get("allOf") == nil && n.Get("oneOf") == nil && n.Get("anyOf") == nil && n.Get("enum").Len() <= maxShown {
		return c.typesIn(n, nil)
	}
	known, ok := c.plain.Load(n)
	if !ok {
		known, _ = c.plain.LoadOrStore(n, c.typesIn(n, &composedTypes{known: map[*tree.Node]types{}}))
	}
	set, _ := known.(types)
	return set
}

// composedTypes is what typesIn knows of the schemas that it meets: what was found of those that are composed, 0 of those that are
// still looked at, so that the work does not multiply with the ways to get from one to the other.
type composedTypes struct {
	known map[*tree.Node]types
	steps int
}

// Bounds of one question for types: how many composed schemas, and how many of all, are looked at. Of more, nothing is plain to see.
const (
	maxPlainComposed = 250
	maxPlain         = 20_000
)

// typesIn is typesOf within other schemas; in may be nil for a schema that is not composed.
func (c *Converter) typesIn(n *tree.Node, in *composedTypes) types {
	if n = c.resolve(n); n == nil {
		return 0
	}
	set, _ := writtenTypes(n.Get("type"))
	if set == 0 {
		set = impliedTypes(n)
	}
	if set == 0 && in != nil && (n.Get("allOf") != nil || n.Get("oneOf") != nil || n.Get("anyOf") != nil) {
		if found, ok := in.known[n]; ok {
			return found
		}
		if len(in.known) >= maxPlainComposed {
			return 0
		}
		in.known[n] = 0
		set = c.composedTypes(n, in)
		in.known[n] = set
	}
	if set == 0 {
		for _, v := range n.Get("enum").Items() {
			set |= typeOfValue(v)
		}
	}
	if set != 0 && c.marksNull(n) {
		set |= nullType
	}
	return set
}

func (c *Converter) composedTypes(n *tree.Node, in *composedTypes) types {
	typesIn := func(s *tree.Node) types {
		c.step()
		if in.steps++; in.steps > maxPlain {
			return 0
		}
		return c.typesIn(s, in)
	}
	for _, s := range n.Get("allOf").Items() {
		if set := typesIn(s); set != 0 {
			return set
		}
	}
	for _, word := range []string{"oneOf", "anyOf"} {
		var set types
		for _, s := range n.Get(word).Items() {
			t := typesIn(s)
			if t == 0 {
				set = 0
				break
			}
			set |= t
		}
		if set != 0 {
			return set
		}
	}
	return 0
}

func typeOfValue(v *tree.Node) types {
	switch v.Kind() {
	case tree.Null:
		return nullType
	case tree.Bool:
		return booleanType
	case tree.Number:
		return numberType
	case tree.String:
		return stringType
	case tree.Array:
		return arrayType
	case tree.Object:
		return objectType
	}
	return 0
}

func (c *Converter) marksNull(n *tree.Node) bool {
	return n.Get("nullable").Bool() || n.Get("x-nullable").Bool()
}

// acceptsNull reports whether null is plainly one of the values of a schema.
func (c *Converter) acceptsNull(n *tree.Node) bool { return c.typesOf(n)&nullType != 0 }

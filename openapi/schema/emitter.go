package schema

import (
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/tree"
)

// emitter writes one fragment.
type emitter struct {
	c      *Converter
	self   *tree.Node // the schema that the fragment is of; nil for the root of a tool's schema
	cut    cut
	in     *scope            // of $dynamicAnchor
	rename map[string]string // wire name → argument, for the properties of the tool's root value

	out      []byte
	holes    []hole
	warnings []nodeWarning
	shown    []shownValue // of schemas that are not written to their end
	depth    int
	steps    int        // schemas and names that were written
	merge    *tree.Node // the schema of a merge patch that begins within the fragment; nil: none

	patternless *tree.Node // the schema whose pattern was left out last
}

// place is the context of a schema: what surrounds it in the document.
type place struct {
	name    string       // of the property whose schema it is
	inPlace bool         // it applies to the same value as the fragment's schema
	branch  bool         // it is a member of allOf, anyOf and their like
	all     bool         // of allOf
	union   bool         // of anyOf or oneOf
	sole    bool         // it is an alternative, and beside the alternatives no properties are declared
	base    bool         // oneOf and anyOf are left out
	kept    bool         // properties that are readOnly stay, see keeps
	merge   bool         // it is that of a merge patch, see ofMember
	null    bool         // null is one of the values, since it removes the member
	given   *tree.Node   // an example of the value, in one of the object that the schema is of a property of
	hidden  *hiddenNames // names that required must not list: they are readOnly in another member of the allOf
	extra   *extra
}

// In a merge patch null is no value of a member but removes it (RFC 7396 section 2), whatever the schema says, which is most often
// that of the resource. So null is one of the values of each member of such a body, at any depth and in maps and lists of objects too.
// Elements of lists are values as ever: a patch replaces a list as a whole.

// ofMember returns the place of the schema of a member of an object at the given place.
func (p place) ofMember(name string) place { return place{name: name, merge: p.merge, null: p.merge} }

// ofItem returns the place of the schema of an element of a list at the given place.
func (p place) ofItem() place { return place{merge: p.merge} }

// extra is what the owner of a schema adds to it.
type extra struct {
	description string                      // put before the schema's own
	wire        string                      // the name in the request, if that is another
	note        string                      // ends the description
	deprecated  bool                        // as if the schema said so
	example     *tree.Node                  // wins over the schema's own, if it fits
	sends       func([]byte) ([]byte, bool) // of examples and defaults; nil: all can be sent
	values      *tree.Node                  // enum that was written one level too high
	object      bool                        // the type is object, whatever the schema says
	closing     string                      // keyword that is false, "" for none
	dialect     bool                        // $schema is said
	undeclared  []string                    // what the root requires and nothing in it declares
	demands     Demands                     // on top of what the schema says
}

// nodeWarning is a warning that is reported once, however many tools have the schema.
type nodeWarning struct {
	node *tree.Node
	tree.Warning
}

func (e *emitter) warnf(n *tree.Node, code, format string, args ...any) {
	e.warnings = append(e.warnings, nodeWarning{n, warning(n, code, format, args...)})
}

func (e *emitter) report() {
	for _, w := range e.warnings {
		e.c.tell(w)
	}
}

// member writes a member's name, and the comma before it. Names of keywords need no escapes.
func (e *emitter) member(name string) {
	if e.out[len(e.out)-1] != '{' {
		e.out = append(e.out, ',')
	}
	e.out = append(e.out, '"')
	e.out = append(e.out, name...)
	e.out = append(e.out, `":`...)
}

// textMember writes a name that may be anything.
func (e *emitter) textMember(name string) {
	if e.out[len(e.out)-1] != '{' {
		e.out = append(e.out, ',')
	}
	e.out = append(jsonscan.AppendString(e.out, name), ':')
}

// step is taken for each schema, and each name where there may be many.
func (e *emitter) step() {
	if e.steps++; e.steps%32 == 0 {
		e.c.limits.Pace.Work(64)
	}
}

func (e *emitter) raw(s string) { e.out = append(e.out, s...) }

// schema writes a schema. A nil node accepts everything.
func (e *emitter) schema(n *tree.Node, at place) {
	e.step()
	if n != nil && n == e.merge {
		at.merge = true
	}
	switch n.Kind() {
	case tree.Object:
	case tree.Invalid:
		e.open(at)
		return
	case tree.Bool:
		if n.Bool() {
			e.open(at)
		} else {
			e.raw(`{"not":{}}`)
		}
		return
	default:
		e.warnf(n, CodeSchemaKind, "a schema is expected here, not a value of type %s; anything is accepted", n.Kind())
		e.open(at)
		return
	}
	if whole := !at.branch && !at.inPlace || at.sole; whole && !at.kept {
		at.kept = e.c.keeps(n)
	}
	e.depth++
	defer func() { e.depth-- }()
	if e.depth > int(e.cut.depth) {
		e.skeleton(n, at)
		return
	}
	f := e.facts(n, at)
	switch {
	case f.target == nil:
	case f.annotated && !at.extra.forces() && leaf(e.c, f.target):
		e.inline(n, f.target, at)
		return
	case f.alone && at.extra.silent():
		at.all = at.all || f.viaAllOf
		e.hole(f.target, f.in, at, true)
		return
	}
	start, holes, shown := len(e.out), len(e.holes), len(e.shown)
	e.raw("{")
	if f.wrapNull {
		e.keywords(n, at, f, true, false)
		e.member("anyOf")
		e.raw("[{")
		e.keywords(n, at, f, false, true)
		e.raw(`},{"type":"null"}]`)
	} else {
		e.keywords(n, at, f, true, true)
	}
	e.raw("}")
	e.verify(start, holes, shown)
}

// silent reports whether the owner adds nothing.
func (x *extra) silent() bool {
	return x == nil || x.description == "" && x.note == "" && !x.deprecated && x.example == nil && x.values == nil && !x.object && x.closing == "" && !x.dialect && x.demands == (Demands{})
}

// own returns the owner's example, which wins over that of the schema (OAS 3.0.4 "Parameter Object" and "Media Type Object",
// example); nil if it has none, or none is shown.
func (x *extra) own(shown bool) *tree.Node {
	if x == nil || !shown {
		return nil
	}
	return x.example
}

// accepts reports whether an example or default can be sent, and how it is shown as an example.
func (x *extra) accepts(value []byte) (shown []byte, ok bool) {
	if x == nil || x.sends == nil {
		return value, true
	}
	return x.sends(value)
}

func (x *extra) forces() bool { return x != nil && (x.object || x.values != nil) }

// open writes a schema that accepts everything, with what its owner says about it.
func (e *emitter) open(at place) {
	e.raw("{")
	if at.extra != nil {
		e.keywords(nil, at, &schemaFacts{}, true, true)
	}
	e.raw("}")
}

// skeleton writes the type of a schema and nothing else.
func (e *emitter) skeleton(n *tree.Node, at place) {
	var set types
	switch resolved := e.c.resolve(n); {
	case at.branch && resolved == n: // what it leaves out may be said by its neighbours
		if set, _ = writtenTypes(n.Get("type")); set != 0 && e.c.marksNull(n) {
			set |= nullType
		}
	default:
		n = resolved
		set = e.c.typesOf(n)
	}
	e.raw("{")
	if at.extra != nil && at.extra.object {
		set = objectType
	}
	if at.extra.refusesNull() {
		set &^= nullType
	} else if at.null && set != 0 {
		set |= nullType
	}
	if set != 0 {
		e.typeKeyword(set)
	}
	if set&arrayType != 0 {
		e.member("items")
		e.raw("{}") // some clients refuse an array that does not say of what
	}
	if set&objectType != 0 {
		e.member("properties")
		e.raw("{}") // and an object without properties
	}
	if e.depth <= int(e.cut.text) {
		e.description(n, n.Get("description").Text(), at)
	}
	if at.extra != nil {
		e.demands(nil, at.extra.demands, set, set != 0)
	}
	e.raw("}")
}

// hole leaves a place for a reference. The last two levels of a cut schema refer to nothing: what would be referred to
// would be cut down to its type anyway.
func (e *emitter) hole(target *tree.Node, in *scope, at place, whole bool) {
	if !whole {
		e.member("$ref")
	}
	base := at.base || (at.all || !whole) && e.self != nil && e.c.lists(target, e.self)
	e.holes = append(e.holes, hole{
		at: len(e.out), node: target, base: base, whole: whole, inPlace: at.inPlace, all: at.all || !whole, union: at.union,
		renamed: at.inPlace && len(e.rename) > 0, kept: at.kept, merge: at.merge, in: in, depth: e.depth - 1,
	})
}

// inline writes a small schema instead of a reference to it; annotations beside the reference win.
func (e *emitter) inline(ref, target *tree.Node, at place) {
	x := extra{}
	if at.extra != nil {
		x = *at.extra
	}
	if x.description == "" {
		x.description = ref.Get("description").Text()
	}
	x.deprecated = x.deprecated || ref.Get("deprecated").Bool()
	if x.example == nil {
		x.example = ref.Get("example")
		if list := ref.Get("examples"); x.example == nil && list.Kind() == tree.Array && ruleOf("examples", e.c.dialect) == examplesRule {
			x.example = list.At(0)
		}
	}
	at.extra = &x
	merged := target
	if ref.Get("default") != nil || ref.Get("title") != nil {
		merged = tree.Copy(target)
		for _, word := range []string{"default", "title"} {
			if v := ref.Get(word); v != nil {
				merged.Set(word, v)
			}
		}
	}
	e.depth--
	e.schema(merged, at)
	e.depth++
}

// leaf reports whether a schema is small and holds no other, so that it is better repeated than referred to.
func leaf(c *Converter, n *tree.Node) bool {
	if n.Kind() != tree.Object || n.Get("enum").Len() > 12 || len(n.Get("description").Text()) > 200 ||
		len(n.Get("pattern").Text()) > 100 || n.Len() > 16 {
		return false
	}
	for name, v := range n.Members() {
		r := ruleOf(name, c.dialect)
		if r.holdsSchemas() || r == refRule {
			return false
		}
		if (r == defaultRule || r == exampleRule || r == examplesRule || r == constRule) && v.Len() > 0 {
			return false
		}
	}
	return true
}

// keywords writes the members of a schema: what its author wrote, in that order, and then what its owner or the clients want to
// have in it besides. It writes the annotations, the assertions or both.
func (e *emitter) keywords(n *tree.Node, at place, f *schemaFacts, annotations, assertions bool) {
	if x := at.extra; x != nil && annotations && x.dialect {
		e.member("$schema")
		e.raw(`"` + dialect2020 + `"`)
	}
	if assertions {
		e.addType(at, f)
	}
	texts := e.depth <= int(e.cut.text) && annotations
	described, exampled := e.writtenKeywords(n, at, f, texts, assertions)
	if texts {
		e.addAnnotations(n, at, f, described, exampled)
	}
	if assertions {
		e.addAssertions(n, at, f)
	}
}

// writtenKeywords writes the keywords that the document has. It reports whether a description and an example were among them.
func (e *emitter) writtenKeywords(n *tree.Node, at place, f *schemaFacts, annotations, assertions bool) (described, exampled bool) {
	for name, v := range n.Members() {
		r := ruleOf(name, e.c.dialect)
		switch {
		case r == dropped, at.extra.overrides(name, v):
			continue
		case r.annotation() && !annotations, !r.annotation() && !assertions:
			continue
		}
		switch r {
		case descriptionRule:
			described = true
			e.description(n, v.Text(), at)
		case exampleRule, examplesRule:
			if !exampled {
				exampled = e.examples(v, r, f.types, at.extra.own(annotations), at.extra)
			}
		default:
			e.keyword(n, name, v, r, at, f)
		}
	}
	return described, exampled
}

// addType writes the type that the owner of a schema asks for, or the one that its other keywords imply.
func (e *emitter) addType(at place, f *schemaFacts) {
	switch {
	case at.extra != nil && at.extra.object:
		e.typeKeyword(objectType)
	case f.inferred:
		e.typeKeyword(f.types)
	}
}

// addAnnotations writes what the owner of a schema says about it, unless it was written with the schema's own keywords.
func (e *emitter) addAnnotations(n *tree.Node, at place, f *schemaFacts, described, exampled bool) {
	if !described {
		e.description(n, "", at)
	}
	x := at.extra
	if x == nil {
		return
	}
	if x.deprecated && !n.Get("deprecated").Bool() {
		e.member("deprecated")
		e.raw("true")
	}
	if x.example != nil && !exampled {
		e.examples(nil, exampleRule, f.types, x.example, x)
	}
}

// addAssertions writes the assertions that the schema itself does not have: the alternatives of a base, what clients expect
// of every array and object, and what the schema's owner adds.
func (e *emitter) addAssertions(n *tree.Node, at place, f *schemaFacts) {
	if found := e.c.found[n]; found != nil {
		e.keyword(n, "anyOf", found, unionRule, at, f)
	}
	x := at.extra
	if x != nil && x.values != nil && n.Get("enum") == nil {
		e.values(x.values, f)
	}
	if !f.dropType && f.types&arrayType != 0 && n.Get("items") == nil && n.Get("prefixItems") == nil && n.Get("unevaluatedItems") == nil {
		e.items(n, nil, at, f) // some clients refuse an array that does not say of what
	}
	if n.Get("properties").Kind() != tree.Object {
		e.addProperties(n, at, f)
	}
	if x == nil {
		return
	}
	e.demands(n, x.demands, f.types, f.types != 0 && !f.dropType)
	if x.closing != "" {
		e.member(x.closing)
		e.raw("false")
	}
}

// addProperties writes "properties" for a schema that has none: with what it requires and does not declare, or empty if it is
// an object. Some clients refuse an object without them, and every other tool of the list with it.
func (e *emitter) addProperties(n *tree.Node, at place, f *schemaFacts) {
	object := n.Kind() == tree.Object && (at.extra != nil && at.extra.object || f.types&objectType != 0 && !f.dropType)
	names := e.undeclared(n, at, f)
	if len(names) == 0 && !object {
		return
	}
	e.member("properties")
	e.raw("{")
	e.anything(n, names, at)
	e.raw("}")
}

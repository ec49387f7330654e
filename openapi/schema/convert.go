package schema

import (
	"strings"

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
	steps    int // schemas and names that were written
}

// place is where a schema stands.
type place struct {
	name    string          // of the property whose schema it is
	inPlace bool            // it applies to the same value as the fragment's schema
	branch  bool            // it is a member of allOf, anyOf and their like
	all     bool            // of allOf
	union   bool            // of anyOf or oneOf
	sole    bool            // it is an alternative, and beside the alternatives no properties are declared
	base    bool            // oneOf and anyOf are left out
	kept    bool            // properties that are readOnly stay, see keeps
	hidden  map[string]bool // names that required must not list: they are readOnly in another member of the allOf
	extra   *extra
}

// extra is what the owner of a schema adds to it.
type extra struct {
	description string                      // stands before the schema's own
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
		e.c.limits.Pace.Step()
	}
}

func (e *emitter) raw(s string) { e.out = append(e.out, s...) }

// schema writes a schema. A nil node accepts everything.
func (e *emitter) schema(n *tree.Node, at place) {
	e.step()
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

// silent tells whether the owner says nothing.
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

// accepts tells whether an example or default can be sent, and how it is shown as an example.
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
		renamed: at.inPlace && len(e.rename) > 0, kept: at.kept, in: in, depth: e.depth - 1,
	})
}

// inline writes a small schema in the place of a reference to it; annotations beside the reference win.
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

// leaf tells whether a schema is small and holds no other, so that it is better repeated than referred to.
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

// keywords writes the members of a schema, in the author's order.
func (e *emitter) keywords(n *tree.Node, at place, f *schemaFacts, annotations, assertions bool) {
	texts := e.depth <= int(e.cut.text) && annotations
	if x := at.extra; x != nil && annotations && x.dialect {
		e.member("$schema")
		e.raw(`"` + dialect2020 + `"`)
	}
	if x := at.extra; x != nil && assertions && x.object {
		e.typeKeyword(objectType)
	} else if assertions && f.inferred {
		e.typeKeyword(f.types)
	}
	described, exampled := false, false
	for name, v := range n.Members() {
		r := ruleOf(name, e.c.dialect)
		if at.extra.overrides(name, v) {
			continue
		}
		if r == dropped || r.annotation() && !texts && r != formatRule || r.annotation() && !annotations ||
			!r.annotation() && !assertions {
			continue
		}
		switch r {
		case descriptionRule:
			described = true
			e.description(n, v.Text(), at)
		case exampleRule, examplesRule:
			if !exampled {
				exampled = e.examples(v, r, f.types, at.extra.own(texts), at.extra)
			}
		default:
			e.keyword(n, name, v, r, at, f)
		}
	}
	if texts && !described {
		e.description(n, "", at)
	}
	if x := at.extra; x != nil && texts {
		if x.deprecated && !n.Get("deprecated").Bool() {
			e.member("deprecated")
			e.raw("true")
		}
		if x.example != nil && !exampled {
			e.examples(nil, exampleRule, f.types, x.example, x)
		}
	}
	if found := e.c.found[n]; found != nil && assertions {
		e.keyword(n, "anyOf", found, unionRule, at, f)
	}
	if x := at.extra; x != nil && assertions && x.values != nil && n.Get("enum") == nil {
		e.values(x.values, f)
	}
	if assertions && !f.dropType && f.types&arrayType != 0 && n.Get("items") == nil && n.Get("prefixItems") == nil && n.Get("unevaluatedItems") == nil {
		e.items(n, nil, f) // some clients refuse an array that does not say of what
	}
	if assertions && n.Get("properties").Kind() != tree.Object {
		object := at.extra != nil && at.extra.object || f.types&objectType != 0 && !f.dropType
		if names := e.undeclared(n, at, f); len(names) > 0 || object && n.Kind() == tree.Object {
			e.member("properties") // some clients refuse an object without them, and every other tool of the list with it
			e.raw("{")
			e.anything(n, names, at)
			e.raw("}")
		}
	}
	if x := at.extra; x != nil && assertions {
		e.demands(n, x.demands, f.types, f.types != 0 && !f.dropType)
	}
	if x := at.extra; x != nil && assertions && x.closing != "" {
		e.member(x.closing)
		e.raw("false")
	}
}

// keyword writes one keyword after its rule.
func (e *emitter) keyword(n *tree.Node, name string, v *tree.Node, r rule, at place, f *schemaFacts) {
	switch r {
	case nullRule: // part of type, enum or the alternative to all the rest
	case refRule:
		if f.target != nil && v == f.ref {
			e.hole(f.target, f.in, at, false)
		}
	case typeRule:
		if !f.inferred && f.types != 0 && !(at.extra != nil && at.extra.object) && !f.dropType {
			e.typeKeyword(f.types)
			if f.format != "" && n.Get("format") == nil {
				e.member("format")
				e.raw(`"` + f.format + `"`)
			}
		}
	case titleRule:
		if at.said(n.Get("description").Text()) == "" && (at.extra == nil || at.said(at.extra.description) == "") && !sameWords(v.Text(), at.name) {
			e.text(name, v, maxTitle)
		}
	case formatRule:
		if v.Text() != "" {
			e.text(name, v, maxFormat)
		}
	case mediaRule:
		e.text(name, v, maxFormat)
	case deprecatedRule:
		if v.Bool() {
			e.member(name)
			e.raw("true")
		}
	case defaultRule:
		if _, ok := at.extra.accepts(literal(v, f.types)); ok {
			e.value(name, v, f)
		}
	case constRule:
		e.value(name, v, f)
	case valuesRule:
		if f.misplaced == nil {
			e.values(v, f)
		}
	case exclusiveRule:
		if v.Kind() != tree.Bool {
			e.number(name, v, false)
		}
	case numberRule:
		exclusive := "exclusive" + strings.ToUpper(name[:1]) + name[1:]
		if n.Get(exclusive).Bool() {
			name = exclusive
		}
		e.number(name, v, false)
	case stepRule:
		e.number(name, v, true)
	case countRule:
		e.count(name, v)
	case flagRule:
		switch {
		case v.Bool():
			e.member(name)
			e.raw("true")
		case v.Kind() != tree.Bool:
			e.refuse(v, name)
		}
	case patternRule:
		e.pattern(v)
	case namesRule:
		e.required(v, at, f)
	case needsRule:
		e.dependentRequired(v, at)
	default:
		e.applicator(n, name, v, r, at, f)
	}
}

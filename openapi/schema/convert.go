package schema

import (
	"fmt"
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/tree"
)

// emitter writes one fragment.
type emitter struct {
	c      *Converter
	self   *tree.Node // the schema that the fragment is of; nil for the root of a tool's schema
	cut    cut
	rename map[string]string // wire name → argument, for the properties of the tool's root value

	out      []byte
	holes    []hole
	warnings []tree.Warning
	depth    int
}

// place is where a schema stands.
type place struct {
	name    string          // of the property whose schema it is
	inPlace bool            // it applies to the same value as the fragment's schema
	branch  bool            // it is a member of allOf, anyOf and their like
	all     bool            // of allOf
	base    bool            // oneOf and anyOf are left out
	hidden  map[string]bool // names that required must not list: they are readOnly in another member of the allOf
	extra   *extra
}

// extra is what the owner of a schema adds to it.
type extra struct {
	description string     // wins over the schema's own
	note        string     // ends the description
	deprecated  bool       // as if the schema said so
	example     *tree.Node // if the schema has none
	values      *tree.Node // enum that was written one level too high
	object      bool       // the type is object, whatever the schema says
}

func (e *emitter) warnf(n *tree.Node, code, format string, args ...any) {
	e.warnings = append(e.warnings, warning(n, code, format, args...))
}

func (e *emitter) report() {
	for _, w := range e.warnings {
		e.c.warn(w)
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

func (e *emitter) raw(s string) { e.out = append(e.out, s...) }

// schema writes a schema. A nil node accepts everything.
func (e *emitter) schema(n *tree.Node, at place) {
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
	case f.alone && at.extra == nil:
		at.all = at.all || f.viaAllOf
		e.hole(f.target, at, true)
		return
	}
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
	if n = e.c.resolve(n); n != nil {
		set = e.c.typesOf(n)
	}
	e.raw("{")
	if at.extra != nil && at.extra.object {
		set = objectType
	}
	if set != 0 {
		e.typeKeyword(set)
	}
	if e.depth <= int(e.cut.text) {
		e.description(n.Get("description").Text(), at)
	}
	e.raw("}")
}

// hole leaves a place for a reference. The last two levels of a cut schema refer to nothing: what would be referred to
// would be cut down to its type anyway.
func (e *emitter) hole(target *tree.Node, at place, whole bool) {
	if !whole {
		e.member("$ref")
	}
	base := at.base || at.all && e.listsSelf(target)
	e.holes = append(e.holes, hole{
		at: len(e.out), node: target, base: base, whole: whole, inPlace: at.inPlace, all: at.all,
		renamed: at.inPlace && len(e.rename) > 0, depth: e.depth - 1,
	})
}

// listsSelf tells whether a schema lists the one that is being written as one of its alternatives. A child of a
// discriminator does "allOf: [parent]" to take over the parent's properties (OAS 3.0.4, discriminator object), not to
// be one of the parent's children again.
func (e *emitter) listsSelf(parent *tree.Node) bool {
	if e.self == nil {
		return false
	}
	for _, union := range []string{"oneOf", "anyOf"} {
		for _, branch := range parent.Get(union).Items() {
			if ref := e.c.reference(branch); ref != nil {
				if t, _ := e.c.target(ref); t == e.self {
					return true
				}
			}
		}
	}
	return false
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
	if x := at.extra; x != nil && assertions && x.object {
		e.typeKeyword(objectType)
	} else if assertions && f.inferred {
		e.typeKeyword(f.types)
	}
	described, exampled := false, false
	for name, v := range n.Members() {
		r := ruleOf(name, e.c.dialect)
		if r == dropped || r.annotation() && !texts && r != formatRule || r.annotation() && !annotations ||
			!r.annotation() && !assertions {
			continue
		}
		switch r {
		case descriptionRule:
			described = true
			e.description(v.Text(), at)
		case exampleRule, examplesRule:
			if !exampled {
				exampled = e.examples(v, r)
			}
		default:
			e.keyword(n, name, v, r, at, f)
		}
	}
	if x := at.extra; x != nil && texts {
		if !described {
			e.description("", at)
		}
		if x.deprecated && !n.Get("deprecated").Bool() {
			e.member("deprecated")
			e.raw("true")
		}
		if x.example != nil && !exampled {
			e.examples(x.example, exampleRule)
		}
	}
	if x := at.extra; x != nil && assertions && x.values != nil && n.Get("enum") == nil {
		e.values(x.values, f)
	}
	if assertions && !f.dropType && f.types&arrayType != 0 && n.Get("items") == nil && n.Get("prefixItems") == nil {
		e.items(n, nil, f) // some clients refuse an array that does not say of what
	}
}

// keyword writes one keyword after its rule.
func (e *emitter) keyword(n *tree.Node, name string, v *tree.Node, r rule, at place, f *schemaFacts) {
	switch r {
	case nullRule: // part of type, enum or the alternative to all the rest
	case refRule:
		if f.target != nil && v == f.ref {
			e.hole(f.target, at, false)
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
		if n.Get("description") == nil && (at.extra == nil || at.extra.description == "") && !sameWords(v.Text(), at.name) {
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
		e.value(name, v, f)
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
		e.required(n, v, at, f)
	case needsRule:
		e.dependentRequired(v, at)
	default:
		e.applicator(n, name, v, r, at, f)
	}
}

// applicator writes a keyword that holds schemas.
func (e *emitter) applicator(n *tree.Node, name string, v *tree.Node, r rule, at place, f *schemaFacts) {
	inner := place{inPlace: at.inPlace, branch: true, hidden: f.hidden}
	switch r {
	case propertiesRule:
		e.properties(v, at)
	case patternsRule:
		e.patternProperties(v, f)
	case closedRule:
		switch {
		case v.Kind() == tree.Bool && (name != "additionalProperties" || !f.unreadablePattern):
			e.member(name)
			e.raw(v.Text())
		case v.Kind() == tree.Object && !f.unreadablePattern:
			e.member(name)
			e.schema(v, place{})
		case v.Kind() != tree.Object && v.Kind() != tree.Bool:
			e.refuse(v, name)
		}
	case itemsRule:
		e.items(n, v, f)
	case tupleRule:
		if v.Kind() != tree.Array {
			e.refuse(v, name)
		} else if v.Len() > 0 {
			e.member(name)
			e.list(v, place{})
		}
	case innerRule:
		e.member(name)
		e.schema(v, place{})
	case inPlaceRule:
		if name != "not" && n.Get("if") == nil {
			return
		}
		e.member(name)
		e.schema(v, inner)
	case allOfRule, unionRule:
		if r == unionRule && at.base {
			return
		}
		switch {
		case v.Kind() != tree.Array:
			e.refuse(v, name)
		case v.Len() == 0:
		case r == allOfRule && f.viaAllOf:
			e.hole(f.target, place{inPlace: at.inPlace, all: true}, false)
		default:
			if name == "oneOf" && n.Get("anyOf") == nil && !f.wrapNull && e.overlap(v) {
				e.warnf(v, CodeSchemaOneOf, "some values fit more than one of these alternatives; anyOf is used instead of oneOf")
				name = "anyOf"
			}
			inner.all = r == allOfRule
			e.member(name)
			e.list(v, inner)
		}
	case dependsRule:
		if v.Kind() != tree.Object {
			e.refuse(v, name)
			return
		}
		e.member(name)
		e.raw("{")
		for property, s := range v.Members() {
			e.textMember(e.argument(property, at))
			e.schema(s, inner)
		}
		e.raw("}")
	default:
		panic(fmt.Sprintf("schema: keyword %q has a rule without code", name))
	}
}

func (e *emitter) list(v *tree.Node, at place) {
	e.raw("[")
	for i, s := range v.Items() {
		if i > 0 {
			e.raw(",")
		}
		e.schema(s, at)
	}
	e.raw("]")
}

// argument returns the name under which a property of the root value is known to the model.
func (e *emitter) argument(property string, at place) string {
	if to, ok := e.rename[property]; ok && at.inPlace {
		return to
	}
	return property
}

func (e *emitter) properties(v *tree.Node, at place) {
	if v.Kind() != tree.Object {
		e.refuse(v, "properties")
		return
	}
	e.member("properties")
	e.raw("{")
	for name, s := range v.Members() {
		if e.c.hidden(s, Request) {
			continue
		}
		if unclean(name) {
			e.warnf(s, CodeSchemaText, "the property's name %q holds hidden characters; the property is left out", name)
			continue
		}
		argument := e.argument(name, at)
		inner := place{name: name}
		if argument != name {
			inner.extra = &extra{note: sentAs(name, "")}
		}
		e.textMember(argument)
		e.schema(s, inner)
	}
	e.raw("}")
}

// sentAs tells the model what an argument is called in the request; the documentation that it may know speaks of that.
func sentAs(wire, in string) string {
	what := ""
	switch in {
	case "query", "header", "path":
		what = in + " parameter "
	case "cookie":
		what = "cookie "
	}
	return fmt.Sprintf("Sent as %s%q.", what, Clean(wire, maxTitle))
}

func (e *emitter) patternProperties(v *tree.Node, f *schemaFacts) {
	if v.Kind() != tree.Object {
		e.refuse(v, "patternProperties")
		return
	}
	if f.unreadablePattern {
		e.warnf(v, CodeSchemaPattern, "not all of these regular expressions can be checked; patternProperties is left out")
		return
	}
	e.member("patternProperties")
	e.raw("{")
	seen := map[string]bool{}
	for text, s := range v.Members() {
		p, _ := parsePattern(text)
		if seen[p.js] {
			continue
		}
		seen[p.js] = true
		e.textMember(p.js)
		e.schema(s, place{})
	}
	e.raw("}")
}

// readablePatterns tells whether all names of a patternProperties object are expressions that both sides understand.
// If one is not, nothing can be said of the properties that have no name.
func readablePatterns(v *tree.Node) bool {
	for text := range v.Members() {
		if p, err := parsePattern(text); err != nil || p.re2 == "" && text != "" || unclean(text) {
			return false
		}
	}
	return true
}

func (e *emitter) items(n, v *tree.Node, f *schemaFacts) {
	inner := place{}
	if f.misplaced != nil {
		inner.extra = &extra{values: f.misplaced}
	}
	switch {
	case v.Kind() == tree.Array && v.Len() == 1:
		v = v.At(0)
	case v.Kind() == tree.Array && v.Len() > 1:
		if n.Get("prefixItems") == nil {
			e.member("prefixItems")
			e.list(v, place{})
		}
		return
	case v.Kind() == tree.Array:
		v = nil
	}
	e.member("items")
	e.schema(v, inner)
}

func (e *emitter) required(n, v *tree.Node, at place, f *schemaFacts) {
	if v.Kind() != tree.Array {
		if v.Kind() != tree.Bool { // a parameter's own "required", or one that was lifted into the parent
			e.refuse(v, "required")
		}
		return
	}
	var names []string
	for _, item := range v.Items() {
		name := item.Text()
		if item.Kind() != tree.String || f.hidden[name] || unclean(name) {
			continue
		}
		if name = e.argument(name, at); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		e.member("required")
		e.names(names)
	}
}

func (e *emitter) names(names []string) {
	e.raw("[")
	for i, name := range names {
		if i > 0 {
			e.raw(",")
		}
		e.out = jsonscan.AppendString(e.out, name)
	}
	e.raw("]")
}

func (e *emitter) dependentRequired(v *tree.Node, at place) {
	if v.Kind() != tree.Object {
		e.refuse(v, "dependentRequired")
		return
	}
	e.member("dependentRequired")
	e.raw("{")
	for name, list := range v.Members() {
		var names []string
		for _, item := range list.Items() {
			if s := e.argument(item.Text(), at); item.Kind() == tree.String && !slices.Contains(names, s) {
				names = append(names, s)
			}
		}
		e.textMember(e.argument(name, at))
		e.names(names)
	}
	e.raw("}")
}

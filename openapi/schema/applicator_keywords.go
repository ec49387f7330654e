package schema

import (
	"fmt"
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/schema/ecmaregexp"
	"drawbridge/openapi/tree"
)

// applicator writes a keyword that holds schemas.
func (e *emitter) applicator(n *tree.Node, name string, v *tree.Node, r rule, at place, f *schemaFacts) {
	switch r {
	case propertiesRule:
		e.properties(n, v, at, f)
	case patternsRule:
		e.patternProperties(v, at, f)
	case closedRule:
		e.closed(name, v, at, f)
	case itemsRule:
		e.items(n, v, at, f)
	case tupleRule:
		e.prefixItems(name, v, at)
	case innerRule:
		if name == "contains" && n.Get("maxContains") != nil && e.cut.depth != noLimit {
			return
		}
		e.member(name)
		e.schema(v, place{})
	case inPlaceRule:
		e.inPlace(n, name, v, at, f)
	case allOfRule:
		e.allOf(name, v, at, f)
	case unionRule:
		e.union(n, name, v, at, f)
	case dependsRule:
		e.dependentSchemas(name, v, at, f)
	default:
		panic(fmt.Sprintf("schema: keyword %q has a rule without code", name))
	}
}

// branchOf is the place of a schema that applies to the same value as the one at the given place, beside its other keywords.
func branchOf(at place, f *schemaFacts) place {
	return place{inPlace: at.inPlace, branch: true, hidden: f.hidden, kept: at.kept, merge: at.merge}
}

// closed writes what additionalProperties and unevaluated… say of the members and items that nothing else speaks of.
func (e *emitter) closed(name string, v *tree.Node, at place, f *schemaFacts) {
	additional := name == "additionalProperties"
	switch {
	case !additional && e.cut.depth != noLimit: // what evaluates the rest may be cut
	case v.Kind() == tree.Bool && (!additional || !f.unreadablePattern):
		e.member(name)
		e.raw(v.Text())
	case v.Kind() == tree.Object && !f.unreadablePattern:
		inner := at.ofMember("")
		if name == "unevaluatedItems" {
			inner = at.ofItem()
		}
		e.member(name)
		e.schema(v, inner)
	case v.Kind() != tree.Object && v.Kind() != tree.Bool:
		e.refuse(v, name)
	}
}

func (e *emitter) prefixItems(name string, v *tree.Node, at place) {
	switch {
	case v.Kind() != tree.Array:
		e.refuse(v, name)
	case v.Len() > 0:
		e.member(name)
		e.list(v, at.ofItem())
	}
}

// inPlace writes not, if, then or else.
func (e *emitter) inPlace(n *tree.Node, name string, v *tree.Node, at place, f *schemaFacts) {
	if name != "not" && n.Get("if") == nil || e.cut.depth != noLimit { // cut, they would mean something else
		return
	}
	if name == "not" && e.c.reference(v) != nil && e.c.resolve(v) == nil {
		e.refer(v, &schemaFacts{}) // warns; nothing would fit "not" of anything
		return
	}
	inner := branchOf(at, f)
	if name == "not" || name == "if" {
		inner.merge = false // what is refused, or decides, is what the document says
	}
	e.member(name)
	e.schema(v, inner)
}

func (e *emitter) allOf(name string, v *tree.Node, at place, f *schemaFacts) {
	switch {
	case v.Kind() != tree.Array:
		e.refuse(v, name)
	case v.Len() == 0:
	case f.viaAllOf:
		e.hole(f.target, f.in, place{inPlace: at.inPlace, all: true, kept: at.kept, merge: at.merge}, false)
	default:
		inner := branchOf(at, f)
		inner.all, inner.base = true, at.base
		e.member(name)
		e.list(v, inner)
	}
}

// union writes the alternatives of anyOf or oneOf.
func (e *emitter) union(n *tree.Node, name string, v *tree.Node, at place, f *schemaFacts) {
	if at.base {
		return
	}
	if v.Kind() != tree.Array {
		e.refuse(v, name)
		return
	}
	if v.Len() == 0 {
		return
	}
	v, _ = e.c.tagged(n, v)
	if name == "oneOf" {
		if name = e.oneOfKeyword(n, v, at); name == "" {
			return
		}
	}
	inner := branchOf(at, f)
	inner.union = true
	inner.sole = n.Get("properties") == nil && n.Get("allOf") == nil
	e.member(name)
	e.list(v, inner)
}

// oneOfKeyword returns the keyword under which the alternatives of oneOf are written. It is anyOf if a value may fit more than
// one of them as they are written. If the schema has an anyOf of its own, it is "": they are left out.
func (e *emitter) oneOfKeyword(n, v *tree.Node, at place) string {
	cut := e.cut.depth != noLimit || at.merge // alternatives that are cut look alike, and null as a member fits several
	switch {
	case n.Get("anyOf") != nil:
		if cut || slices.ContainsFunc(itemsOf(v), e.c.unsaid) {
			return ""
		}
	case cut:
		return "anyOf"
	case e.c.overlap(n, v):
		e.warnf(v, CodeSchemaOneOf, "some values fit more than one of these alternatives; anyOf is used instead of oneOf")
		return "anyOf"
	}
	return "oneOf"
}

func (e *emitter) dependentSchemas(name string, v *tree.Node, at place, f *schemaFacts) {
	if v.Kind() != tree.Object {
		e.refuse(v, name)
		return
	}
	e.member(name)
	e.raw("{")
	for property, s := range v.Members() {
		e.textMember(e.argument(property, at))
		e.schema(s, branchOf(at, f))
	}
	e.raw("}")
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

func (e *emitter) properties(n, v *tree.Node, at place, f *schemaFacts) {
	if v.Kind() != tree.Object {
		e.refuse(v, "properties")
		return
	}
	e.member("properties")
	e.raw("{")
	for name, s := range v.Members() {
		if !at.kept && e.c.hidden(s, Request) {
			continue
		}
		if unclean(name) {
			e.warnf(s, CodeSchemaText, "the property's name %q holds hidden characters; the property is left out", name)
			continue
		}
		argument := e.argument(name, at)
		inner := at.ofMember(name)
		inner.given = n.Get("example").Get(name)
		if argument != name {
			inner.extra = &extra{note: sentAs(name, "")}
		}
		e.textMember(argument)
		e.schema(s, inner)
	}
	e.anything(n, e.undeclared(n, at, f), at)
	e.raw("}")
}

// undeclared returns what a schema requires of an object and declares nowhere. A model does not see such an argument until
// a call is refused, and the first thing that a client does with the schema is to look it up among the properties. In the
// root of a body all that it is composed of is searched; elsewhere only a schema that is composed of nothing is looked at.
func (e *emitter) undeclared(n *tree.Node, at place, f *schemaFacts) []string {
	if more := n.Get("additionalProperties"); more.Kind() == tree.Bool && !more.Bool() || n.Get("unevaluatedProperties") != nil {
		return nil // they can't be given
	}
	var names []string
	show := func(name string) bool {
		return !f.hidden.has(name) && plainName(name) && n.Get("properties").Get(name) == nil && !slices.Contains(names, name)
	}
	if at.extra != nil && at.extra.object {
		for _, name := range at.extra.undeclared {
			if show(name) {
				names = append(names, name)
			}
		}
		return names
	}
	if n.Get("required").Kind() != tree.Array || at.branch || at.base || f.target != nil || e.c.found[n] != nil || f.types != 0 && f.types&objectType == 0 {
		return nil
	}
	for _, word := range []string{"allOf", "anyOf", "oneOf", "if", "dependentSchemas", "patternProperties"} {
		if n.Get(word) != nil {
			return nil
		}
	}
	for _, name := range n.Get("required").Items() {
		if name.Kind() == tree.String && show(name.Text()) && len(names) < maxUndeclared {
			names = append(names, name.Text())
		}
	}
	return names
}

// plainName reports whether every client takes a name for a property.
func plainName(name string) bool {
	return name != "" && len(name) <= 64 && strings.IndexFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.')
	}) < 0
}

// anything writes properties of which nothing more is known than what is said of members without a name.
func (e *emitter) anything(n *tree.Node, names []string, at place) {
	more := n.Get("additionalProperties")
	if more.Kind() != tree.Object {
		more = nil
	}
	for _, name := range names {
		e.textMember(e.argument(name, at))
		e.schema(more, at.ofMember(""))
	}
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

func (e *emitter) patternProperties(v *tree.Node, at place, f *schemaFacts) {
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
		p, _ := ecmaregexp.Parse(text)
		if seen[p.JavaScript] {
			continue
		}
		seen[p.JavaScript] = true
		e.textMember(p.JavaScript)
		e.schema(s, at.ofMember(""))
	}
	e.raw("}")
}

// readablePatterns reports whether all names of a patternProperties object are expressions that both sides understand.
// If one is not, nothing can be said of the properties that have no name.
func readablePatterns(v *tree.Node) bool {
	for text := range v.Members() {
		if p, err := ecmaregexp.Parse(text); err != nil || p.RE2 == "" && text != "" || unclean(text) {
			return false
		}
	}
	return true
}

func (e *emitter) items(n, v *tree.Node, at place, f *schemaFacts) {
	inner := at.ofItem()
	if f.misplaced != nil {
		inner.extra = &extra{values: f.misplaced}
	}
	switch {
	case v.Kind() == tree.Array && v.Len() == 1:
		v = v.At(0)
	case v.Kind() == tree.Array && v.Len() > 1:
		if n.Get("prefixItems") == nil {
			e.member("prefixItems")
			e.list(v, at.ofItem())
		}
		return
	case v.Kind() == tree.Array:
		v = nil
	}
	e.member("items")
	e.schema(v, inner)
}

func (e *emitter) required(v *tree.Node, at place, f *schemaFacts) {
	if v.Kind() != tree.Array {
		if v.Kind() != tree.Bool { // a parameter's own "required", or one that was lifted into the parent
			e.refuse(v, "required")
		}
		return
	}
	var names nameList
	for _, item := range v.Items() {
		e.step()
		name := item.Text()
		if item.Kind() != tree.String || f.hidden.has(name) || unclean(name) {
			continue
		}
		names.add(e.argument(name, at))
	}
	if len(names.all) > 0 {
		e.member("required")
		e.names(names.all)
	}
}

// nameList is a list of names without repetition, in the order in which they came.
type nameList struct {
	all  []string
	seen map[string]bool // once there are many: a document can list a million
}

func (d *nameList) add(name string) {
	const few = 32
	switch {
	case len(d.all) < few && slices.Contains(d.all, name), d.seen[name]:
		return
	case len(d.all) == few:
		d.seen = make(map[string]bool, 2*few)
		for _, known := range d.all {
			d.seen[known] = true
		}
		if d.seen[name] {
			return
		}
	}
	if d.seen != nil {
		d.seen[name] = true
	}
	d.all = append(d.all, name)
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
		var names nameList
		for _, item := range list.Items() {
			if item.Kind() == tree.String {
				names.add(e.argument(item.Text(), at))
			}
		}
		e.textMember(e.argument(name, at))
		e.names(names.all)
	}
	e.raw("}")
}

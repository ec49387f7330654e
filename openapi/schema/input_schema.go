package schema

import (
	"encoding/json"
	"fmt"
	"slices"

	"drawbridge/openapi/tree"
)

// Object returns the input schema of an operation whose arguments are props: an object that takes no others. The error
// says that two have the same name, or that the schema can't be made small enough.
func (c *Converter) Object(props []Property) (json.RawMessage, error) {
	if len(props) == 0 {
		return json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`), nil
	}
	seen := make(map[string]bool, len(props))
	for _, p := range props {
		if seen[p.Name] {
			return nil, fmt.Errorf("two arguments are named %q", p.Name)
		}
		seen[p.Name] = true
	}
	f := c.fit(nil, nil, func(e *emitter) {
		e.raw(`{"type":"object","properties":{`)
		e.depth = 1
		var required []string
		for _, p := range props {
			x := &extra{description: p.Description, deprecated: p.Deprecated, example: p.Example, sends: p.Sends, demands: p.Demands}
			if p.WireName != "" && p.WireName != p.Name {
				x.note, x.wire = sentAs(p.WireName, p.In), p.WireName
			}
			if (place{name: p.Name, extra: x}).said(x.description) == "" {
				x.description = ""
			}
			if x.description == "" && x.note == "" && !x.deprecated && x.example == nil && x.sends == nil && x.demands == (Demands{}) {
				x = nil
			}
			e.textMember(p.Name)
			e.merge = p.MergePatch
			e.schema(p.Schema, place{name: p.Name, given: p.Given, null: p.Removable, extra: x})
			if p.Required {
				required = append(required, p.Name)
			}
		}
		e.raw("}")
		if len(required) > 0 {
			e.member("required")
			e.names(required)
		}
		e.raw(`,"additionalProperties":false`)
	})
	return f.report(c, props[0].Schema)
}

// dialect2020 is the only dialect that is emitted, and the default for schemas without $schema (MCP 2025-11-25, basic, JSON Schema usage).
const dialect2020 = "https://json-schema.org/draft/2020-12/schema"

// Root returns the input schema of an operation whose arguments are the members of its body, schema. It keeps all that
// the body's schema says; its type is object. rename maps the properties of the body whose names are not fit for
// arguments to the names that the model uses. Members that the schema does not declare are refused unless it allows
// them in so many words, or declares none at all.
func (c *Converter) Root(schema *tree.Node, rename map[string]string) (json.RawMessage, error) {
	return c.rootOf(schema, rename, false)
}

// RootOfMergePatch is Root for a body that is a merge patch (RFC 7396).
func (c *Converter) RootOfMergePatch(schema *tree.Node, rename map[string]string) (json.RawMessage, error) {
	return c.rootOf(schema, rename, true)
}

// rootKey names the input schema that a body makes.
type rootKey struct {
	node  *tree.Node
	merge bool
}

func (c *Converter) rootOf(schema *tree.Node, rename map[string]string, merge bool) (json.RawMessage, error) {
	if len(rename) > 0 {
		return c.root(schema, rename, merge).report(c, schema)
	}
	key := rootKey{schema, merge} // thousands of operations may have one body (S6)
	if !c.dynamic && c.pureRef(schema) {
		if target, _ := c.target(schema); target != nil {
			key.node = target
		}
	}
	known, ok := c.roots.Load(key)
	if !ok {
		known, _ = c.roots.LoadOrStore(key, c.root(schema, nil, merge))
	}
	f, _ := known.(*fitted)
	return f.report(c, schema)
}

func (c *Converter) root(schema *tree.Node, rename map[string]string, merge bool) *fitted {
	root := c.merged(schema)
	closing, undeclared := c.closing(root)
	in := c.scopeOf(schema)
	return c.fit(rename, root.Get("$defs"), func(e *emitter) {
		if root.Kind() != tree.Object {
			e.raw(`{"type":"object","properties":{}`)
			return
		}
		e.in = in
		x := &extra{object: true, undeclared: undeclared, dialect: c.dialect == OpenAPI31 && root.Get("$schema").Text() == dialect2020}
		// Properties that the composition declares may be cut off.
		if closing == "additionalProperties" || e.cut.depth == noLimit {
			x.closing = closing
		}
		e.schema(root, place{inPlace: true, kept: c.keeps(schema), merge: merge, extra: x})
		e.out = e.out[:len(e.out)-1] // the closing brace: $defs follow
	})
}

// merged returns the schema that n stands for with the siblings of its reference taken in, so that the root of an input
// schema is never a bare reference, which clients don't look behind.
func (c *Converter) merged(n *tree.Node) *tree.Node {
	target, siblings := c.siblings(n)
	if siblings.Len() == 0 || target.Kind() != tree.Object {
		return target
	}
	return c.withSiblings(target, siblings)
}

// siblings follows the references of a schema. It returns the last target and the keywords beside the references, those of
// the first winning.
func (c *Converter) siblings(n *tree.Node) (target, siblings *tree.Node) {
	siblings = tree.NewObject(n)
	for range maxRefChain {
		ref, wrapped := c.reference(n), ""
		if ref == nil {
			ref, wrapped = c.onlyPart(n), "allOf"
		}
		if ref == nil {
			break
		}
		next, _ := c.target(ref)
		if next == nil {
			break
		}
		for name, v := range n.Members() {
			if r := ruleOf(name, c.dialect); r != dropped && r != refRule && name != wrapped && siblings.Get(name) == nil {
				siblings.Set(name, v)
			}
		}
		n = next
	}
	return n, siblings
}

// withSiblings returns a copy of a schema with the keywords beside a reference to it: annotations replace its own, names that
// are required are added to its own, and the other assertions become one more member of its allOf.
func (c *Converter) withSiblings(n, siblings *tree.Node) *tree.Node {
	root, asserts := tree.Copy(n), tree.NewObject(n)
	if found := c.found[n]; found != nil {
		list := tree.NewArray(n)
		for _, alternative := range found.Items() {
			list.Append(tree.Copy(alternative))
		}
		root.Set("anyOf", list)
	}
	for name, v := range siblings.Members() {
		switch r := ruleOf(name, c.dialect); {
		case r == exampleRule, r == examplesRule:
			root.Set("example", nil)
			root.Set("examples", nil)
			root.Set(name, v)
		case r.annotation():
			root.Set(name, v)
		case r == typeRule, r == nullRule:
		case r == namesRule && v.Kind() == tree.Array:
			all := tree.NewArray(v)
			for _, list := range []*tree.Node{n.Get(name), v} {
				for _, item := range list.Items() {
					all.Append(item)
				}
			}
			root.Set(name, all)
		default:
			asserts.Set(name, v)
		}
	}
	if asserts.Len() > 0 {
		all := tree.NewArray(n)
		for _, s := range n.Get("allOf").Items() {
			all.Append(s)
		}
		all.Append(asserts)
		root.Set("allOf", all)
	}
	return root
}

// onlyPart returns the reference of a schema that is composed of one other and declares nothing itself: "allOf: [{$ref: …}]",
// the way of 3.0 to give a reference siblings. It is nil for any other, and for a kind that takes over its base.
func (c *Converter) onlyPart(n *tree.Node) *tree.Node {
	all := n.Get("allOf")
	if all.Len() != 1 || !c.pureRef(all.At(0)) || c.dynamic || n.Get("properties") != nil || n.Get("oneOf") != nil || c.anyOf(n) != nil {
		return nil
	}
	ref := c.reference(all.At(0))
	if target, _ := c.target(ref); target == nil || c.lists(target, n) {
		return nil
	}
	return ref
}

// closing returns the keyword that keeps undeclared members out of a body: none if the schema declares no properties or
// says itself what it takes. It also returns what is required and declared nowhere, each name once.
func (c *Converter) closing(n *tree.Node) (keyword string, undeclared []string) {
	s := surface{declared: map[string]bool{}, seen: map[*tree.Node]bool{}}
	c.survey(n, &s)
	for _, name := range s.required {
		if !s.declared[name] {
			s.open = true // it could not be given
			if !slices.Contains(undeclared, name) && len(undeclared) < maxUndeclared {
				undeclared = append(undeclared, name)
			}
		}
	}
	switch {
	case len(s.declared) == 0 || s.open:
		return "", undeclared
	case s.composed:
		return "unevaluatedProperties", nil
	}
	return "additionalProperties", nil
}

const maxUndeclared = 32 // names that are required and declared nowhere, and are shown as properties

// surface is what a schema says of the members of an object, composition included.
type surface struct {
	names    []string        // of properties, readOnly ones left out
	declared map[string]bool // readOnly ones included
	required []string
	composed bool
	kept     bool // readOnly ones are not left out
	open     bool // undeclared members are allowed, or ruled on, somewhere
	seen     map[*tree.Node]bool
}

// stepsOfSurvey is what a look at one schema of a composition takes.
const stepsOfSurvey = 2

func (c *Converter) survey(n *tree.Node, s *surface) {
	own := n
	if n = c.resolve(n); n.Kind() != tree.Object {
		s.open = true
		return
	}
	if s.seen[n] {
		return
	}
	s.seen[n] = true
	c.work(stepsOfSurvey)
	if own != n {
		s.composed = true
	}
	for _, word := range []string{"additionalProperties", "unevaluatedProperties", "patternProperties"} {
		if n.Get(word) != nil {
			s.open = true
		}
	}
	for name, property := range n.Get("properties").Members() {
		if s.kept || !c.hidden(property, Request) {
			s.names = append(s.names, name)
		}
		s.declared[name] = true
	}
	for _, name := range n.Get("required").Items() {
		s.required = append(s.required, name.Text())
	}
	branches := 0
	visit := func(branch *tree.Node, declares bool) {
		branches++
		c.survey(branch, s)
		if declares && c.freeForm(branch) {
			s.open = true
		}
	}
	for _, part := range n.Get("allOf").Items() {
		visit(part, false)
	}
	for _, list := range []*tree.Node{n.Get("oneOf"), c.anyOf(n)} {
		for _, branch := range list.Items() {
			visit(branch, true)
		}
	}
	for _, word := range []string{"then", "else"} {
		if branch := n.Get(word); branch != nil {
			visit(branch, false)
		}
	}
	for _, branch := range n.Get("dependentSchemas").Members() {
		visit(branch, false)
	}
	s.composed = s.composed || branches > 0 || n.Get("if") != nil
}

// freeForm reports whether an alternative is an object about which nothing is said.
func (c *Converter) freeForm(n *tree.Node) bool {
	n = c.resolve(n)
	return n.Get("properties").Len() == 0 && n.Get("required") == nil && n.Get("not") == nil && n.Get("allOf") == nil && c.anyOf(n) == nil && n.Get("oneOf") == nil
}

// Names returns the properties that a body may have at its top, those of its parts and alternatives included, in the
// author's order and each once: the names that Root may have to rename.
func (c *Converter) Names(schema *tree.Node) []string {
	s := surface{declared: map[string]bool{}, seen: map[*tree.Node]bool{}, kept: c.keeps(schema)}
	c.survey(schema, &s)
	var names []string
	seen := map[string]bool{}
	for _, name := range s.names {
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

// Plain returns the members of a plain object: one with declared properties, no composition at its root, no rule about
// the object as a whole, and additionalProperties absent or false, whose members can stand beside the parameters. Properties that are readOnly are left out.
func (c *Converter) Plain(schema *tree.Node) (members []Member, ok bool) {
	n := c.plainObject(schema)
	if n == nil {
		return nil, false
	}
	required := map[string]bool{}
	for _, name := range n.Get("required").Items() {
		required[name.Text()] = true
	}
	kept := c.keeps(schema)
	for name, s := range n.Get("properties").Members() {
		hidden := c.hidden(s, Request)
		if hidden && !kept || unclean(name) {
			continue
		}
		members = append(members, Member{Name: name, Schema: s, Required: required[name] && !hidden})
		delete(required, name)
	}
	for name := range required {
		// A required member that is not declared can't be given once the object is flattened.
		if s := n.Get("properties").Get(name); s == nil {
			return nil, false
		}
	}
	return members, len(members) > 0
}

// plainObject returns the object schema that a schema stands for, nil if it is not that of a plain object. References have
// nothing but annotations beside them.
func (c *Converter) plainObject(n *tree.Node) *tree.Node {
	for range maxRefChain {
		ref := c.reference(n)
		if ref == nil {
			break
		}
		for name := range n.Members() {
			if r := ruleOf(name, c.dialect); r != dropped && r != refRule && r != nullRule && r != typeRule && !r.annotation() {
				return nil
			}
		}
		if n, _ = c.target(ref); n == nil {
			return nil
		}
	}
	set, _ := writtenTypes(n.Get("type"))
	if n.Kind() != tree.Object || set != 0 && set&^nullType != objectType || n.Get("properties").Len() == 0 || c.found[n] != nil {
		return nil
	}
	for name, v := range n.Members() {
		switch r := ruleOf(name, c.dialect); {
		case r == dropped, r == typeRule, r == nullRule, r == propertiesRule, r == namesRule, r.annotation():
		case name == "additionalProperties" && v.Kind() == tree.Bool && !v.Bool():
		default:
			return nil
		}
	}
	return n
}

// Void reports whether the object without members is all that a schema takes.
func (c *Converter) Void(schema *tree.Node) bool {
	n := c.resolve(schema)
	if n == nil || n != schema && !c.pureRef(schema) || c.found[n] != nil || c.typesOf(n) != objectType {
		return false
	}
	for name, v := range n.Members() {
		switch r := ruleOf(name, c.dialect); {
		case r == dropped, r == typeRule, r.annotation():
		case r == propertiesRule:
			for _, property := range v.Members() {
				if !c.hidden(property, Request) {
					return false
				}
			}
		case name == "additionalProperties":
		default:
			return false
		}
	}
	more := n.Get("additionalProperties")
	return more.Kind() == tree.Bool && !more.Bool()
}

// TakesString reports whether a schema accepts strings, judged by its types: without types it does.
func (c *Converter) TakesString(schema *tree.Node) bool {
	set := c.typesOf(schema)
	return set == 0 || set&stringType != 0
}

// TakesObject reports whether a schema may accept objects: it may unless its types are known and "object" is not among them.
func (c *Converter) TakesObject(schema *tree.Node) bool {
	set := c.typesOf(schema)
	return set == 0 || set&objectType != 0
}

// IsObject reports whether a schema is of objects: by its type, its properties, or because it is composed of such.
func (c *Converter) IsObject(schema *tree.Node) bool {
	return c.typesOf(schema)&^nullType == objectType
}

package openapi

import (
	"errors"
	"slices"
	"strings"

	"drawbridge/openapi/schema"
	"drawbridge/openapi/tree"
	"drawbridge/openapi/wire"
)

// An argument is one member of the arguments of a call, bound to its place in the request.
type argument struct {
	name     string // in Operation.Input
	wire     string // in the request
	place    place
	required bool
	encoder  *wire.Encoder // of a parameter
}

type place uint8

const (
	inPath   place = iota
	inQuery        // parameters up to here are written into the URL
	inHeader       // header
	inCookie       // cookie
	inBody         // the argument is the whole body
	inMember       // the argument is a member of the body
)

var places = map[wire.Location]place{wire.Path: inPath, wire.Query: inQuery, wire.Header: inHeader, wire.Cookie: inCookie}

// input plans the arguments of an operation: their names, their schema, and where each goes (D10).
func (c *compiler) input(op *Operation, m *model) error {
	var err error
	if op.template, err = wire.ParseTemplate(strings.Clone(op.Path)); err != nil {
		return skip(nil, "%v", err)
	}
	bound, err := c.bind(op, m)
	if err != nil {
		return err
	}
	content, kind, err := c.chooseBody(m)
	if err != nil {
		return err
	}

	var members []schema.Member
	if kind != nil && len(bound) == 0 && kind.members {
		if names, ok := c.rootNames(content.schema); ok {
			return c.rootInput(op, m, content, kind, names)
		}
	}
	flat := false
	if kind != nil && kind.members && len(bound) > 0 {
		members, flat = c.flattened(content.schema, bound)
	}

	names := make([]named, 0, len(bound)+len(members)+1)
	for _, b := range bound {
		names = append(names, named{wire: b.wire, location: b.location.String()})
	}
	switch {
	case flat:
		for _, member := range members {
			names = append(names, named{wire: member.Name, location: "body"})
		}
	case kind != nil:
		names = append(names, named{wire: "body", location: "body"})
	}
	nameArguments(names)
	if kind != nil && !flat {
		names[len(names)-1].name = "body" // a parameter of that name has moved aside
	}

	properties := make([]schema.Property, 0, len(names))
	for i, b := range bound {
		p := schema.Property{
			Name: names[i].name, Schema: b.schema, Required: b.required, Description: b.node.Get("description").Text(),
			Deprecated: b.deprecated, Example: c.example(b.node), WireName: b.wire, In: b.location.String(),
		}
		if b.undeclared {
			p.Description = ""
		}
		properties = append(properties, p)
		op.arguments = append(op.arguments, argument{
			name: names[i].name, wire: strings.Clone(b.wire), place: places[b.location], required: b.required, encoder: b.encoder,
		})
	}
	if kind != nil {
		op.body = &body{media: content.sends(), required: m.body.required, codec: kind.codec(c, content)}
	}
	switch {
	case flat:
		op.body.form = formMembers
		op.body.first = len(bound)
		for i, member := range members {
			name := names[len(bound)+i].name
			// Members of an optional body are asked for only once one of them is given, by NewRequest.
			properties = append(properties, schema.Property{
				Name: name, Schema: member.Schema, Required: member.Required && m.body.required, WireName: member.Name, In: "body",
			})
			op.arguments = append(op.arguments, argument{
				name: name, wire: strings.Clone(member.Name), place: inMember, required: member.Required,
			})
		}
	case kind != nil:
		op.body.form = formWhole
		op.body.first = len(bound)
		s := content.schema
		if kind.schema != nil {
			s = kind.schema(content)
		}
		properties = append(properties, schema.Property{
			Name: "body", Schema: s, Required: m.body.required, Description: c.bodyDescription(m, content, kind), Example: c.example(content.node),
		})
		op.arguments = append(op.arguments, argument{name: "body", wire: "body", place: inBody, required: m.body.required})
	}
	op.index = make(map[string]int, len(op.arguments))
	for i, a := range op.arguments {
		op.index[a.name] = i
	}
	op.variables = variables(op)
	op.Input, err = c.schema.Object(properties)
	if err != nil {
		return skip(nil, "the schema of its arguments can't be made: %v", err)
	}
	return nil
}

// bodyDescription prefers what the document says of the body; a body in a form that models don't expect is explained.
func (c *compiler) bodyDescription(m *model, content *content, kind *bodyKind) string {
	text := m.body.node.Get("description").Text()
	if kind.hint != "" {
		if text != "" {
			text += "\n\n"
		}
		text += kind.hint
	}
	return text
}

// rootInput makes the body's schema the input schema: no parameter needs a place beside it.
func (c *compiler) rootInput(op *Operation, m *model, content *content, kind *bodyKind, wireNames []string) error {
	names := make([]named, len(wireNames))
	for i, n := range wireNames {
		names[i] = named{wire: n, location: "body"}
	}
	nameArguments(names)
	rename := make(map[string]string)
	op.body = &body{media: content.sends(), required: m.body.required, codec: kind.codec(c, content), form: formRoot}
	for _, n := range names {
		if n.name != n.wire {
			rename[n.wire] = n.name
			if op.body.rename == nil {
				op.body.rename = make(map[string]string)
			}
			op.body.rename[n.name] = strings.Clone(n.wire)
		}
	}
	op.variables = variables(op)
	var err error
	if op.Input, err = c.schema.Root(content.schema, rename); err != nil {
		return skip(content.node, "the schema of its arguments can't be made: %v", err)
	}
	return nil
}

// rootNames returns the top-level property names of a body schema, wherever its composition holds them, and whether
// the schema can stand for all arguments: an object that declares properties, or allows others in so many words. An
// object about which nothing is said becomes the argument "body", which then takes any object.
func (c *compiler) rootNames(s *tree.Node) (names []string, ok bool) {
	if s == nil || !c.schema.IsObject(s) {
		return nil, false
	}
	seen := make(map[*tree.Node]bool)
	open := false
	var visit func(n *tree.Node)
	visit = func(n *tree.Node) {
		n = c.followAll(n, visit)
		if n == nil || seen[n] {
			return
		}
		seen[n] = true
		for name := range n.Get("properties").Members() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		if a := n.Get("additionalProperties"); a.Bool() || a.Kind() == tree.Object {
			open = true
		}
		if n.Get("patternProperties").Len() > 0 {
			open = true
		}
		for _, key := range []string{"allOf", "anyOf", "oneOf"} {
			for _, part := range n.Get(key).Items() {
				visit(part)
			}
		}
		for _, key := range []string{"if", "then", "else"} {
			if part := n.Get(key); part != nil {
				visit(part)
			}
		}
	}
	visit(s)
	return names, len(names) > 0 || open
}

// followAll follows the references of a schema one by one, since each may have siblings, which visit sees first.
func (c *compiler) followAll(n *tree.Node, visit func(*tree.Node)) *tree.Node {
	if n.Get("$ref") == nil {
		return n
	}
	if n.Len() > 1 {
		siblings := tree.Copy(n)
		siblings.Set("$ref", nil)
		visit(siblings)
	}
	target, err := c.set.Follow(n)
	if err != nil || target == n {
		return nil // the converter warns
	}
	return target
}

// flattened returns the members of a body that can stand beside the parameters: a plain object whose names clash with
// none of theirs, and that has nothing named "body".
func (c *compiler) flattened(s *tree.Node, bound []binding) ([]schema.Member, bool) {
	if s == nil {
		return nil, false
	}
	members, ok := c.schema.Plain(s)
	if !ok || len(members) == 0 {
		return nil, false
	}
	taken := map[string]bool{"body": true}
	for _, b := range bound {
		taken[argumentName(b.wire)] = true
	}
	for _, member := range members {
		name := argumentName(member.Name)
		if taken[name] {
			return nil, false
		}
		taken[name] = true
	}
	return members, true
}

// example returns what the document gives as an example of a parameter or body, nil if nothing.
func (c *compiler) example(n *tree.Node) *tree.Node {
	if e := n.Get("example"); e != nil {
		return e
	}
	examples := n.Get("examples")
	if examples.Kind() != tree.Object {
		return nil
	}
	e, err := c.set.Follow(examples.At(0))
	if err != nil {
		return nil
	}
	return e.Get("value")
}

// variables binds the variables of the path to arguments.
func variables(op *Operation) []int {
	names := op.template.Names()
	places := make([]int, len(names))
	for i, name := range names {
		places[i] = slices.IndexFunc(op.arguments, func(a argument) bool { return a.place == inPath && a.wire == name })
	}
	return places
}

// A binding is a parameter that becomes an argument.
type binding struct {
	wire       string
	location   wire.Location
	node       *tree.Node // what describes it; the operation when it is undeclared
	schema     *tree.Node
	required   bool
	deprecated bool
	undeclared bool
	encoder    *wire.Encoder
}

// bind decides about each parameter of an operation: it becomes an argument, or is left out with a problem. One that is
// required and can't be sent ends the operation.
func (c *compiler) bind(op *Operation, m *model) ([]binding, error) {
	variables := op.template.Names()
	declared := make([]bool, len(variables))
	var all []binding
	var taken [4][]string // names by location
	for _, r := range c.options.Reserved {
		if l, ok := wire.ParseLocation(r.In); ok {
			taken[l] = append(taken[l], r.Name)
		}
	}
	for _, p := range m.parameters {
		name := p.typed.Name
		location, ok := wire.ParseLocation(p.typed.In)
		switch {
		case name == "":
			c.problems.at(p.node, "parameter-name", "parameter is left out: it has no name")
			continue
		case !ok && p.typed.Required:
			return nil, skip(p.node, "required parameter %q stands in %q, which is not supported", name, p.typed.In)
		case !ok:
			c.problems.at(p.node, "parameter-location", "parameter %q is left out: location %q is not supported", name, p.typed.In)
			continue
		case c.reserved(location, name):
			c.problems.at(p.node, "parameter-reserved", "parameter %q is left out: the gateway sends it itself", name)
			continue
		case location == wire.Header && wire.ForbiddenHeader(name):
			// Accept, Content-Type and Authorization are ignored by the standard, and in most documents that declare
			// headers; they deserve no warning.
			if !ignoredHeader(name) {
				c.problems.at(p.node, "header-forbidden", "header parameter %q is left out: a caller may not set this header", name)
			}
			continue
		}
		b := binding{wire: name, location: location, node: p.node, schema: p.schema, required: p.typed.Required, deprecated: p.typed.Deprecated}
		if location == wire.Path {
			i := slices.Index(variables, name)
			if i < 0 {
				// "{ID}" for "id", and "{id:[0-9]+}" of some frameworks.
				i = slices.IndexFunc(variables, func(v string) bool {
					before, _, _ := strings.Cut(v, ":")
					return strings.EqualFold(before, name)
				})
			}
			if i < 0 || declared[i] {
				if slices.ContainsFunc(op.template.QueryVariables(), func(q wire.QueryVariable) bool { return q.Name == name }) {
					continue // bound below
				}
				c.problems.at(p.node, "path-parameter-unused", "path parameter %q is left out: the path %q has no such variable", name, op.Path)
				continue
			}
			declared[i] = true
			b.wire, b.required = variables[i], true
		}
		taken[location] = append(taken[location], b.wire)
		all = append(all, b)
	}
	for i, name := range variables {
		if declared[i] {
			continue
		}
		c.problems.at(m.node, "path-parameter-undeclared", "variable %q of the path is not declared; a required string is asked for", name)
		all = append(all, undeclared(m.node, name, wire.Path))
	}
	for _, q := range op.template.QueryVariables() {
		if slices.ContainsFunc(all, func(b binding) bool { return b.location == wire.Query && b.wire == q.Key }) {
			continue
		}
		b := undeclared(m.node, q.Key, wire.Query)
		if i := slices.IndexFunc(m.parameters, func(p parameter) bool { return p.typed.Name == q.Name }); i >= 0 {
			p := m.parameters[i]
			all = slices.DeleteFunc(all, func(b binding) bool { return b.node == p.node })
			b.node, b.schema, b.undeclared = p.node, p.schema, false
		}
		taken[wire.Query] = append(taken[wire.Query], q.Key)
		all = append(all, b)
	}

	kept := all[:0]
	for _, b := range all {
		encoder, err := c.encoder(op, m, &b, taken[b.location])
		if err != nil {
			if b.required {
				return nil, skip(b.node, "required parameter %q: %v", b.wire, err)
			}
			c.problems.at(b.node, "parameter-style", "parameter %q is left out: %v", b.wire, err)
			continue
		}
		b.encoder = encoder
		kept = append(kept, b)
	}
	return kept, nil
}

func undeclared(node *tree.Node, name string, location wire.Location) binding {
	s := tree.NewObject(node)
	s.Set("type", tree.NewString(node, "string"))
	return binding{wire: name, location: location, node: node, schema: s, required: true, undeclared: true}
}

func (c *compiler) reserved(location wire.Location, name string) bool {
	return slices.ContainsFunc(c.options.Reserved, func(r Reserved) bool {
		return r.In == location.String() && (r.Name == name || location == wire.Header && strings.EqualFold(r.Name, name))
	})
}

func ignoredHeader(name string) bool {
	return strings.EqualFold(name, "Accept") || strings.EqualFold(name, "Content-Type") || strings.EqualFold(name, "Authorization")
}

// encoder makes the encoder of a parameter. A style that the standard doesn't have for the location is replaced by
// the location's own.
func (c *compiler) encoder(op *Operation, m *model, b *binding, taken []string) (*wire.Encoder, error) {
	w := wire.Parameter{Name: strings.Clone(b.wire), In: b.location, Style: b.location.Style()}
	for _, name := range taken {
		if name != b.wire {
			w.Taken = append(w.Taken, strings.Clone(name))
		}
	}
	if b.location == wire.Path {
		w.AllowSlash = op.template.Reserved(slices.Index(op.template.Names(), b.wire))
	}
	// A parameter that the query behind the path names may be declared for another place: its style is not for here.
	i := slices.IndexFunc(m.parameters, func(p parameter) bool { return p.node == b.node && p.typed.In == b.location.String() })
	if i < 0 {
		w.Explode = w.Style.Explode()
		return wire.NewEncoder(w)
	}
	p := m.parameters[i]
	w.AllowReserved, w.AllowEmptyValue = p.typed.AllowReserved, p.typed.AllowEmptyValue && b.location == wire.Query
	if p.media != "" {
		w.ContentType = mediaType(p.media)
		if isWildcard(w.ContentType) {
			w.ContentType = "application/json"
		}
		w.Explode = w.Style.Explode()
		return wire.NewEncoder(w)
	}
	method, err := p.typed.SerializationMethod()
	if err != nil {
		return nil, err
	}
	style, ok := wire.ParseStyle(method.Style)
	if ok {
		w.Style, w.Explode = style, method.Explode
		encoder, err := wire.NewEncoder(w)
		if err == nil {
			return encoder, nil
		}
		var v *wire.ValueError
		if errors.As(err, &v) {
			return nil, err
		}
	}
	c.problems.at(p.node, "style-unknown", "style %q is not one for a parameter in %q; %q is used", method.Style, b.location.String(), b.location.Style().String())
	w.Style = b.location.Style()
	w.Explode = w.Style.Explode()
	if p.typed.Explode != nil {
		w.Explode = *p.typed.Explode
	}
	return wire.NewEncoder(w)
}

package openapi

import (
	"slices"
	"strings"
	"unicode"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/mediatype"
	"drawbridge/openapi/schema"
	"drawbridge/openapi/tree"
	"drawbridge/openapi/wire"
)

// An argument is one member of the arguments of a call, bound to its location in the request.
type argument struct {
	name     string // in Operation.Input
	wire     string // in the request
	place    place
	required bool
	encoder  *wire.Encoder // for a parameter

	oneSegment bool // of the path: seems to be a path, and takes no slashes
}

type place uint8

const (
	inPath   place = iota
	inQuery        // parameters up to this one are written into the URL
	inHeader       // header
	inCookie       // cookie
	inBody         // the argument is the whole body
	inMember       // the argument is a member of the body
)

// mayBeEmpty reports whether a required value that sends nothing counts as given. Frameworks declare the object with
// the parameters of a page as required, and none of its members (springdoc's Pageable).
func (p place) mayBeEmpty(value []byte) bool {
	return p == inQuery && jsonscan.KindOf(value) == jsonscan.Object
}

// String returns the name of a location in a request.
func (p place) String() string {
	return [...]string{"path", "query", "header", "cookie", "body", "body"}[p]
}

var places = map[wire.Location]place{wire.Path: inPath, wire.Query: inQuery, wire.QueryString: inQuery, wire.Header: inHeader, wire.Cookie: inCookie}

// input compiles the arguments of an operation: their names, their schema, and their locations.
func (c *compiler) input(op *Operation, m *model) error {
	if err := c.pathTemplate(op, m); err != nil {
		return err
	}
	bound, err := c.bind(op, m)
	if err != nil {
		return coded(codeSkipParameter, err)
	}
	content, kind := c.chooseBody(m)
	in := inputs{op: op, bound: bound, content: content, kind: kind, required: kind != nil && m.body.required, choice: c.answerChoice(m)}
	if kind != nil && kind.members {
		if len(bound) > 0 || in.choice != nil {
			in.members, in.flat = c.flattened(content.schema, bound, m.body.required)
		}
		if len(bound) == 0 && !in.flat {
			if names, ok := c.rootNames(content.schema); ok {
				return c.rootInput(op, m, content, kind, names)
			}
		}
	}
	in.nameAll()
	in.addChoice()
	if kind != nil {
		op.body = &body{kind: kind.name, of: strings.Clone(content.media), media: content.sends(), list: kind.list, required: m.body.required, codec: c.inCharset(kind.codec(c, content), kind, content), closed: c.isClosed(content.schema)}
		if op.body.codec.err != nil {
			return coded(codeSkipLimit, skip(content.node, "%w", op.body.codec.err))
		}
	}
	properties := in.parameters(c)
	switch {
	case in.flat:
		properties = append(properties, in.bodyMembers(c)...)
	case kind != nil:
		properties = append(properties, in.wholeBody(c, m))
	}
	op.index = make(map[string]int, len(op.arguments))
	for i, a := range op.arguments {
		op.index[a.name] = i
	}
	op.variables = variables(op)
	op.Input, err = c.schema.Object(properties)
	if err != nil {
		return coded(codeSkipSchema, skip(nil, "the schema of its arguments can't be made: %w", err))
	}
	return nil
}

// pathTemplate reads the path of an operation.
func (c *compiler) pathTemplate(op *Operation, m *model) (err error) {
	if len(op.Path) > maxPath {
		return coded(codeSkipLimit, skip(nil, "its path has %d bytes; at most %d are allowed", len(op.Path), maxPath))
	}
	if strings.ContainsFunc(op.Path, unicode.IsControl) {
		return coded(codeSkipPath, skip(nil, "its path %q holds a control character", op.Path))
	}
	if err := checkPlaceholder(op.Path, m.declaresInPath); err != nil {
		return err
	}
	if op.template, err = wire.ParseTemplate(c.bracedPath(op, m)); err != nil {
		return coded(codeSkipPath, skip(nil, "%v", err))
	}
	if first := strings.TrimLeftFunc(op.Path, unicode.IsSpace); first == "" || first[0] != '/' {
		c.problems.at(m.node, codePathNoSlash, "the path %q does not begin with \"/\"; it is read as %q", op.Path, "/"+first)
	}
	if signs := op.template.Illegal(); signs != "" {
		c.problems.at(m.node, codePathIllegal, "the path %q holds %q, which can't stand in a URI and is sent percent-encoded", op.Path, signs)
	}
	if n := len(op.template.Names()) + len(op.template.QueryVariables()) + len(m.parameters); n > maxParameters {
		return coded(codeSkipLimit, skip(nil, "it has %d parameters and variables in its path; at most %d are allowed", n, maxParameters))
	}
	return nil
}

// inputs are the sources of an operation's arguments: its parameters, then the members of its body or the body as a
// whole.
type inputs struct {
	op       *Operation
	bound    []binding
	content  *content  // of the body; nil if there is none
	kind     *bodyKind // of the body
	required bool      // the body is required
	members  []schema.Member
	flat     bool    // the members of the body are arguments
	names    []named // of all arguments, in this order
	choice   *choice // of response media types; nil if there is none
}

// nameAll names the arguments.
func (in *inputs) nameAll() {
	in.names = make([]named, 0, len(in.bound)+len(in.members)+1)
	for _, b := range in.bound {
		in.names = append(in.names, named{wire: b.wire, location: b.location.String()})
	}
	switch {
	case in.flat:
		for _, member := range in.members {
			in.names = append(in.names, named{wire: member.Name, location: "body"})
		}
	case in.kind != nil:
		in.names = append(in.names, named{wire: "body", location: "body"})
	}
	nameArguments(in.names)
	in.op.former = formerNames(in.names)
	if in.kind != nil && !in.flat {
		in.names[len(in.names)-1].name = "body" // a parameter with that name got another one
	}
}

// parameters adds an argument for each parameter, and returns their schemas.
func (in *inputs) parameters(c *compiler) []schema.Property {
	properties := make([]schema.Property, 0, len(in.names))
	for i, b := range in.bound {
		name := in.names[i].name
		properties = append(properties, schema.Property{
			Name: name, Schema: b.schema, Required: b.required, Description: b.description,
			Deprecated: b.deprecated, Example: c.example(b.node), Sends: b.sends, Demands: b.demands(), WireName: b.wire, In: b.location.String(),
		})
		in.op.arguments = append(in.op.arguments, argument{name: name, wire: b.wire, place: places[b.location], required: b.required, encoder: b.encoder, oneSegment: b.oneSegment})
	}
	return properties
}

// bodyMembers adds an argument for each member of the body, and returns their schemas.
func (in *inputs) bodyMembers(c *compiler) (properties []schema.Property) {
	example := c.example(in.content.node)
	if example == nil {
		example = c.follow(in.content.schema).Get("example")
	}
	in.op.body.form, in.op.body.first = formMembers, len(in.bound)
	for i, member := range in.members {
		name := in.names[len(in.bound)+i].name
		p := schema.Property{Name: name, Schema: member.Schema, Required: member.Required, Given: example.Get(member.Name), WireName: member.Name, In: "body"}
		if in.content.merge != nil {
			p.MergePatch, p.Removable = member.Schema, true
		}
		properties = append(properties, p)
		in.op.arguments = append(in.op.arguments, argument{name: name, wire: strings.Clone(member.Name), place: inMember, required: member.Required})
	}
	return properties
}

// wholeBody adds the argument that is the body, and returns its schema.
func (in *inputs) wholeBody(c *compiler, m *model) schema.Property {
	in.op.body.form, in.op.body.first = formWhole, len(in.bound)
	s := in.content.schema
	if in.kind.schema != nil {
		s = in.kind.schema(in.content)
	}
	p := schema.Property{
		Name: "body", Schema: s, Required: in.required, Description: c.bodyDescription(m, in.content, in.kind), Example: c.example(in.content.node),
		MergePatch: in.content.merge,
	}
	if p.Required && in.kind.name == "ndjson" { // without a line there is no body
		p.Demands = schema.Demands{MinItems: true, MinLength: true}
	}
	in.op.arguments = append(in.op.arguments, argument{name: "body", wire: "body", place: inBody, required: in.required})
	return p
}

// bodyDescription returns the document's description of the body, or else of the schema; it explains a body in a form
// that models don't expect.
func (c *compiler) bodyDescription(m *model, ct *content, kind *bodyKind) string {
	var notes []string
	if kind.hint != "" {
		notes = append(notes, kind.hint)
	}
	if kind.name == "binary" && c.sentAsBase64(ct) {
		notes = append(notes, "Sent as base64 text, as "+mediatype.Essence(ct.sends())+".")
	} else if media := mediatype.Essence(ct.sends()); media != "application/json" && kind.list == "" && !mediatype.IsRange(ct.media) {
		notes = append(notes, "Sent as "+media+".")
	}
	text := m.body.description
	switch {
	case len(notes) == 0:
		return text
	case text == "" && kind.schema == nil:
		if text = ct.schema.Get("description").Text(); text == "" {
			text = c.follow(ct.schema).Get("description").Text()
		}
	}
	if text = strings.TrimSpace(text); text != "" {
		text += "\n\n"
	}
	return text + strings.Join(notes, " ")
}

// rootInput makes the body's schema the input schema, since there are no parameters.
func (c *compiler) rootInput(op *Operation, m *model, content *content, kind *bodyKind, wireNames []string) error {
	names := make([]named, len(wireNames))
	for i, n := range wireNames {
		names[i] = named{wire: n, location: "body"}
	}
	nameArguments(names)
	op.former = formerNames(names)
	rename := make(map[string]string)
	op.body = &body{kind: kind.name, of: strings.Clone(content.media), media: content.sends(), required: m.body.required, codec: c.inCharset(kind.codec(c, content), kind, content), closed: c.isClosed(content.schema), form: formRoot}
	if op.body.codec.err != nil {
		return coded(codeSkipLimit, skip(content.node, "%w", op.body.codec.err))
	}
	for _, n := range names {
		if n.name != n.wire {
			wireName := strings.Clone(n.wire)
			rename[wireName] = n.name
			if op.body.rename == nil {
				op.body.rename, op.body.renamed = make(map[string]string), rename
			}
			op.body.rename[n.name] = wireName
		}
	}
	op.variables = variables(op)
	var err error
	root := c.schema.Root
	if content.merge != nil {
		root = c.schema.RootOfMergePatch
	}
	if op.Input, err = root(content.schema, rename); err != nil {
		return coded(codeSkipSchema, skip(content.node, "the schema of its arguments can't be made: %w", err))
	}
	return nil
}

// isClosed reports whether a schema of an object forbids members that it does not declare.
func (c *compiler) isClosed(s *tree.Node) bool {
	more := c.follow(s).Get("additionalProperties")
	return more.Kind() == tree.Bool && !more.Bool()
}

// stepsOfNames is the number of steps to search for names in one schema of a composition, in addition to one for every
// eight properties.
const stepsOfNames = 2

// rootNames returns the top-level property names of a body schema, anywhere in its composition, and whether the schema
// can represent all arguments: an object that declares properties, or explicitly allows others. An object without
// declarations becomes the argument "body", which then takes any object.
func (c *compiler) rootNames(s *tree.Node) (names []string, ok bool) {
	if s == nil || !c.schema.IsObject(s) {
		return nil, false
	}
	seen, known := make(map[*tree.Node]bool), make(map[string]bool)
	open := false
	var visit func(n *tree.Node)
	visit = func(n *tree.Node) {
		n = c.followAll(n, visit)
		if n == nil || seen[n] {
			return
		}
		seen[n] = true
		c.options.Pace.Work(stepsOfNames + n.Get("properties").Len()/8)
		for name := range n.Get("properties").Members() {
			if !known[name] {
				known[name] = true
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
		for _, part := range c.schema.Alternatives(n).Items() {
			visit(part)
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

// followAll follows the references of a schema one by one, since each may have siblings, which visit receives first.
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

// flattened returns the members of a body that can be arguments beside the parameters: a plain object whose names don't
// collide with theirs. A member named "body" must not take an object, since a caller that gives the body as a whole
// under that name could not be distinguished from one that gives the member (ADR 0056). In an optional body no member
// may be required either: an argument "body" is the clearer way to require members together.
func (c *compiler) flattened(s *tree.Node, bound []binding, required bool) ([]schema.Member, bool) {
	if s == nil {
		return nil, false
	}
	members, ok := c.schema.Plain(s)
	if !ok || len(members) == 0 {
		return nil, false
	}
	// Names are compared before transliteration: those that only collide after it get a hash, and the arguments keep
	// their locations.
	taken := make(map[string]bool, len(bound)+len(members))
	for _, b := range bound {
		taken[formerName(b.wire)] = true
	}
	for _, member := range members {
		name := formerName(member.Name)
		if taken[name] || member.Required && !required || name == "body" && c.schema.TakesObject(member.Schema) {
			return nil, false
		}
		taken[name] = true
	}
	return members, true
}

// example returns the document's example of a parameter or body, or nil.
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
	if value := e.Get("value"); value != nil {
		return value
	}
	return e.Get("dataValue") // OAS 3.2 "Example Object"
}

// variables binds the variables of the path to arguments.
func variables(op *Operation) []int {
	names := op.template.Names()
	indexes := make([]int, len(names))
	for i, name := range names {
		indexes[i] = slices.IndexFunc(op.arguments, func(a argument) bool { return a.place == inPath && a.wire == name })
	}
	return indexes
}

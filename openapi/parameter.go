package openapi

import (
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/mediatype"
	"drawbridge/openapi/schema"
	"drawbridge/openapi/tree"
	"drawbridge/openapi/wire"
)

// A binding is a parameter that becomes an argument.
type binding struct {
	wire        string
	location    wire.Location
	node        *tree.Node // described by; the operation if it is undeclared
	parameter   *parameter // declaration; nil if there is none
	schema      *tree.Node
	required    bool
	deprecated  bool
	description string // description; "" if it is undeclared
	encoder     *wire.Encoder
	oneSegment  bool // seems to be a path, and takes no slashes
}

// bind decides on each parameter of an operation: it becomes an argument, or is left out with a problem. A required one
// that can't be sent ends the operation.
func (c *compiler) bind(op *Operation, m *model) ([]binding, error) {
	b := &binder{compiler: c, op: op, model: m, declared: make([]bool, len(op.template.Names())), headers: make(map[string]bool)}
	b.matchVariables()
	for _, r := range c.options.Reserved {
		if l, ok := wire.ParseLocation(r.In); ok {
			b.taken[l] = append(b.taken[l], r.Name)
		}
	}
	for i := range m.parameters {
		if err := b.parameter(&m.parameters[i]); err != nil {
			return nil, err
		}
	}
	for i, name := range op.template.Names() {
		if !b.declared[i] {
			c.problems.at(m.node, codePathUndeclared, "variable %q of the path is not declared; a required string is asked for", name)
			b.all = append(b.all, undeclared(m.node, name, wire.Path))
		}
	}
	for _, q := range op.template.QueryVariables() {
		b.queryVariable(q)
	}
	b.checkLists()
	return b.encode()
}

// binder collects the bindings of one operation.
type binder struct {
	*compiler
	op       *Operation
	model    *model
	all      []binding
	taken    [wire.QueryString + 1][]string // names by location
	headers  map[string]bool                // names in lower case
	declared []bool                         // variables of the path that have a parameter
	paired   map[*tree.Node]int             // parameters of the path → their variables
}

// parameter adds the binding of a parameter, unless it is left out.
func (b *binder) parameter(p *parameter) error {
	name := p.typed.Name
	location, ok := wire.ParseLocation(p.typed.In)
	switch {
	case name == "":
		b.problems.at(p.node, codeParameterName, "parameter is left out: it has no name")
		return nil
	case !ok && p.typed.Required:
		return skip(p.node, "required parameter %q stands in %q, which is not supported", name, p.typed.In)
	case !ok:
		b.problems.at(p.node, codeParameterLocation, "parameter %q is left out: location %q is not supported", name, p.typed.In)
		return nil
	case location == wire.Header && b.headers[strings.ToLower(name)]:
		b.problems.at(p.node, codeHeaderCase, "parameter %q is left out: the names of headers don't depend on case, and it was there already", name)
		return nil
	case location == wire.Query && b.fixed(p):
		return nil
	case b.reserved(location, name):
		b.problems.at(p.node, codeParameterReserved, "parameter %q is left out: the gateway sends it itself", name)
		return nil
	case location == wire.Header && wire.ForbiddenHeader(name):
		// Accept, Content-Type and Authorization are ignored by the standard, and occur in most documents that declare
		// headers; they deserve no warning.
		if !ignoredHeader(name) {
			b.problems.at(p.node, codeHeaderForbidden, "header parameter %q is left out: a caller may not set this header", name)
		}
		return nil
	}
	next := binding{wire: strings.Clone(name), location: location, node: p.node, parameter: p, schema: p.schema, description: p.description, required: p.typed.Required, deprecated: p.typed.Deprecated}
	switch location {
	case wire.Path:
		i, ok := b.paired[p.node]
		if !ok {
			ofQuery := func(q wire.QueryVariable) bool { return q.Name == name } // queryVariable binds it
			if !slices.ContainsFunc(b.op.template.QueryVariables(), ofQuery) {
				b.problems.at(p.node, codePathUnused, "path parameter %q is left out: the path %q has no such variable", name, b.op.Path)
			}
			return nil
		}
		if !next.required {
			b.problems.at(p.node, codeParameterOptional, "path parameter %q must have \"required: true\"; it is read as required", name)
		}
		next.wire, next.required = b.op.template.Names()[i], true
	case wire.Header:
		b.headers[strings.ToLower(name)] = true
	case wire.Query:
		if p.typed.AllowEmptyValue {
			next.schema = b.withEmpty(next.schema)
		}
		b.mapInQuery(&next)
	default: // cookies and the whole query need nothing more
	}
	b.taken[location] = append(b.taken[location], next.wire)
	b.all = append(b.all, next)
	return nil
}

// queryVariable adds the binding of a variable in the query of the path, unless a parameter has its key.
func (b *binder) queryVariable(q wire.QueryVariable) {
	if slices.ContainsFunc(b.all, func(b binding) bool { return b.location == wire.Query && b.wire == q.Key }) {
		return
	}
	next := undeclared(b.model.node, q.Key, wire.Query)
	if i := slices.IndexFunc(b.model.parameters, func(p parameter) bool { return p.typed.Name == q.Name }); i >= 0 {
		p := &b.model.parameters[i]
		b.all = slices.DeleteFunc(b.all, func(b binding) bool { return b.node == p.node })
		next.node, next.schema, next.description = p.node, p.schema, p.description
		if p.typed.In == wire.Query.String() { // otherwise its style does not apply
			next.parameter = p
		}
	}
	b.taken[wire.Query] = append(b.taken[wire.Query], q.Key)
	b.all = append(b.all, next)
}

// encode makes the encoder of each binding, and leaves out those that can't have one.
func (b *binder) encode() ([]binding, error) {
	// One list for each location, and a set of it only once an exploded object is sent there.
	var others [wire.QueryString + 1]func() map[string]struct{}
	for l, names := range b.taken {
		others[l] = sync.OnceValue(func() map[string]struct{} {
			set := make(map[string]struct{}, len(names))
			for _, name := range names {
				set[name] = struct{}{}
			}
			return set
		})
	}
	others[wire.QueryString] = others[wire.Query]
	kept := b.all[:0]
	for _, next := range b.all {
		encoder, err := b.encoder(&next, others[next.location])
		if err != nil {
			if next.required {
				return nil, skip(next.node, "required parameter %q: %v", next.wire, err)
			}
			b.problems.at(next.node, codeParameterStyle, "parameter %q is left out: %v", next.wire, err)
			continue
		}
		next.encoder = encoder
		if next.location == wire.Path && encoder.Spans() {
			b.op.template = b.op.template.Spanning(slices.Index(b.op.template.Names(), next.wire))
		}
		kept = append(kept, next)
	}
	return kept, nil
}

// sends reports whether a value of the right type can be sent: a slash is not allowed in a path, nor a line end in a
// header, though documents have such examples. It returns the argument that sends an example.
func (b *binding) sends(value []byte) (given []byte, ok bool) {
	var text []byte
	var err error
	switch b.location {
	case wire.Path:
		value = b.unescaped(value)
		text, err = b.encoder.AppendPath(nil, value)
		return value, err == nil && string(text) != "." && string(text) != ".."
	case wire.Header:
		_, err = b.encoder.HeaderValue(value)
	case wire.Cookie:
		_, err = b.encoder.CookiePairs(nil, value)
	default:
		value = b.unescaped(value)
		_, err = b.encoder.AppendQuery(nil, value)
	}
	return value, err == nil
}

// demands returns the requirements of the encoder that the document does not state, found by calling the encoder.
func (b *binding) demands() (d schema.Demands) {
	path := func(value string) bool {
		_, err := b.encoder.AppendPath(nil, []byte(value))
		return err != nil
	}
	left := func(value string) bool { return b.required && b.encoder.Undefined([]byte(value)) }
	switch b.location {
	case wire.Path:
		d = schema.Demands{NotNull: path("null"), MinLength: path(`""`), MinItems: path("[]"), MinProperties: path("{}")}
		switch whole := path(`""`) && path(`"."`); {
		case whole && path(`"a/b"`):
			d.Pattern = schema.PatternSegment
		case path(`"a/b"`):
			d.Pattern = schema.PatternNoSlash
		case whole && path(`"a/../b"`):
			d.Pattern = schema.PatternSegments
		case b.encoder.TakesEmpty():
			d.Pattern = schema.PatternNoneOrSegments
		}
		return d
	case wire.Header:
		if b.parameter == nil || b.parameter.media == "" {
			d.Pattern = schema.PatternASCII
		}
	case wire.Query, wire.QueryString, wire.Cookie:
	}
	d.NotNull, d.MinItems = left("null"), left("[]")
	d.MinProperties = left("{}") && !places[b.location].mayBeEmpty([]byte("{}"))
	return d
}

// unescaped returns an example before URL-encoding. Some are given encoded ("Doxy%20artist", Spotify), as OAS 3.0.4
// "Parameter Object" requires of the member example; sent as an argument it would be escaped twice.
func (b *binding) unescaped(value []byte) []byte {
	if b.parameter == nil || b.parameter.media != "" || jsonscan.KindOf(value) != jsonscan.String {
		return value
	}
	text := string(jsonscan.Unquote(value))
	plain, err := url.PathUnescape(text)
	escaped := err == nil && plain != text && utf8.ValidString(plain) && strings.IndexFunc(text, func(r rune) bool {
		return r <= ' ' || r >= utf8.RuneSelf || strings.ContainsRune("\"<>\\^`{|}", r) // characters that are not allowed in a URL
	}) < 0
	if !escaped || strings.IndexFunc(plain, unicode.IsControl) >= 0 {
		return value
	}
	return jsonscan.AppendString(nil, plain)
}

func undeclared(node *tree.Node, name string, location wire.Location) binding {
	s := tree.NewObject(node)
	s.Set("type", tree.NewString(node, "string"))
	return binding{wire: name, location: location, node: node, schema: s, required: true}
}

func (c *compiler) reserved(location wire.Location, name string) bool {
	return slices.ContainsFunc(c.options.Reserved, func(r Reserved) bool {
		return r.In == location.String() && (r.Name == name || location == wire.Header && sameHeader(r.Name, name))
	})
}

// sameHeader reports whether some server takes two names for the same: CGI and WSGI turn "-" into "_" (R6).
func sameHeader(a, b string) bool {
	return strings.EqualFold(strings.ReplaceAll(a, "_", "-"), strings.ReplaceAll(b, "_", "-"))
}

func ignoredHeader(name string) bool {
	return strings.EqualFold(name, "Accept") || strings.EqualFold(name, "Content-Type") || strings.EqualFold(name, "Authorization")
}

// encoder makes the encoder of a parameter. A style that the standard doesn't allow in the location is replaced by the
// location's default.
func (b *binder) encoder(of *binding, taken func() map[string]struct{}) (*wire.Encoder, error) {
	c := b.compiler
	w := wire.Parameter{Name: of.wire, In: of.location, Style: of.location.Style(), Taken: taken}
	p := of.parameter
	if of.location == wire.Path {
		w.Slash = b.slash(of)
		w.AllowEmptyValue = w.Slash != wire.SlashRefused && p != nil && b.takesEmpty(of)
	}
	if p == nil {
		w.Explode = w.Style.Explode()
		return wire.NewEncoder(w)
	}
	w.Nested = c.nested(of.schema)
	w.AllowReserved = p.typed.AllowReserved
	if of.location == wire.Query {
		w.AllowEmptyValue = p.typed.AllowEmptyValue
	}
	if p.media != "" {
		w.ContentType = mediatype.Essence(p.media)
		if mediatype.IsForm(w.ContentType) {
			form, err := c.formEncoder(&content{media: p.media, node: p.mediaNode, schema: p.schema}, taken)
			if err != nil {
				return nil, err
			}
			w.Form = form
		}
		return wire.NewEncoder(w)
	}
	method, err := p.typed.SerializationMethod()
	if err != nil {
		return nil, err
	}
	style, ok := wire.ParseStyle(method.Style)
	if ok {
		w.Style, w.Explode = style, method.Explode
		if encoder, err := wire.NewEncoder(w); err == nil {
			return encoder, nil
		}
	}
	w.Style = of.location.Style()
	w.Explode = w.Style.Explode()
	if p.typed.Explode != nil {
		w.Explode = *p.typed.Explode
	}
	encoder, err := wire.NewEncoder(w)
	if err == nil { // otherwise the style was not the cause
		c.problems.at(p.node, codeStyle, "style %q is not one for a parameter in %q; %q is used", method.Style, of.location.String(), w.Style.String())
	}
	return encoder, err
}

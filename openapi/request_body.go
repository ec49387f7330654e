package openapi

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/mediatype"
	"drawbridge/openapi/tree"
	"drawbridge/openapi/wire"
)

// A body is the plan of the request body.
type body struct {
	kind     string // of the table
	of       string // the media type as the document has it
	media    string // Content-Type of the request
	list     string // the same for a body that is an array; "" if it makes no difference
	required bool
	closed   bool // the schema forbids members that it does not declare
	codec    codec
	form     bodyForm
	first    int               // formWhole: its index in Operation.arguments; formMembers: that of the first member
	rename   map[string]string // formRoot: argument name → wire name, where they differ
	renamed  map[string]string // the reverse
}

// bodyForm is the relation of the arguments to the body.
type bodyForm uint8

const (
	formWhole   bodyForm = iota // the argument "body" is the body
	formMembers                 // arguments beside the parameters are members of the body
	formRoot                    // all arguments are members of the body
)

// A codec encodes bodies of one media type. Values are JSON texts that have been scanned.
type codec struct {
	whole   func(dst, value []byte) ([]byte, error)
	members func(dst []byte, members iter.Seq2[string, []byte]) ([]byte, error) // nil if a body of this type has none
	// begin, if it is not nil, makes the codec of one body and its Content-Type, for types with a random boundary.
	begin func() (codec, string)
	// typed, if it is not nil, replaces whole for types whose Content-Type depends on the value.
	typed func(dst, value []byte) (out []byte, media string, err error)
	files bool // some parts are files
	// unwritten returns the pointers of the nulls in the value of a member that the format can't express; nil if it
	// expresses all.
	unwritten func(name string, value []byte) []string
	bytes     int // approximate memory; see Operation.size
	// plan appends the settings that determine the encoding of bodies; nil if the media type determines it. Its result
	// is that of XMLNode.AppendPlan.
	plan func(dst []byte) ([]byte, bool)
	err  error // the reason why there is no such codec: the operation is skipped
}

// A bodyKind is a row of the table of request media types. New types need a row, nothing else.
type bodyKind struct {
	name    string
	matches func(media string) bool
	members bool // an object body may be spread over arguments
	// codec makes the encoder for one media type object.
	codec func(c *compiler, ct *content) codec
	// prepare replaces the document's schema of the body, for types with parts that are not JSON values.
	prepare func(c *compiler, ct *content) *tree.Node
	// schema replaces the document's schema of the argument "body", for types whose bytes are not a JSON value.
	schema func(ct *content) *tree.Node
	hint   string // added to the description of the argument "body"
	list   string // Content-Type of a body that is an array; "" if it makes no difference
}

// bodyKinds returns the table. Its order is the order of preference among the media types of one body.
func bodyKinds() []bodyKind {
	return []bodyKind{
		{name: "json", matches: func(m string) bool {
			return mediatype.IsJSON(m) || mediatype.IsRange(m) && m != "text/*" && !isMultipart(m)
		}, members: true, codec: jsonCodec},
		{name: "form", matches: mediatype.IsForm, members: true, codec: formCodec},
		{name: "ndjson", matches: isNDJSON, codec: ndjsonCodec, hint: "An array; each element is sent as one line of JSON."},
		{name: "xml", matches: mediatype.IsXML, members: true, prepare: xmlSchema, codec: xmlCodec},
		{name: "multipart", matches: isMultipart, members: true, prepare: multipartSchema, codec: multipartCodec},
		{name: "token", matches: mediatype.IsToken, codec: textCodec, schema: tokenSchema, hint: tokenHint},
		{name: "text", matches: func(m string) bool { return mediatype.IsText(m) || m == "text/*" }, codec: textCodec, schema: textSchema},
		{name: "json file", matches: func(string) bool { return false }, codec: jsonFileCodec, schema: anySchema, hint: jsonFileHint},
		{name: "raw", matches: func(m string) bool { return !mediatype.IsBinary(m) }, codec: rawCodec, hint: rawHint},
		{name: "binary", matches: func(string) bool { return true }, codec: binaryCodec, schema: binarySchema, hint: "The bytes, encoded as base64."},
	}
}

const rawHint = "A string is sent as it is, one that is a data URL (data:image/png;base64,…) as its bytes, anything else as JSON."

const (
	tokenHint    = "The signed or encrypted token as text, such as header.payload.signature."
	jsonFileHint = "The JSON to send. A string is sent as it is, one that is base64 or a data URL as its bytes."
)

// kindOf returns the index in the table of the kind of a media type. For a range, or an unknown media type, the schema
// decides: a JSON type other than string means JSON, while a string could be anything.
func (c *compiler) kindOf(kinds []bodyKind, ct *content) int {
	media := mediatype.Essence(ct.media)
	named := func(name string) int { return slices.IndexFunc(kinds, func(k bodyKind) bool { return k.name == name }) }
	r := slices.IndexFunc(kinds, func(k bodyKind) bool { return k.matches(media) })
	value := c.follow(ct.schema)
	switch bytes := c.isFile(value, nil) || value.Get("format").Text() == "byte"; {
	case kinds[r].name == "json" && mediatype.IsRange(media) && !mediatype.IsJSON(media):
		switch {
		case mediatype.IsOpaqueRange(media) || bytes:
			return named("binary")
		case c.schema.TakesString(ct.schema):
			return named("raw")
		}
	case kinds[r].name == "json" && c.isFile(value, nil):
		return named("json file") // quoted, it would not be a file
	case kinds[r].name == "raw" && bytes:
		return named("binary")
	case kinds[r].name == "text" && c.isFile(value, nil):
		return named("raw") // bytes that are declared as text: a data URL can represent all of them
	}
	return r
}

func isNDJSON(media string) bool {
	return slices.Contains([]string{"application/x-ndjson", "application/ndjson", "application/jsonl", "application/jsonlines"}, media)
}

// preference orders the media types of one kind: plain JSON comes first, and ranges last.
func preference(media string) int {
	switch media = mediatype.Essence(media); {
	case media == "application/json":
		return 0
	case media == mergePatch: // before the media types of one family of services
		return 1
	case mediatype.IsRange(media):
		return 3
	default:
		return 2
	}
}

// chooseBody selects the media type to send. A nil kind means that no body is sent.
func (c *compiler) chooseBody(m *model) (*content, *bodyKind) {
	if m.body == nil {
		return nil, nil
	}
	if len(m.body.contents) == 0 {
		if !m.body.required {
			c.problems.at(m.body.node, codeBodyEmpty, "request body is left out: it has no content")
			return nil, nil
		}
		// The standard requires content; a body without it is JSON in all known documents, or a string.
		c.problems.at(m.body.node, codeBodyEmpty, "request body has no content; a string is sent as it is, anything else as JSON")
		m.body.contents = []content{{media: "*/*", node: m.body.node}}
	}
	var best *content
	var kind *bodyKind
	rank := -1
	kinds := bodyKinds()
	parts := slices.ContainsFunc(m.body.contents, func(ct content) bool { return isMultipart(mediatype.Essence(ct.media)) })
	for i := range m.body.contents {
		ct := &m.body.contents[i]
		r := c.kindOf(kinds, ct)
		if parts && kinds[r].members && !isMultipart(mediatype.Essence(ct.media)) && (c.hasFiles(ct.schema) || kinds[r].name == "xml" && c.xmlIsText(ct.schema)) {
			continue // a file goes into a part of its own: JSON and forms can't contain it
		}
		if rank < 0 || r < rank || r == rank && preference(ct.media) < preference(best.media) {
			best, kind, rank = ct, &kinds[r], r
		}
	}
	if object, list := m.body.patches(); object != nil {
		best, kind = c.patchBody(object, list)
	} else {
		c.otherBodies(m, best, kind)
	}
	prepared := *best
	if prepared.merge == nil && prepared.isMergePatch() {
		prepared.merge = prepared.schema
	}
	prepared.document = best.schema
	if kind.prepare != nil {
		prepared.schema = kind.prepare(c, &prepared)
	}
	if !m.body.required && c.schema.Void(prepared.schema) {
		return nil, nil // an argument that can't have an effect: Stripe has one for each GET
	}
	return &prepared, kind
}

// otherBodies reports the media types of a body with a schema of their own, which no call can send.
func (c *compiler) otherBodies(m *model, sent *content, kind *bodyKind) {
	var others []string
	for i := range m.body.contents {
		other := &m.body.contents[i]
		switch {
		case other == sent:
		case other.schema == nil && kind.name != "binary" && isSentAsBytes(mediatype.Essence(other.media)),
			other.schema != nil && sent.schema != nil && !c.sameSchema(other.schema, sent.schema):
			others = append(others, strconv.Quote(other.media))
		}
	}
	if len(others) > 0 {
		c.problems.at(m.body.node, codeBodyMedia, "request body is another one as %s; it is sent as %q alone", strings.Join(others, ", "), sent.media)
	}
}

// isSentAsBytes reports whether a body of the media type is sent as bytes of unknown content. An invalid media type
// does not count.
func isSentAsBytes(media string) bool {
	kinds := bodyKinds()
	return strings.Contains(media, "/") && !slices.ContainsFunc(kinds[:len(kinds)-1], func(k bodyKind) bool { return k.matches(media) })
}

// sameSchema reports whether two schemas are the same, or written alike.
func (c *compiler) sameSchema(a, b *tree.Node) bool {
	if a, b = c.follow(a), c.follow(b); a == b {
		return true
	}
	return string(a.AppendJSON(nil)) == string(b.AppendJSON(nil))
}

// sends returns the Content-Type to send for a media type of the document.
func (ct *content) sends() string {
	if mediatype.IsRange(ct.media) {
		if mediatype.Essence(ct.media) == "text/*" {
			return "text/plain; charset=utf-8"
		}
		return "application/json"
	}
	// Header values are ASCII without controls; a document's text may be anything.
	for i := range len(ct.media) {
		if c := ct.media[i]; c < ' ' || c > '~' {
			return mediatype.Essence(strings.ToValidUTF8(ct.media[:i], ""))
		}
	}
	media := mediatype.Essence(ct.media)
	if mediatype.IsJSON(media) && isWide(ct.media) { // JSON is UTF-8, see body_charset.go
		return mediatype.Without(ct.media, "charset")
	}
	if strings.HasPrefix(media, "text/") && mediatype.Charset(ct.media) == "" {
		return media + "; charset=utf-8"
	}
	return strings.Clone(strings.TrimSpace(ct.media))
}

func jsonCodec(*compiler, *content) codec {
	return codec{
		whole: func(dst, value []byte) ([]byte, error) { return append(dst, value...), nil },
		members: func(dst []byte, members iter.Seq2[string, []byte]) ([]byte, error) {
			dst = append(dst, '{')
			for name, value := range members {
				if dst[len(dst)-1] != '{' {
					dst = append(dst, ',')
				}
				dst = jsonscan.AppendString(dst, name)
				dst = append(dst, ':')
				dst = append(dst, value...)
			}
			return append(dst, '}'), nil
		},
	}
}

// formCodec writes application/x-www-form-urlencoded by the encoding objects of the document.
func formCodec(c *compiler, ct *content) codec {
	form, err := c.formEncoder(ct, nil)
	if err != nil {
		c.problems.at(ct.node, codeStyle, "encoding is ignored: %v", err)
		form, err = wire.NewFormEncoder(nil, formFallback())
	}
	if err != nil {
		panic(err) // the fallback is ours
	}
	return codec{
		bytes: partBytes * ct.node.Get("encoding").Len(), unwritten: form.Unwritten,
		plan: func(dst []byte) ([]byte, bool) { return form.AppendPlan(dst), true },
		whole: func(dst, value []byte) ([]byte, error) {
			switch jsonscan.KindOf(value) {
			case jsonscan.Object:
				return form.Append(dst, textMembers(value))
			case jsonscan.String:
				return append(dst, jsonscan.Unquote(value)...), nil // a form that the caller has encoded
			default:
				return nil, errors.New("expected an object")
			}
		},
		members: form.Append,
	}
}

func formFallback() wire.Parameter {
	return wire.Parameter{In: wire.Query, Style: wire.ByType, Explode: true}
}

// formEncoder compiles the properties of a form by its encoding objects. beside returns the names that the members of
// exploded objects must not have, in addition to those of the form; it may be nil.
func (c *compiler) formEncoder(ct *content, beside func() map[string]struct{}) (*wire.FormEncoder, error) {
	properties := make(map[string]wire.Parameter)
	var names []string
	objects := make(map[string]bool) // lists of objects, which no delimiter can join
	c.eachProperty(ct.schema, func(name string, property *tree.Node) {
		name = strings.Clone(name)
		if e := ct.node.Get("encoding").Get(name); e != nil && c.schema.IsObject(c.follow(property).Get("items")) {
			objects[name] = true
		}
		if ct.node.Get("encoding").Len() > 0 {
			names = append(names, name) // for Taken
		}
		if marks := c.nested(property); marks != nil {
			properties[name] = wire.Parameter{Style: wire.ByType, Explode: true, Nested: marks}
		}
	})
	taken := sync.OnceValue(func() map[string]struct{} {
		set := make(map[string]struct{}, len(names))
		for _, name := range names {
			set[name] = struct{}{}
		}
		if beside != nil {
			maps.Copy(set, beside())
		}
		return set
	})
	for name, e := range ct.node.Get("encoding").Members() {
		name = strings.Clone(name)
		p := wire.Parameter{In: wire.Query, Style: wire.ByType, Explode: true, Taken: taken, Nested: properties[name].Nested}
		named, types := e.Get("style").Text(), contentTypes(e)
		switch reserved := isTrue(e.Get("allowReserved")); {
		case named != "" || e.Get("explode") != nil || reserved:
			style, ok := wire.ParseStyle(named)
			if !ok {
				style = wire.Form
				if named != "" {
					c.problems.at(ct.node, codeStyle, "style %q of form property %q is not known; \"form\" is used", named, name)
				}
			}
			p.Style, p.Explode, p.AllowReserved = style, style.Explode(), reserved
			if explode := e.Get("explode"); explode != nil {
				p.Explode = isTrue(explode)
			}
			if !p.Explode && objects[name] {
				c.problems.at(ct.node, codeStyle, "form property %q is a list of objects, which style %q can't join; each of them is a field as JSON", name, style.String())
				p.Style, p.Explode = wire.ByType, true
			}
		case len(types) > 0 && mediatype.IsJSON(mediatype.Essence(types[0])):
			p.ContentType = "application/json"
		}
		properties[name] = p
	}
	return wire.NewFormEncoder(properties, formFallback())
}

// textMembers is jsonscan.Members with names as strings.
func textMembers(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for name, value := range jsonscan.Members(object) {
			if !yield(string(name), value) {
				return
			}
		}
	}
}

func ndjsonCodec(*compiler, *content) codec {
	return codec{whole: func(dst, value []byte) ([]byte, error) {
		switch jsonscan.KindOf(value) {
		case jsonscan.Array:
			for element := range jsonscan.Elements(value) {
				dst = jsonscan.AppendCompact(dst, element)
				dst = append(dst, '\n')
			}
			return dst, nil
		case jsonscan.String: // lines that the caller has joined
			dst = append(dst, jsonscan.Unquote(value)...)
			if len(dst) > 0 && dst[len(dst)-1] != '\n' {
				dst = append(dst, '\n')
			}
			return dst, nil
		default:
			return append(jsonscan.AppendCompact(dst, value), '\n'), nil
		}
	}}
}

// textCodec sends the text of a string; any other value, which the document's schema must have requested, as JSON.
func textCodec(*compiler, *content) codec {
	return codec{whole: func(dst, value []byte) ([]byte, error) {
		if jsonscan.KindOf(value) == jsonscan.String {
			return append(dst, jsonscan.Unquote(value)...), nil
		}
		return append(dst, value...), nil
	}}
}

// rawCodec sends the text or the bytes of a string; any other value as JSON.
func rawCodec(c *compiler, ct *content) codec {
	media := ct.sends()
	if mediatype.IsRange(ct.media) {
		media = mediatype.Essence(ct.media)
	}
	e := c.charset(ct)
	if e == nil || mediatype.IsRange(media) {
		return codec{typed: func(dst, value []byte) ([]byte, string, error) { return wire.AppendRaw(dst, value, media) }}
	}
	return codec{typed: func(dst, value []byte) ([]byte, string, error) {
		text, sent, err := wire.AppendRaw(nil, value, media)
		if err != nil || jsonscan.KindOf(value) == jsonscan.String && wire.IsDataURL(string(jsonscan.Unquote(value))) {
			return append(dst, text...), sent, err // the bytes of a data URL are the caller's
		}
		out, err := e.Append(dst, text)
		if err != nil {
			return dst, "", unencodable(e, err, value)
		}
		return out, sent, nil
	}}
}

// jsonFileCodec sends a JSON document that is given as JSON, as text or as bytes.
func jsonFileCodec(*compiler, *content) codec {
	return codec{whole: wire.AppendJSONFile}
}

// textSchema keeps the document's schema unless it is empty.
func textSchema(ct *content) *tree.Node {
	if ct.schema.Len() > 0 {
		return ct.schema
	}
	return stringSchema(ct.node, "")
}

// tokenSchema keeps the document's schema if it is that of a text. Others describe the claims, which only the holder of
// a key can turn into a token.
func tokenSchema(ct *content) *tree.Node {
	if types := ct.schema.Get("type"); types.Text() == "string" {
		return ct.schema
	}
	return stringSchema(ct.node, "")
}

// anySchema accepts every value.
func anySchema(ct *content) *tree.Node { return tree.NewObject(ct.node) }

func binarySchema(ct *content) *tree.Node { return stringSchema(ct.node, "byte") }

func stringSchema(at *tree.Node, format string) *tree.Node {
	s := tree.NewObject(at)
	s.Set("type", tree.NewString(at, "string"))
	if format != "" {
		s.Set("format", tree.NewString(at, format))
	}
	return s
}

// binaryCodec decodes base64 in any of its variants, since models use them all. If the body is transferred as base64,
// the text is sent unchanged.
func binaryCodec(c *compiler, ct *content) codec {
	if c.sentAsBase64(ct) {
		return textCodec(c, ct)
	}
	if types := []string{mediatype.Essence(ct.media)}; mediatype.IsRange(ct.media) {
		return codec{typed: func(dst, value []byte) ([]byte, string, error) { return wire.AppendFile(dst, value, types) }}
	}
	return codec{whole: func(dst, value []byte) ([]byte, error) {
		return wire.AppendBytes(dst, string(jsonscan.Unquote(value)))
	}}
}

// sentAsBase64 reports whether a body of bytes is transferred as base64 text (OAS 3.0.4 and 3.1.1 "Considerations for
// File Uploads"). application/octet-stream with format byte is not: such documents mean bytes, as the media type
// states, since generators write format byte for the byte arrays of programming languages.
func (c *compiler) sentAsBase64(ct *content) bool {
	media, s := mediatype.Essence(ct.media), c.follow(ct.schema)
	if mediatype.IsRange(media) {
		return false
	}
	return s.Get("format").Text() == "byte" && !mediatype.IsGeneric(media) || strings.EqualFold(s.Get("contentEncoding").Text(), "base64")
}

package openapi

import (
	"errors"
	"iter"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/mediatype"
	"drawbridge/openapi/tree"
	"drawbridge/openapi/wire"
)

const formData = "multipart/form-data"

func isMultipart(media string) bool { return strings.HasPrefix(media, "multipart/") }

// partBytes is the approximate memory of the plan of one part, or of one property of a form.
const partBytes = 300

// multipartCodec writes the parts by the encoding objects and the schemas of the document.
func multipartCodec(c *compiler, ct *content) codec {
	media := mediatype.Essence(ct.media)
	if isFormData(ct) {
		media = formData // also for a range
	}
	list := media != formData && c.isList(ct.document)
	plan := c.multipartPlan(ct, media == formData, list)
	encoder := c.multipartEncoder(ct, &plan)
	if media == "multipart/related" && len(plan.Order) > 0 {
		media += `; type="` + rootType(&plan) + `"`
	}
	files := plan.Fallback.File
	for _, p := range plan.Parts {
		files = files || p.File
	}
	return codec{files: files, plan: encoder.AppendPlan, unwritten: encoder.Unwritten, bytes: partBytes * len(plan.Parts), begin: func() (codec, string) {
		boundary := wire.NewBoundary()
		return codec{
			whole: func(dst, value []byte) ([]byte, error) {
				switch kind := jsonscan.KindOf(value); {
				case kind == jsonscan.Object:
					return encoder.Append(dst, boundary, textMembers(value))
				case kind == jsonscan.Array && list:
					return encoder.AppendList(dst, boundary, value)
				default:
					return dst, errors.New("expected an object of the parts by name")
				}
			},
			members: func(dst []byte, members iter.Seq2[string, []byte]) ([]byte, error) {
				return encoder.Append(dst, boundary, members)
			},
		}, media + "; boundary=" + boundary
	}}
}

// multipartPlan compiles the parts: those that the schema or the encoding object names, and those without a name. named
// means that every part is sent with its name, list that the parts are the items of an array.
func (c *compiler) multipartPlan(ct *content, named, list bool) wire.Multipart {
	s, encoding := ct.document, ct.node.Get("encoding")
	plan := wire.Multipart{Named: named, Parts: make(map[string]wire.Part), Text: partIn}
	c.eachProperty(s, func(name string, property *tree.Node) {
		if _, known := plan.Parts[name]; !known {
			name = strings.Clone(name)
			plan.Parts[name] = c.part(ct, name, property, encoding.Get(name))
			plan.Order = append(plan.Order, name)
		}
	})
	for name, e := range encoding.Members() {
		if _, known := plan.Parts[name]; !known {
			name = strings.Clone(name)
			plan.Parts[name] = c.part(ct, name, nil, e)
		}
	}
	if c.partsUnknown(s) {
		plan.Fallback.File = true
	} else if more := c.follow(s).Get("additionalProperties"); more.Kind() == tree.Object {
		plan.Fallback = c.part(ct, "", more, nil)
	}
	if list {
		for i, e := range ct.node.Get("prefixEncoding").Items() {
			plan.Prefix = append(plan.Prefix, c.part(ct, "", c.follow(s).Get("prefixItems").At(i), e))
		}
		plan.Fallback = c.part(ct, "", c.follow(s).Get("items"), ct.node.Get("itemEncoding"))
	}
	return plan
}

// multipartEncoder returns the encoder of a plan. If the document's description of the parts can't be used, that is
// reported, and the plan keeps only which parts are files.
func (c *compiler) multipartEncoder(ct *content, plan *wire.Multipart) *wire.MultipartEncoder {
	encoder, err := wire.NewMultipartEncoder(*plan)
	if err == nil {
		return encoder
	}
	c.problems.at(ct.node, codeStyle, "encoding is ignored: %v", err)
	for name, p := range plan.Parts {
		plan.Parts[name] = wire.Part{File: p.File, Base64: p.Base64}
	}
	plan.Fallback = wire.Part{File: plan.Fallback.File, Base64: plan.Fallback.Base64}
	plan.Prefix = nil
	if encoder, err = wire.NewMultipartEncoder(*plan); err != nil {
		panic(err) // nothing of the document is left in it
	}
	return encoder
}

// rootType returns the type of the root of multipart/related, which is the first part (RFC 2387 section 3.1).
func rootType(plan *wire.Multipart) string {
	if types := plan.Parts[plan.Order[0]].Types; len(types) > 0 && !mediatype.IsRange(types[0]) {
		return mediatype.Essence(types[0])
	}
	return "application/json"
}

func (c *compiler) isList(s *tree.Node) bool {
	s = c.follow(s)
	return s.Get("type").Text() == "array" || s.Get("type") == nil && (s.Get("items") != nil || s.Get("prefixItems") != nil)
}

// eachProperty yields the properties that a schema has at its top, including those of its composition.
func (c *compiler) eachProperty(s *tree.Node, yield func(name string, property *tree.Node)) {
	seen := make(map[*tree.Node]bool)
	var visit func(n *tree.Node)
	visit = func(n *tree.Node) {
		n = c.followAll(n, visit)
		if n == nil || seen[n] {
			return
		}
		seen[n] = true
		for name, property := range n.Get("properties").Members() {
			yield(name, property)
		}
		for _, key := range []string{"allOf", "anyOf", "oneOf"} {
			for _, part := range n.Get(key).Items() {
				visit(part)
			}
		}
		for _, kind := range c.schema.Alternatives(n).Items() {
			visit(kind)
		}
		for _, key := range []string{"then", "else"} {
			if part := n.Get(key); part != nil {
				visit(part)
			}
		}
	}
	visit(s)
}

// part plans one part from the schema of its property and from its encoding object; both may be nil.
func (c *compiler) part(ct *content, name string, s, encoding *tree.Node) wire.Part {
	p := wire.Part{Types: contentTypes(encoding)}
	if written := encoding.Get("contentType").Text(); strings.Contains(strings.ToLower(written), "multipart/") {
		c.problems.at(encoding, codeStyle, "contentType %q of part %q is left out: parts within parts are not written", written, name)
	}
	p.File = c.holdsFile(s, p.Types)
	p.Base64 = p.File && !c.textBeside(s, p.Types)
	if !p.File {
		c.styleOfPart(ct, &p, name, encoding)
	}
	each := s
	if c.isList(s) {
		each = c.follow(s).Get("items") // each is a part
	}
	value := c.follow(each)
	if len(p.Types) > 0 && mediatype.IsXML(mediatype.Essence(p.Types[0])) && !p.File && !p.Styled && c.schema.IsObject(each) {
		if p.XML = c.partXML(name, each); p.XML == nil {
			c.problems.at(encoding, codeStyle, "contentType %q of part %q is left out: the schema doesn't say what the elements are; JSON is sent", p.Types[0], name)
			p.Types = nil
		}
	}
	if encoded := value.Get("contentEncoding"); encoded.Text() != "" && !p.File && !p.Styled && c.doc.dialect == openapi31 {
		// OAS 3.1.1 "Encoding Object": a text with contentEncoding is sent unchanged, and this header declares it.
		p.Headers = append(p.Headers, wire.PartHeader{Name: "Content-Transfer-Encoding", Value: strings.Clone(encoded.Text())})
	}
	media := value.Get("contentMediaType").Text()
	if p.File && mediatype.IsGeneric(mediatype.Essence(media)) {
		media = "" // a generic type for bytes: the content of each file decides (FastAPI declares it for all uploads)
	}
	if media != "" && len(p.Types) == 0 && !p.Styled {
		p.Types = []string{strings.Clone(media)}
	}
	c.headersOfPart(&p, encoding)
	return p
}

// styleOfPart compiles a part that is encoded like a query parameter, as "style" or "explode" of its encoding object
// requires.
func (c *compiler) styleOfPart(ct *content, p *wire.Part, name string, encoding *tree.Node) {
	style, explode := encoding.Get("style"), encoding.Get("explode")
	if style == nil && explode == nil {
		return
	}
	p.Styled = true
	var known bool
	if p.Style, known = wire.ParseStyle(style.Text()); !known {
		p.Style = wire.Form
		if style != nil {
			c.problems.at(ct.node, codeStyle, "style %q of form property %q is not known; \"form\" is used", style.Text(), name)
		}
	}
	p.Explode = p.Style.Explode()
	if explode != nil {
		p.Explode = isTrue(explode)
	}
}

// headersOfPart compiles the headers of a part for which the document gives a value.
func (c *compiler) headersOfPart(p *wire.Part, encoding *tree.Node) {
	for header, node := range encoding.Get("headers").Members() {
		if strings.EqualFold(header, "Content-Type") || strings.EqualFold(header, "Content-Disposition") {
			continue // OAS "Encoding Object", headers
		}
		if value, ok := c.constant(c.follow(node)); ok {
			p.Headers = append(p.Headers, wire.PartHeader{Name: strings.Clone(header), Value: value})
		} else {
			c.problems.at(node, codeHeaderForbidden, "header %q of a part is left out: the document gives no value for it", header)
		}
	}
}

// partXML compiles the objects of a part to XML. It is nil if the schema doesn't describe that.
func (c *compiler) partXML(name string, s *tree.Node) *wire.XMLNode {
	if c.xmlIsText(s) {
		return nil
	}
	plan, err := c.xmlPlan(s)
	if err != nil {
		return nil
	}
	if plan.Name == "" && wire.IsXMLName(name) {
		plan.Name = name
	} else if plan.Name == "" {
		plan.Name = defaultXMLRoot
	}
	return plan
}

// contentTypes parses the contentType of an encoding object, which may list several. Nested multipart is not supported.
func contentTypes(encoding *tree.Node) (types []string) {
	for t := range strings.SplitSeq(encoding.Get("contentType").Text(), ",") {
		if t = strings.TrimSpace(t); t != "" && !isMultipart(mediatype.Essence(t)) {
			types = append(types, strings.Clone(t))
		}
	}
	return types
}

// constant returns the only possible value of a header object: a const, the only member of an enum, or a default.
func (c *compiler) constant(header *tree.Node) (string, bool) {
	s := c.follow(header.Get("schema"))
	if s == nil {
		s = header // 2.0, and documents that omit the schema
	}
	value := s.Get("const")
	if enum := s.Get("enum"); value == nil && enum.Len() == 1 {
		value = enum.At(0)
	}
	if value == nil {
		value = s.Get("default")
	}
	switch value.Kind() {
	case tree.String, tree.Number, tree.Bool:
		return strings.Clone(value.Text()), true
	default: // no other type is one header value
		return "", false
	}
}

// multipartSchema returns the schema of a multipart body with its files as the objects that a caller gives them by.
func multipartSchema(c *compiler, ct *content) *tree.Node {
	if isFormData(ct) && c.isList(ct.schema) {
		ct.document = c.formOfList(ct)
		ct.schema = ct.document
	}
	s := ct.schema
	if !isFormData(ct) && c.isList(s) {
		return c.partList(ct, s)
	}
	if c.partsUnknown(s) {
		const files = "The parts by name. A part that is a file is an object with data (base64) or text, filename and media_type."
		object := tree.NewObject(ct.node)
		object.Set("type", tree.NewString(ct.node, "object"))
		object.Set("additionalProperties", tree.NewBool(ct.node, true))
		object.Set("description", tree.NewString(ct.node, strings.TrimSpace(c.follow(s).Get("description").Text()+"\n\n"+files)))
		return object
	}
	key := preparedKey{ct.node.Get("encoding"), s}
	if known, ok := c.prepared.Load(key); ok {
		if n, ok := known.(*tree.Node); ok {
			return n
		}
	}
	w := fileWalk{c: c, encoding: key.encoding, open: make(map[*tree.Node]bool)}
	n := w.object(s)
	c.prepared.Store(key, n)
	return n
}

// formOfList returns an object schema instead of the array that a document gives for a form: each item is a part, and
// every part of a form has a name, which a list lacks. The name is that of the only encoding object, or else given by
// the caller, as the text of the operation describes it.
func (c *compiler) formOfList(ct *content) *tree.Node {
	if known, ok := c.prepared.Load(preparedKey{ct.node, ct.schema}); ok {
		if n, ok := known.(*tree.Node); ok {
			return n
		}
	}
	object := tree.NewObject(ct.node)
	object.Set("type", tree.NewString(ct.node, "object"))
	if encoding := ct.node.Get("encoding"); encoding.Len() == 1 {
		properties, required := tree.NewObject(ct.node), tree.NewArray(ct.node)
		for name := range encoding.Members() {
			properties.Set(name, tree.Copy(ct.schema))
			required.Append(tree.NewString(ct.node, name))
		}
		object.Set("properties", properties)
		object.Set("required", required)
	} else {
		const says = "The parts: under the name that they have in the form, a list of their values. The document does not name them."
		object.Set("description", tree.NewString(ct.node, says))
		object.Set("additionalProperties", tree.Copy(ct.schema))
	}
	c.prepared.Store(preparedKey{ct.node, ct.schema}, object)
	return object
}

// A preparedKey is the complete input of the schema of a multipart body. Operations that share it share the result.
type preparedKey struct{ encoding, schema *tree.Node }

// partsUnknown reports whether the document does not describe the parts: the body is then an object of anything.
func (c *compiler) partsUnknown(s *tree.Node) bool {
	if !c.schema.IsObject(s) {
		return true
	}
	known := c.follow(s).Get("additionalProperties").Kind() == tree.Object
	c.eachProperty(s, func(string, *tree.Node) { known = true })
	return !known
}

func isFormData(ct *content) bool {
	media := mediatype.Essence(ct.media)
	return media == formData || mediatype.IsRange(media)
}

// partList returns the schema of a body whose parts are a list, with its files replaced.
func (c *compiler) partList(ct *content, s *tree.Node) *tree.Node {
	list := tree.Copy(c.follow(s))
	if file, ok := c.fileSchema(list.Get("items"), contentTypes(ct.node.Get("itemEncoding")), true); ok {
		list.Set("items", file)
	}
	i := -1
	prefix, changed := replaced(list.Get("prefixItems"), func(item *tree.Node) *tree.Node {
		i++
		if file, ok := c.fileSchema(item, contentTypes(ct.node.Get("prefixEncoding").At(i)), false); ok {
			return file
		}
		return item
	})
	if changed {
		list.Set("prefixItems", prefix)
	}
	return list
}

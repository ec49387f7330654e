package openapi

import (
	"errors"
	"iter"
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/tree"
	"drawbridge/openapi/wire"
)

const formData = "multipart/form-data"

func isMultipart(media string) bool { return strings.HasPrefix(media, "multipart/") }

// multipartCodec writes the parts by the encoding objects and the schemas of the document.
func multipartCodec(c *compiler, ct *content) codec {
	s := ct.node.Get("schema")
	media := mediaType(ct.media)
	if isFormData(ct) {
		media = formData // for a range too
	}
	plan := wire.Multipart{Named: media == formData, Parts: make(map[string]wire.Part)}
	c.eachProperty(s, func(name string, property *tree.Node) {
		if _, known := plan.Parts[name]; !known {
			name = strings.Clone(name)
			plan.Parts[name] = c.part(ct, name, property, ct.node.Get("encoding").Get(name))
			plan.Order = append(plan.Order, name)
		}
	})
	for name, e := range ct.node.Get("encoding").Members() {
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
	list := !plan.Named && c.isList(s)
	if list {
		for i, e := range ct.node.Get("prefixEncoding").Items() {
			plan.Prefix = append(plan.Prefix, c.part(ct, "", c.follow(s).Get("prefixItems").At(i), e))
		}
		plan.Fallback = c.part(ct, "", c.follow(s).Get("items"), ct.node.Get("itemEncoding"))
	}
	encoder, err := wire.NewMultipartEncoder(plan)
	if err != nil {
		c.problems.at(ct.node, codeStyle, "encoding is ignored: %v", err)
		for name, p := range plan.Parts {
			plan.Parts[name] = wire.Part{File: p.File}
		}
		plan.Fallback = wire.Part{File: plan.Fallback.File}
		plan.Prefix = nil
		if encoder, err = wire.NewMultipartEncoder(plan); err != nil {
			panic(err) // nothing of the document is left in it
		}
	}
	if media == "multipart/related" && len(plan.Order) > 0 {
		// RFC 2387 section 3.1: the type of the root, which is the first part.
		if types := plan.Parts[plan.Order[0]].Types; len(types) > 0 && !isWildcard(types[0]) {
			media += `; type="` + mediaType(types[0]) + `"`
		} else {
			media += `; type="application/json"`
		}
	}
	files := plan.Fallback.File
	for _, p := range plan.Parts {
		files = files || p.File
	}
	return codec{files: files, begin: func() (codec, string) {
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

func (c *compiler) isList(s *tree.Node) bool {
	s = c.follow(s)
	return s.Get("type").Text() == "array" || s.Get("type") == nil && (s.Get("items") != nil || s.Get("prefixItems") != nil)
}

// eachProperty hands out the properties that a schema has at its top, those of its composition with them.
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
	_, p.File = c.fileSchema(s, p.Types)
	if style := encoding.Get("style"); !p.File && (style != nil || encoding.Get("explode") != nil) {
		p.Styled = true
		known := false
		if p.Style, known = wire.ParseStyle(style.Text()); !known {
			p.Style = wire.Form
			if style != nil {
				c.problems.at(ct.node, codeStyle, "style %q of form property %q is not known; \"form\" is used", style.Text(), name)
			}
		}
		p.Explode = p.Style.Explode()
		if explode := encoding.Get("explode"); explode != nil {
			p.Explode = isTrue(explode)
		}
	}
	value := c.follow(s)
	if encoded := value.Get("contentEncoding"); encoded.Text() != "" && !p.File && !p.Styled && c.doc.dialect == openapi31 {
		// What OAS 3.1.1 "Encoding Object" says of contentEncoding: the text is sent as it is, and this tells so.
		p.Headers = append(p.Headers, wire.PartHeader{Name: "Content-Transfer-Encoding", Value: strings.Clone(encoded.Text())})
	}
	if media := value.Get("contentMediaType").Text(); media != "" && len(p.Types) == 0 && !p.Styled {
		p.Types = []string{strings.Clone(media)}
	}
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
	return p
}

// contentTypes reads the contentType of an encoding object, which may list several.
func contentTypes(encoding *tree.Node) (types []string) {
	for t := range strings.SplitSeq(encoding.Get("contentType").Text(), ",") {
		if t = strings.TrimSpace(t); t != "" {
			types = append(types, strings.Clone(t))
		}
	}
	return types
}

// constant returns the value that a header object leaves no choice about: a const, the only member of an enum, or a
// default.
func (c *compiler) constant(header *tree.Node) (string, bool) {
	s := c.follow(header.Get("schema"))
	if s == nil {
		s = header // 2.0, and documents that forget the schema
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
	default: // nothing else is one value of a header
		return "", false
	}
}

// multipartSchema returns the schema of a multipart body with its files as the objects that a caller gives them by.
func multipartSchema(c *compiler, ct *content) *tree.Node {
	s := ct.schema
	if !isFormData(ct) && c.isList(s) {
		return s
	}
	if c.partsUnknown(s) {
		const files = "The parts by name. A part that is a file is an object with data (base64) or text, filename and media_type."
		object := tree.NewObject(ct.node)
		object.Set("type", tree.NewString(ct.node, "object"))
		object.Set("additionalProperties", tree.NewBool(ct.node, true))
		object.Set("description", tree.NewString(ct.node, strings.TrimSpace(c.follow(s).Get("description").Text()+"\n\n"+files)))
		return object
	}
	w := fileWalk{c: c, encoding: ct.node.Get("encoding"), open: make(map[*tree.Node]bool)}
	return w.object(s)
}

// partsUnknown tells whether the document says nothing of the parts: the body is then an object of anything.
func (c *compiler) partsUnknown(s *tree.Node) bool {
	if !c.schema.IsObject(s) {
		return true
	}
	known := c.follow(s).Get("additionalProperties").Kind() == tree.Object
	c.eachProperty(s, func(string, *tree.Node) { known = true })
	return !known
}

func isFormData(ct *content) bool {
	media := mediaType(ct.media)
	return media == formData || isWildcard(media)
}

// hasFiles tells whether a property of a body is a file.
func (c *compiler) hasFiles(s *tree.Node) bool {
	found := false
	c.eachProperty(s, func(_ string, property *tree.Node) {
		if !found {
			_, found = c.fileSchema(property, nil)
		}
	})
	return found
}

// A fileWalk replaces the schemas of files in the schema of a body, down to where it is composed.
type fileWalk struct {
	c        *compiler
	encoding *tree.Node
	open     map[*tree.Node]bool
}

// object returns the schema with its files replaced, or as it is when there are none.
func (w *fileWalk) object(s *tree.Node) *tree.Node {
	n := w.c.follow(s)
	if n.Kind() != tree.Object || w.open[n] {
		return s
	}
	w.open[n] = true
	defer delete(w.open, n)
	var changed *tree.Node
	set := func(key string, member *tree.Node) {
		if changed == nil {
			changed = tree.Copy(n)
		}
		changed.Set(key, member)
	}
	var properties *tree.Node
	for name, property := range n.Get("properties").Members() {
		if file, ok := w.c.fileSchema(property, contentTypes(w.encoding.Get(name))); ok {
			if properties == nil {
				properties = tree.Copy(n.Get("properties"))
			}
			properties.Set(name, file)
		}
	}
	if properties != nil {
		set("properties", properties)
	}
	if file, ok := w.c.fileSchema(n.Get("additionalProperties"), nil); ok {
		set("additionalProperties", file)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		if parts, ok := replaced(n.Get(key), w.object); ok {
			set(key, parts)
		}
	}
	if changed == nil {
		return s
	}
	return changed
}

// replaced returns a list with its elements replaced, and whether one of them was.
func replaced(list *tree.Node, replace func(*tree.Node) *tree.Node) (*tree.Node, bool) {
	out, changed := tree.NewArray(list), false
	for _, item := range list.Items() {
		other := replace(item)
		changed = changed || other != item
		out.Append(other)
	}
	return out, changed
}

// maxFileDepth is how deep a file is looked for: in a list of alternatives that are lists of files.
const maxFileDepth = 4

// fileSchema returns what is published for the schema of a file, or of a list of files: an object with the content,
// the name and the media type. types are those of the encoding object. It is false for any other schema.
func (c *compiler) fileSchema(s *tree.Node, types []string) (*tree.Node, bool) {
	return c.fileSchemaAt(s, types, 0)
}

func (c *compiler) fileSchemaAt(s *tree.Node, types []string, depth int) (*tree.Node, bool) {
	n := c.follow(s)
	if n.Kind() != tree.Object || depth > maxFileDepth {
		return nil, false
	}
	if c.isFile(n, types) {
		return c.fileObject(s, n, types), true
	}
	if items := n.Get("items"); items != nil && n.Get("properties") == nil {
		file, ok := c.fileSchemaAt(items, types, depth+1)
		if !ok {
			return nil, false
		}
		list := tree.Copy(n)
		list.Set("items", file)
		return list, true
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		var only *tree.Node
		found, others := false, 0
		parts, _ := replaced(n.Get(key), func(part *tree.Node) *tree.Node {
			if text := c.follow(part).Get("type").Text(); text == "null" {
				return part
			}
			others++
			if file, ok := c.fileSchemaAt(part, types, depth+1); ok {
				only, found = file, true
				return file
			}
			return part
		})
		switch {
		case found && others == 1:
			if d := n.Get("description"); d != nil {
				only.Set("description", d)
			}
			return only, true
		case found && key != "allOf":
			either := tree.Copy(n)
			either.Set(key, nil)
			either.Set("anyOf", parts)
			return either, true
		}
	}
	return nil, false
}

// isFile tells whether a value of the schema is bytes that a JSON string can't hold: format binary (3.0), the type file
// (2.0), a media type without an encoding (3.1), or a string whose part is sent as something that is no text.
func (c *compiler) isFile(n *tree.Node, types []string) bool {
	kind := n.Get("type")
	words := []string{kind.Text()}
	if kind.Kind() == tree.Array { // 3.1: [string, "null"]
		words = nil
		for _, word := range kind.Items() {
			if word.Text() != "null" && word.Kind() != tree.Null {
				words = append(words, word.Text())
			}
		}
	}
	if len(words) != 1 || n.Get("contentEncoding") != nil || n.Get("enum") != nil || n.Get("const") != nil {
		return false
	}
	switch word := words[0]; {
	case word == "file", word == "File", word == "binary":
		return true
	case word != "" && !strings.EqualFold(word, "string"):
		return false
	case strings.EqualFold(n.Get("format").Text(), "binary"):
		return true
	case n.Get("contentMediaType").Text() != "":
		return isOpaque(n.Get("contentMediaType").Text())
	case n.Get("format") != nil, word == "" && composed(n):
		return false
	default:
		return len(types) > 0 && !slices.ContainsFunc(types, func(t string) bool { return !isOpaque(t) })
	}
}

func composed(n *tree.Node) bool {
	return slices.ContainsFunc([]string{"allOf", "anyOf", "oneOf", "properties", "items", "additionalProperties", "$ref"}, func(key string) bool { return n.Get(key) != nil })
}

// isOpaque tells whether the bytes of a media type are neither text nor a value that is written as text.
func isOpaque(media string) bool {
	media = mediaType(media)
	return !isJSON(media) && !isXML(media) && !isText(media) && media != "*/*" && media != "text/*"
}

// fileObject is the published schema of one file. s is the schema as it stands, n the one that it refers to.
func (c *compiler) fileObject(s, n *tree.Node, types []string) *tree.Node {
	if media := n.Get("contentMediaType").Text(); media != "" && len(types) == 0 {
		types = []string{media}
	}
	text := func(description string) *tree.Node {
		m := tree.NewObject(s)
		m.Set("type", tree.NewString(s, "string"))
		m.Set("description", tree.NewString(s, description))
		return m
	}
	properties := tree.NewObject(s)
	properties.Set(wire.FileText, text("The content, if it is text."))
	properties.Set(wire.FileData, text("The content in base64, if it is not text."))
	properties.Set(wire.FileName, text("Name of the file."))
	example := tree.NewObject(s)
	example.Set(wire.FileName, tree.NewString(s, "notes.txt"))
	example.Set(wire.FileText, tree.NewString(s, "Hello"))
	concrete := !slices.ContainsFunc(types, isWildcard)
	switch {
	case len(types) == 1 && concrete && !isGeneric(mediaType(types[0])): // nothing to choose
	case len(types) > 1 && concrete:
		media, enum := text("Media type of the file."), tree.NewArray(s)
		for _, t := range types {
			enum.Append(tree.NewString(s, mediaType(t)))
		}
		media.Set("enum", enum)
		properties.Set(wire.FileMediaType, media)
	default:
		media := text("Media type of the file.")
		if len(types) > 0 && !isGeneric(mediaType(types[0])) {
			media = text("Media type of the file: " + strings.Join(types, ", ") + ".")
		}
		properties.Set(wire.FileMediaType, media)
	}
	if len(types) > 0 && !slices.ContainsFunc(types, func(t string) bool { return !isOpaque(t) || isGeneric(mediaType(t)) }) {
		example = tree.NewObject(s)
		name := "file"
		if _, subtype, _ := strings.Cut(mediaType(types[0]), "/"); subtype != "*" {
			name += "." + subtype
		}
		example.Set(wire.FileName, tree.NewString(s, name))
		example.Set(wire.FileData, tree.NewString(s, "iVBORw0KGgo="))
	}
	object := tree.NewObject(s)
	object.Set("type", tree.NewString(s, "object"))
	for _, key := range []string{"description", "title", "deprecated", "readOnly"} {
		for _, from := range []*tree.Node{s, n} {
			if m := from.Get(key); m != nil {
				object.Set(key, m)
				break
			}
		}
	}
	object.Set("properties", properties)
	object.Set("additionalProperties", tree.NewBool(s, false))
	object.Set("example", example)
	return object
}

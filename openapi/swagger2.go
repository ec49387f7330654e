package openapi

import (
	"slices"
	"strings"

	"drawbridge/openapi/mediatype"
	"drawbridge/openapi/tree"
)

// upgrade returns an operation of Swagger 2.0 in the shape of OpenAPI 3.0. Nodes are built around the author's own, so
// positions and schemas do not change; references of parameters and responses are followed, since their targets have
// the old shape too. The parameters of the path item are merged in.
func (c *compiler) upgrade(f found) found {
	op := tree.NewObject(f.node)
	for _, key := range []string{"operationId", "summary", "description", "tags", "deprecated", "security", multiSegment, emptySegment} {
		if member := f.node.Get(key); member != nil {
			op.Set(key, member)
		}
	}
	parameters := tree.NewArray(f.node)
	var body *tree.Node
	var form []*tree.Node
	for _, p := range c.parameters(f) {
		switch p.node.Get("in").Text() {
		case "body":
			if body != nil {
				c.problems.at(p.node, codeBodySeveral, "second body parameter is left out: a request has one body")
				continue
			}
			body = p.node
		case "formData":
			form = append(form, p.node)
		default:
			parameters.Append(c.upgradeParameter(p))
		}
	}
	op.Set("parameters", parameters)

	consumes := c.mediaTypes(f, "consumes")
	switch {
	case body != nil && len(form) > 0:
		c.problems.at(body, codeBodySeveral, "form parameters beside a body are left out: a request has one body")
		fallthrough
	case body != nil:
		if len(consumes) == 0 {
			consumes = []string{"*/*"} // not declared
		}
		op.Set("requestBody", upgradeBody(body, consumes))
	case len(form) > 0:
		op.Set("requestBody", c.upgradeForm(f.node, form, consumes))
	}
	op.Set("responses", c.upgradeResponses(f))
	f.node, f.item = op, nil
	return f
}

// mediaTypes reads consumes or produces; those of the operation replace those of the document.
func (c *compiler) mediaTypes(f found, key string) []string {
	list := f.node.Get(key)
	if list.Kind() != tree.Array {
		list = c.set.Root().Get(key)
	}
	var all []string
	for _, n := range list.Items() {
		if n.Text() != "" {
			all = append(all, n.Text())
		}
	}
	return all
}

func (c *compiler) upgradeParameter(p parameter) *tree.Node {
	n := tree.NewObject(p.node)
	for _, key := range []string{"name", "in", "description", "required", "allowEmptyValue", "deprecated", "x-example", "example"} {
		if member := p.node.Get(key); member != nil {
			n.Set(strings.TrimPrefix(key, "x-"), member)
		}
	}
	if member := p.node.Get(multiSegment); member != nil {
		n.Set(multiSegment, member)
	}
	if p.description != "" {
		n.Set("description", tree.NewString(p.node, p.description))
	}
	if p.schema != nil {
		n.Set("schema", p.schema)
	}
	if p.node.Get("type").Text() == "array" || p.node.Get("items") != nil || p.node.Get("collectionFormat") != nil {
		style, explode := c.collectionFormat(p.node)
		n.Set("style", tree.NewString(p.node, style))
		n.Set("explode", tree.NewBool(p.node, explode))
	}
	return n
}

// collectionFormat returns the style of 3.0 that corresponds to a collectionFormat of 2.0. Its default is csv, not the
// repetition that 3.0 has for query parameters. A name that ends in "[]" is that of one value of a list for the servers
// that have such names (PHP, Rails), and is repeated unless declared otherwise.
func (c *compiler) collectionFormat(p *tree.Node) (style string, explode bool) {
	form := "form"
	if in := p.Get("in").Text(); in == "path" || in == "header" {
		form = "simple"
	}
	switch format := p.Get("collectionFormat").Text(); format {
	case "":
		return form, form == "form" && strings.HasSuffix(p.Get("name").Text(), "[]")
	case "csv":
		return form, false
	case "multi":
		if form == "form" {
			return form, true
		}
		c.problems.at(p, codeCollectionFormat, "collectionFormat multi has no meaning in %q; csv is used", p.Get("in").Text())
		return form, false
	case "ssv":
		return "spaceDelimited", false
	case "tsv":
		return "tabDelimited", false
	case "pipes":
		return "pipeDelimited", false
	default:
		c.problems.at(p, codeCollectionFormat, "collectionFormat %q is not known; csv is used", format)
		return form, false
	}
}

func upgradeBody(p *tree.Node, consumes []string) *tree.Node {
	body := tree.NewObject(p)
	for _, key := range []string{"description", "required"} {
		if member := p.Get(key); member != nil {
			body.Set(key, member)
		}
	}
	content := tree.NewObject(p)
	for _, media := range consumes {
		mediaType := tree.NewObject(p)
		if s := p.Get("schema"); s != nil {
			mediaType.Set("schema", s)
		}
		content.Set(media, mediaType)
	}
	body.Set("content", content)
	return body
}

// upgradeForm makes one object schema from all form parameters. Without a form type in consumes it is multipart if a
// file is among them, otherwise urlencoded (OAS 2.0, parameter object, in: formData). A form has no notation for
// objects in lists: if the operation also consumes JSON, that is sent, otherwise a field for each of them.
func (c *compiler) upgradeForm(op *tree.Node, form []*tree.Node, consumes []string) *tree.Node {
	properties, required, encoding := tree.NewObject(op), tree.NewArray(op), tree.NewObject(op)
	file, objects := false, false
	for _, p := range form {
		name := p.Get("name").Text()
		if name == "" {
			c.problems.at(p, codeParameterName, "parameter is left out: it has no name")
			continue
		}
		properties.Set(name, c.upgradeField(p))
		if isTrue(p.Get("required")) {
			required.Append(tree.NewString(p, name))
		}
		switch s := c.fieldSchema(p); {
		case s.Get("type").Text() == "file", p.Get("schema") != nil && s.Get("format").Text() == "binary":
			file = true
		case s.Get("type").Text() == "object", s.Get("type").Text() == "array" && c.schema.IsObject(s.Get("items")):
			objects = true
		case s.Get("type").Text() == "array" && p.Get("schema") == nil:
			style, explode := c.collectionFormat(p)
			e := tree.NewObject(p)
			e.Set("style", tree.NewString(p, style))
			e.Set("explode", tree.NewBool(p, explode))
			encoding.Set(name, e)
		}
	}
	object := tree.NewObject(op)
	object.Set("type", tree.NewString(op, "object"))
	object.Set("properties", properties)
	if required.Len() > 0 {
		object.Set("required", required)
	}
	content := tree.NewObject(op)
	kept := formMediaTypes(consumes, file)
	if i := slices.IndexFunc(consumes, func(m string) bool { return mediatype.IsJSON(mediatype.Essence(m)) }); objects && !file && i >= 0 {
		kept, encoding = []string{mediatype.Essence(consumes[i])}, nil
	}
	if len(consumes) > 0 && !slices.ContainsFunc(consumes, func(m string) bool { return slices.Contains(kept, mediatype.Essence(m)) }) {
		c.problems.at(form[0], codeFormMedia, "the operation has form parameters, and %q can't hold them; %s is sent", strings.Join(consumes, ", "), kept[0])
	}
	for _, m := range kept {
		mediaType := tree.NewObject(op)
		mediaType.Set("schema", object)
		if encoding != nil {
			mediaType.Set("encoding", encoding)
		}
		content.Set(m, mediaType)
	}
	body := tree.NewObject(op)
	body.Set("content", content)
	body.Set("required", tree.NewBool(op, required.Len() > 0))
	return body
}

// upgradeField returns the schema of a form's parameter.
func (c *compiler) upgradeField(p *tree.Node) *tree.Node {
	s := c.liftSchema(p)
	if own := p.Get("schema"); own != nil {
		s = tree.Copy(own)
	}
	if s == nil {
		s = tree.NewObject(p)
	}
	if d := p.Get("description"); d != nil {
		s.Set("description", d)
	}
	if s.Get("type").Text() == "file" {
		s.Set("type", tree.NewString(p, "string"))
		s.Set("format", tree.NewString(p, "binary"))
	}
	return s
}

// fieldSchema returns the node that declares the type of a form's parameter: the parameter itself, or its schema if a
// document of 3.x has one.
func (c *compiler) fieldSchema(p *tree.Node) *tree.Node {
	if s := p.Get("schema"); s != nil {
		return c.follow(s)
	}
	return p
}

// formMediaTypes returns the media types of a form: those that the operation consumes and that can encode it, or else
// the usual one.
func formMediaTypes(consumes []string, file bool) (media []string) {
	const urlencoded = "application/x-www-form-urlencoded"
	for _, m := range consumes {
		if m := mediatype.Essence(m); m == urlencoded && !file || m == formData {
			media = append(media, m)
		}
	}
	switch {
	case len(media) > 0:
		return media
	case file:
		return []string{formData}
	default:
		return []string{urlencoded}
	}
}

func (c *compiler) upgradeResponses(f found) *tree.Node {
	produces := c.mediaTypes(f, "produces")
	if len(produces) == 0 {
		produces = []string{"application/json"}
	}
	responses := tree.NewObject(f.node)
	for status, node := range f.node.Get("responses").Members() {
		if strings.HasPrefix(status, "x-") {
			continue
		}
		old := c.follow(node)
		if old.Kind() != tree.Object {
			continue
		}
		r := tree.NewObject(old)
		if d := old.Get("description"); d != nil {
			r.Set("description", d)
		}
		if s := old.Get("schema"); s != nil {
			content := tree.NewObject(old)
			if file := c.follow(s); file.Get("type").Text() == "file" {
				s = tree.NewObject(file)
				s.Set("type", tree.NewString(file, "string"))
				s.Set("format", tree.NewString(file, "binary"))
			}
			for _, media := range produces {
				if mediatype.IsJSON(mediatype.Essence(media)) && s.Get("format").Text() == "binary" {
					media = "application/octet-stream" // a file is not JSON, even if the document produces JSON elsewhere
				}
				mediaType := tree.NewObject(old)
				mediaType.Set("schema", s)
				content.Set(media, mediaType)
			}
			r.Set("content", content)
		}
		if h := old.Get("headers"); h != nil {
			r.Set("headers", h) // only the names count
		}
		responses.Set(status, r)
	}
	return responses
}

// isTrue reads a flag that may be quoted.
func isTrue(n *tree.Node) bool {
	return (n.Kind() == tree.Bool || n.Kind() == tree.String) && strings.EqualFold(n.Text(), "true")
}

package tree

import "strings"

// repairMethods renames upper-case methods: GET to get.
func (w *walker) repairMethods(n *Node) {
	for _, k := range n.body.kids {
		lower := strings.ToLower(k.key)
		if lower == k.key || k.kind != Object {
			continue
		}
		if f, ok := w.grammar[rolePathItem].fields[lower]; !ok || f.role != roleOperation || f.shape != shapeOne {
			continue
		}
		if n.Get(lower) != nil {
			continue
		}
		w.warn.add(k, CodeMethodCase, "the method %s must be written %s", quote(k.key), quote(lower))
		n.rename(k, lower)
	}
}

// repairBodies keeps the first of several body parameters (Swagger 2.0 allows one: a request has one body).
func (w *walker) repairBodies(n *Node) {
	list := n.Get("parameters")
	if !w.swagger || list.Kind() != Array {
		return
	}
	var drop []*Node
	found := false
	for _, k := range list.body.kids {
		p := k
		if ref := k.Get("$ref"); ref.Kind() == String {
			if t := w.set.resolve(w.loader, ref); t.node != nil {
				p = t.node
			}
		}
		if !strings.EqualFold(p.Get("in").Text(), "body") {
			continue
		}
		if found {
			w.warn.add(k, CodeBodyParameters, "a second body parameter %s; a request has one body: left out", quote(clip(p.Get("name").Text())))
			drop = append(drop, k)
		}
		found = true
	}
	list.drop(drop)
}

// repairParameter handles a location in the wrong case and, in 3.x, a type in the parameter itself as in Swagger 2.0.
func (w *walker) repairParameter(n *Node) {
	if in := n.Get("in"); in.Kind() == String {
		for _, name := range [...]string{"path", "query", "header", "cookie", "body", "formData", "querystring"} {
			if in.text != name && strings.EqualFold(in.text, name) {
				w.warn.add(in, CodeLocationCase, "the location %s must be written %s", quote(in.text), quote(name))
				in.text = name
			}
		}
	}
	if w.swagger || n.Get("$ref") != nil || n.Get("schema") != nil || n.Get("content") != nil {
		return
	}
	if n.Get("type") == nil && n.Get("items") == nil && n.Get("enum") == nil {
		return
	}
	w.warn.add(n, CodeParameterType, "%s has its type beside \"schema\" as in Swagger 2.0; moved into \"schema\"", describeParameter(n))
	schema := newChild(n, n, "schema", Object, "")
	var rest, moved []*Node
	for _, k := range n.body.kids {
		switch k.key {
		case "type", "format", "items", "enum", "default", "pattern", "maximum", "minimum", "exclusiveMaximum",
			"exclusiveMinimum", "maxLength", "minLength", "maxItems", "minItems", "multipleOf", "uniqueItems", "nullable":
			k.up = schema
			moved = append(moved, k)
		default:
			rest = append(rest, k)
		}
	}
	schema.setKids(moved)
	n.setKids(append(rest, schema))
	w.repairCollection(n)
}

func describeParameter(n *Node) string {
	if name := n.Get("name"); name.Kind() == String {
		return "the parameter " + quote(clip(name.text))
	}
	return "the header"
}

// repairCollection converts Swagger 2.0's collectionFormat to style and explode.
func (w *walker) repairCollection(n *Node) {
	format := n.Get("collectionFormat")
	if format.Kind() != String {
		return
	}
	style, explode := "", "false"
	switch format.text {
	case "multi":
		explode = "true"
	case "csv":
	case "ssv":
		style = "spaceDelimited"
	case "pipes":
		style = "pipeDelimited"
	default:
		return
	}
	if style != "" && n.Get("style") == nil {
		n.put("style", newChild(n, format, "style", String, style))
	}
	if n.Get("explode") == nil {
		n.put("explode", newChild(n, format, "explode", Bool, explode))
	}
}

// repairResponse handles Swagger 2.0's "schema" in a 3.x response.
func (w *walker) repairResponse(n *Node) {
	schema := n.Get("schema")
	if w.swagger || schema == nil || n.Get("content") != nil || n.Get("$ref") != nil {
		return
	}
	w.warn.add(schema, CodeResponseSchema, "\"schema\" stands in a response as in Swagger 2.0; read as its content of type application/json")
	content := newChild(n, schema, "content", Object, "")
	media := newChild(content, schema, "application/json", Object, "")
	n.remove("schema")
	schema.up = media
	media.put("schema", schema)
	content.put("application/json", media)
	n.put("content", content)
}

// repairMedia handles a schema instead of a media type object.
func (w *walker) repairMedia(n *Node) {
	if n.Get("schema") != nil || n.Get("itemSchema") != nil || n.Get("$ref") != nil {
		return
	}
	found := false
	for _, key := range [...]string{"type", "properties", "allOf", "oneOf", "anyOf", "items"} {
		found = found || n.Get(key) != nil
	}
	if !found {
		return
	}
	w.warn.add(n, CodeMediaSchema, "%s must be a media type object, found a schema; moved into \"schema\"", w.name(n))
	schema := newChild(n, n, "schema", Object, "")
	var rest, moved []*Node
	for _, k := range n.body.kids {
		switch k.key {
		case "example", "examples", "encoding":
			rest = append(rest, k)
		default:
			k.up = schema
			moved = append(moved, k)
		}
	}
	schema.setKids(moved)
	n.setKids(append(rest, schema))
}

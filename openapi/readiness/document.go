package readiness

import (
	"strings"

	"drawbridge/openapi"
	"drawbridge/openapi/tree"
)

// document is an OpenAPI document as its author wrote it.
type document struct {
	set        *tree.Set
	title      string
	swagger2   bool
	operations map[string]place
}

// place is where an operation is in the document.
type place struct {
	item, node *tree.Node // path item object and operation object, references followed
	order      int
}

// newDocument finds the operations of a document.
func newDocument(d *openapi.Document) *document {
	doc := &document{set: d.Tree(), title: d.Title, swagger2: strings.HasPrefix(d.Standard, "2"), operations: map[string]place{}}
	for _, key := range []string{"paths", tree.MSPaths} {
		for path, node := range doc.set.Root().Get(key).Members() {
			item := doc.follow(node)
			doc.addAll(path, item, item)
			doc.addAll(path, item.Get("additionalOperations"), item)
			if item != node {
				doc.addAll(path, node, node)
			}
		}
	}
	return doc
}

// addAll adds the members of an object that are operations of a path. The first one of a method counts.
func (d *document) addAll(path string, object, item *tree.Node) {
	for method, node := range object.Members() {
		node = d.follow(node)
		key := operationKey(method, path)
		if _, known := d.operations[key]; !known && node.Kind() == tree.Object {
			d.operations[key] = place{item, node, len(d.operations)}
		}
	}
}

func operationKey(method, path string) string { return strings.ToUpper(method) + " " + path }

// follow follows references; nil if one leads nowhere.
func (d *document) follow(n *tree.Node) *tree.Node {
	if n == nil {
		return nil
	}
	target, err := d.set.Follow(n)
	if err != nil {
		return nil
	}
	return target
}

// parameter is a parameter of an operation.
type parameter struct {
	in, name string
	node     *tree.Node // references followed
	written  *tree.Node // in the list of parameters, perhaps a reference
	schema   *tree.Node // references not followed, or nil. In OpenAPI 2.0, node itself
	shared   bool       // it belongs to the path item
}

// parameters returns the parameters of an operation and its path item; those of the operation come first and win (OAS
// Path Item Object).
func (d *document) parameters(p place) (all []parameter) {
	known := map[[2]string]bool{}
	for i, list := range []*tree.Node{p.node.Get("parameters"), p.item.Get("parameters")} {
		for _, item := range list.Items() {
			node := d.follow(item)
			in, name := node.Get("in").Text(), node.Get("name").Text()
			key := [2]string{in, name}
			if node.Kind() != tree.Object || known[key] {
				continue
			}
			known[key] = true
			schema := node.Get("schema")
			for _, media := range node.Get("content").Members() {
				schema = d.follow(media).Get("schema")
			}
			if schema == nil && node.Get("type") != nil {
				schema = node
			}
			all = append(all, parameter{in, name, node, item, schema, i == 1})
		}
	}
	return all
}

// body is the request body of an operation.
type body struct {
	node   *tree.Node // of the body, for its place
	media  *tree.Node // media type object; nil in OpenAPI 2.0
	schema *tree.Node // references not followed, or nil
}

// body returns the request body of an operation as it is sent, the first with JSON or else the first; nil if there is
// none. The fields of a form of OpenAPI 2.0 are parameters.
func (d *document) body(p place) *body {
	if d.swagger2 {
		for _, parameter := range d.parameters(p) {
			if parameter.in == "body" {
				return &body{node: parameter.node, schema: parameter.schema}
			}
		}
		return nil
	}
	node := d.follow(p.node.Get("requestBody"))
	var first *body
	for name, media := range node.Get("content").Members() {
		media = d.follow(media)
		b := &body{node: node, media: media, schema: media.Get("schema")}
		if strings.Contains(name, "json") {
			return b
		}
		if first == nil {
			first = b
		}
	}
	return first
}

// answer is what a document says of the successful response of an operation.
type answer struct {
	node   *tree.Node // of the response, references followed, or nil
	schema *tree.Node // references not followed, or nil
	empty  bool       // there is a response of status 204 or 205
	errors bool       // there is a response of status 4xx or 5xx, or a default beside others
}

// answer returns the successful response of an operation with the most to say.
func (d *document) answer(p place) (a answer) {
	responses := p.node.Get("responses")
	for status, node := range responses.Members() {
		node = d.follow(node)
		switch {
		case strings.HasPrefix(status, "4"), strings.HasPrefix(status, "5"):
			a.errors = true
			continue
		case status == "204", status == "205":
			a.empty = true
		case strings.EqualFold(status, "default") && responses.Len() > 1:
			a.errors = true
			continue
		case !strings.HasPrefix(status, "2") && !strings.EqualFold(status, "default"):
			continue
		}
		schema := node.Get("schema")
		for _, media := range node.Get("content").Members() {
			if s := d.follow(media).Get("schema"); schema == nil {
				schema = s
			}
		}
		if a.node == nil || a.schema == nil && schema != nil {
			a.node, a.schema = node, schema
		}
	}
	return a
}

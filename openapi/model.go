package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/mediatype"
	"drawbridge/openapi/tree"
)

// A model is one operation in kin-openapi's typed form, with the corresponding raw nodes. Schemas, examples and
// descriptions are never in the typed form: it would lose the order of members, null constants and integers above 2^53,
// and it costs several times the parse of the whole document.
type model struct {
	typed      openapi3.Operation
	node       *tree.Node // the operation, in the shape of OpenAPI 3
	parameters []parameter
	body       *requestBody // nil if there is none
	responses  []response
}

// A parameter is one parameter object, references followed.
type parameter struct {
	typed  *openapi3.Parameter
	node   *tree.Node
	schema *tree.Node // nil if there is none
	media  string     // of a parameter with "content": its media type
	// mediaNode is the media type object of a parameter with "content".
	mediaNode   *tree.Node
	description string // description
}

type requestBody struct {
	node        *tree.Node
	description string // description
	required    bool
	contents    []content
}

// A content is one media type object.
type content struct {
	media  string // as written
	node   *tree.Node
	schema *tree.Node // nil if there is none
	// document is the schema as the document has it if schema is another one, see bodyKind.prepare.
	document *tree.Node
	merge    *tree.Node // schema of a merge patch, which is schema or one of its alternatives; nil if there is none
}

// response is one response object; status is "200", "2XX" or "DEFAULT".
type response struct {
	status      string
	node        *tree.Node
	description string // description
	contents    []content
}

// text returns the description of the response, or the summary, which was added in 3.2 and may replace it.
func (r response) text() string {
	return cmp.Or(r.description, r.node.Get("summary").Text())
}

// model reads an operation in the shape of OpenAPI 3, in two steps: raw nodes are collected, with references followed
// and unusable ones left out with a problem; then the parts for the typed model are encoded as JSON, which contains no
// value of a wrong type any more, and decoded. Texts and responses stay out of it, since they gain nothing from types,
// and the decoder reads everything once for each level of nesting.
func (c *compiler) model(f found) (*model, error) {
	m := &model{node: f.node}
	m.parameters = c.parameters(f)
	if err := c.requestBody(m); err != nil {
		return nil, err
	}
	c.responses(m)
	if err := json.Unmarshal(m.appendJSON(nil, c.security.root), &m.typed); err != nil {
		return nil, coded(codeSkipKind, fmt.Errorf("the operation can't be read: %w", err))
	}
	for i := range m.parameters {
		p := &m.parameters[i]
		typed, err := c.typedParameter(p.node)
		if err != nil {
			return nil, coded(codeSkipParameter, skip(p.node, "the parameter can't be read: %v", err))
		}
		p.typed = typed
	}
	if m.body != nil {
		m.body.required = m.typed.RequestBody.Value.Required
	}
	return m, nil
}

// typedParameter decodes a parameter, once for all operations that share it. The result is read only.
func (c *compiler) typedParameter(node *tree.Node) (*openapi3.Parameter, error) {
	if known, ok := c.typed.Load(node); ok {
		if p, ok := known.(*openapi3.Parameter); ok {
			return p, nil
		}
	}
	p := new(openapi3.Parameter)
	if err := json.Unmarshal(appendParameter(nil, node), p); err != nil {
		return nil, err
	}
	c.typed.Store(node, p)
	return p, nil
}

// parameters collects those of the path item and of the operation; the latter win (OAS path item object, parameters).
func (c *compiler) parameters(f found) []parameter {
	var all []parameter
	index := make(map[[2]string]int)
	for _, list := range []*tree.Node{f.item.Get("parameters"), f.node.Get("parameters")} {
		for _, item := range list.Items() {
			node, err := c.set.Follow(item)
			if err != nil {
				c.problems.at(item, codeParameterDangling, "parameter is left out: %s", cause(err))
				continue
			}
			if node.Kind() != tree.Object {
				c.problems.at(item, codeParameterKind, "parameter is left out: it is not an object")
				continue
			}
			p := parameter{node: node, schema: node.Get("schema"), description: descriptionOf(item, node)}
			if p.schema == nil {
				p.schema = c.liftSchema(node)
			}
			if n := node.Get("content").Len(); n > 1 {
				c.problems.at(node, codeParameterContent, "the content of a parameter has one media type, found %d; the first is used", n)
			}
			for media, mediaType := range node.Get("content").Members() {
				p.media = media
				p.mediaNode = c.follow(mediaType)
				p.schema = p.mediaNode.Get("schema")
				break // OAS: the map contains exactly one entry
			}
			key := [2]string{node.Get("in").Text(), node.Get("name").Text()}
			if i, ok := index[key]; ok {
				if all[i].node != node {
					all[i] = p
				}
				continue
			}
			index[key] = len(all)
			all = append(all, p)
		}
	}
	return all
}

// liftSchema makes a schema from the keywords of OpenAPI 2.0 on a parameter itself, which also occur in 3.x documents.
// It returns nil if there are none.
func (c *compiler) liftSchema(p *tree.Node) *tree.Node {
	if p.Get("type") == nil && p.Get("enum") == nil && p.Get("items") == nil && p.Get("format") == nil {
		return nil
	}
	s := tree.NewObject(p)
	for name, member := range p.Members() {
		switch name {
		case "name", "in", "required", "description", "style", "explode", "allowReserved", "allowEmptyValue",
			"collectionFormat", "content", "schema", "deprecated", "example", "examples":
		default:
			s.Set(name, member)
		}
	}
	return s
}

// descriptionOf returns the description of a component: the one beside the reference wins over its own (OAS 3.1 reference
// object).
func descriptionOf(n, target *tree.Node) string {
	if text := n.Get("description").Text(); n != target && text != "" {
		return text
	}
	return target.Get("description").Text()
}

// follow follows a reference for which a missing target just means that nothing is known.
func (c *compiler) follow(n *tree.Node) *tree.Node {
	target, err := c.set.Follow(n)
	if err != nil {
		return nil // the tree has warned of it
	}
	return target
}

func (c *compiler) requestBody(m *model) error {
	node := m.node.Get("requestBody")
	if node == nil || node.Kind() == tree.Null {
		return nil
	}
	body, err := c.set.Follow(node)
	if err != nil {
		return coded(codeSkipBody, skip(node, "the request body is missing: %s", cause(err)))
	}
	if body.Kind() != tree.Object {
		c.problems.at(node, codeBodyKind, "request body is left out: it is not an object")
		return nil
	}
	m.body = &requestBody{node: body, description: descriptionOf(node, body), contents: c.contents(body.Get("content"))}
	for i := range m.body.contents {
		// OAS 3.2, media type object: itemSchema is that of each line, and the lines are an array to the caller.
		// Earlier versions have no such member, and documents give the schema of a line instead.
		ct := &m.body.contents[i]
		item, lines := ct.node.Get("itemSchema"), mediatype.IsJSONLines(mediatype.Essence(ct.media))
		if lines && item == nil && c.schema.IsObject(ct.schema) {
			ct.schema, item = nil, ct.schema
		}
		if ct.schema == nil && item != nil && (lines || isMultipart(mediatype.Essence(ct.media)) && !isFormData(ct)) {
			ct.schema = tree.NewObject(ct.node)
			ct.schema.Set("type", tree.NewString(ct.node, "array"))
			ct.schema.Set("items", item)
		}
	}
	return nil
}

func (c *compiler) contents(node *tree.Node) []content {
	var all []content
	for media, mediaType := range node.Members() {
		n := c.follow(mediaType)
		all = append(all, content{media: media, node: n, schema: n.Get("schema")})
	}
	return all
}

func (c *compiler) responses(m *model) {
	for status, node := range m.node.Get("responses").Members() {
		if strings.HasPrefix(status, "x-") {
			continue
		}
		n := c.follow(node)
		if n.Kind() != tree.Object {
			continue
		}
		m.responses = append(m.responses, response{status: strings.ToUpper(status), node: n, description: descriptionOf(node, n), contents: c.contents(n.Get("content"))})
	}
}

// appendJSON appends the operation as an operation object with only the parts for the typed model.
func (m *model) appendJSON(dst []byte, rootSecurity *tree.Node) []byte {
	dst = append(dst, '{')
	dst = appendText(dst, "operationId", m.node.Get("operationId"))
	dst = appendFlag(dst, "deprecated", m.node.Get("deprecated"))
	dst = appendName(dst, "tags")
	dst = appendTexts(dst, m.node.Get("tags"))
	if m.body != nil {
		dst = appendName(dst, "requestBody")
		dst = append(dst, '{')
		dst = appendFlag(dst, "required", m.body.node.Get("required"))
		dst = append(dst, '}')
	}
	dst = appendSecurity(dst, m.node.Get("security"), rootSecurity)
	return append(dst, '}')
}

func appendParameter(dst []byte, node *tree.Node) []byte {
	dst = append(dst, '{')
	for _, key := range []string{"name", "in", "style"} {
		dst = appendText(dst, key, node.Get(key))
	}
	for _, key := range []string{"required", "explode", "allowReserved", "allowEmptyValue", "deprecated"} {
		dst = appendFlag(dst, key, node.Get(key))
	}
	return append(dst, '}')
}

// appendSecurity appends the operation's own requirements, or else those of the document.
func appendSecurity(dst []byte, own, root *tree.Node) []byte {
	list := own
	if list.Kind() != tree.Array {
		list = root
	}
	if list.Kind() != tree.Array {
		return dst
	}
	dst = appendName(dst, "security")
	dst = append(dst, '[')
	for i, requirement := range list.Items() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '{')
		for name, scopes := range requirement.Members() {
			if dst[len(dst)-1] != '{' {
				dst = append(dst, ',')
			}
			dst = jsonscan.AppendString(dst, name)
			dst = append(dst, ':')
			dst = appendTexts(dst, scopes)
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

func appendName(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = jsonscan.AppendString(dst, name)
	return append(dst, ':')
}

// appendText appends a member that must be a string; numbers and booleans keep their literals.
func appendText(dst []byte, name string, n *tree.Node) []byte {
	switch n.Kind() {
	case tree.String, tree.Number, tree.Bool:
		return jsonscan.AppendString(appendName(dst, name), n.Text())
	default:
		return dst
	}
}

// appendFlag appends a member that must be a boolean; "true" and "false" in quotes count.
func appendFlag(dst []byte, name string, n *tree.Node) []byte {
	switch text := n.Text(); {
	case n.Kind() != tree.Bool && n.Kind() != tree.String:
	case strings.EqualFold(text, "true"):
		return append(appendName(dst, name), "true"...)
	case strings.EqualFold(text, "false"):
		return append(appendName(dst, name), "false"...)
	}
	return dst
}

func appendTexts(dst []byte, list *tree.Node) []byte {
	dst = append(dst, '[')
	for _, n := range list.Items() {
		switch n.Kind() {
		case tree.String, tree.Number, tree.Bool:
			if dst[len(dst)-1] != '[' {
				dst = append(dst, ',')
			}
			dst = jsonscan.AppendString(dst, n.Text())
		default: // nothing else is text
		}
	}
	return append(dst, ']')
}

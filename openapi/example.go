package openapi

import (
	"encoding/json"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
	"drawbridge/openapi/schema"
	"drawbridge/openapi/tree"
	"drawbridge/openapi/wire"
)

const (
	maxExampleCall = 300     // bytes of the example in a tool's description
	maxExampled    = 2_000   // operations of one document with an example (S3)
	maxExampleOf   = 8 << 10 // bytes of an input schema; a short example would not represent a larger one
)

// ExampleText describes an example call to models. Invented texts are recognizable; invented names the arguments with
// other invented values.
func ExampleText(call []byte, invented []string) string {
	if len(invented) == 0 {
		return "Example: " + string(call)
	}
	return "Example (made up: " + strings.Join(invented, ", ") + "): " + string(call)
}

// exampleCall makes one valid call from the examples in the document; nil if it has none for the body: the example of a
// parameter is already in its schema. input is op.inputSchema, invented are the arguments whose values are not from the document.
func (c *compiler) exampleCall(op *Operation, m *model, input func() *jsonschema.Schema) (call json.RawMessage, invented []string) {
	body := c.exampleBody(op, m)
	if body == nil || len(op.Input) > maxExampleOf {
		return nil, nil
	}
	given := []byte{'{'}
	addText := func(name string, value []byte) {
		if len(given) > 1 {
			given = append(given, ',')
		}
		given = append(append(jsonscan.AppendString(given, name), ':'), value...)
	}
	add := func(name string, value *tree.Node) {
		if schema.Presentable(value, maxExampleCall) {
			addText(name, value.AppendJSON(nil))
		}
	}
	for _, a := range op.arguments {
		switch a.place {
		case inMember:
			add(a.name, body.Get(a.wire))
		case inBody:
			add(a.name, body)
		default:
			for i := range m.parameters {
				p := &m.parameters[i]
				in, ok := wire.ParseLocation(p.node.Get("in").Text())
				value := c.example(p.node)
				if !ok || p.node.Get("name").Text() != a.wire || places[in] != a.place || !schema.Presentable(value, maxExampleCall) {
					continue
				}
				sent := binding{location: in, encoder: a.encoder, parameter: p}
				if given, ok := sent.sends(value.AppendJSON(nil)); ok {
					addText(a.name, given)
				}
			}
		}
	}
	if op.body.form == formRoot {
		for name, value := range body.Members() {
			if argument, ok := op.body.renamed[name]; ok {
				name = argument
			}
			add(name, value)
		}
	}
	given = append(given, '}')
	var unfit []string
	defer func() {
		for _, name := range unfit {
			if op.isMember(name) {
				c.problems.at(body, schema.CodeSchemaExample, "%.100q of the example of the body breaks its schema; it is left out", name)
			}
		}
	}()
	for _, documented := range []bool{true, false} {
		o := schema.ExampleOptions{Documented: documented, Given: given, Quick: true, MaxBytes: maxExampleCall, Invented: &invented, Unfit: &unfit}
		if text, ok := schema.Example(input(), o); ok && len(text) > len("{}") {
			return text, invented
		}
	}
	return nil, nil
}

// isMember reports whether an argument is a member of the body. The example of a body that is one argument is checked with
// its schema.
func (o *Operation) isMember(name string) bool {
	i, ok := o.index[name]
	return !ok || o.arguments[i].place == inMember
}

// exampleBody returns the document's example of the body that is sent; nil if there is none.
func (c *compiler) exampleBody(op *Operation, m *model) *tree.Node {
	if op.body == nil || m.body == nil {
		return nil
	}
	for i := range m.body.contents {
		ct := &m.body.contents[i]
		if ct.sends() != op.body.media {
			continue
		}
		if example := c.example(ct.node); example != nil || ct.schema == nil {
			return example
		}
		s := c.follow(ct.schema)
		if list := s.Get("examples"); list.Kind() == tree.Array {
			return list.At(0)
		}
		return c.example(s)
	}
	return nil
}

// ExampleCall returns one set of arguments, as compact JSON: Example, or else a small one that the input schema allows.
// It is nil if a short search finds none.
func (o *Operation) ExampleCall() json.RawMessage {
	if o.Example != nil {
		return o.Example
	}
	if len(o.Input) > maxExampleOf {
		return nil
	}
	input := jsonschema.Parse(o.Input)
	for _, documented := range []bool{true, false} {
		if text, ok := schema.Example(input, schema.ExampleOptions{Documented: documented, Quick: true, MaxBytes: maxExample}); ok {
			return text
		}
	}
	return nil
}

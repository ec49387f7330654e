package catalog

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
)

// Limits of a signature. An ellipsis marks a cut; [Tool.Definition] is complete.
const (
	// signatureLength is the length in bytes beyond which optional arguments are counted instead of named.
	signatureLength = 320
	// shapeLength is the length in bytes beyond which members of the answer are left out.
	shapeLength = 160
	// maxEnum is the number of values of an enum that are shown, maxUnion that of alternatives.
	maxEnum, maxUnion = 8, 4
	// maxLiteral is the length in bytes of a value beyond which an enum is shown by its type alone.
	maxLiteral = 40
)

// Signature returns the call of a tool in the manner of TypeScript, in one line: its arguments with their types, the
// required ones first, and the members of its answer.
//
//	getOrder(order_no: string, expand?: ("lines"|"customer")[]) → {order_no, status, lines[]}
//
// It says nothing that the published schemas don't say, and leaves out what is long. An object among the arguments is
// shown one level deep.
func (t *Tool) Signature() string {
	input, output := t.Published(openapi.ProfileFull)
	return Signature(t.Name, input, output)
}

// Signature returns the signature of a tool with these schemas, as [Tool.Signature] does; output is nil if it has none.
func Signature(name string, input, output []byte) string {
	var b strings.Builder
	b.WriteString(name)
	b.WriteByte('(')
	s := signature{}
	s.writeMembers(&b, jsonschema.Parse(input), signatureLength, 1)
	b.WriteByte(')')
	if output != nil {
		if shape := s.shape(jsonschema.Parse(output)); shape != "" {
			b.WriteString(" → " + shape)
		}
	}
	return b.String()
}

// signature writes the types of schemas.
type signature struct {
	open []*jsonschema.Schema // that the one being written stands in: one may hold itself
}

// writeMembers writes the members of an object and of what it is composed of, the required ones first, with optional ones as far as they fit.
func (s *signature) writeMembers(b *strings.Builder, object *jsonschema.Schema, limit, depth int) {
	members := object.Members()
	written, left, begin := 0, 0, b.Len()
	for _, must := range []bool{true, false} {
		for _, m := range members {
			if m.Required != must {
				continue
			}
			text := memberName(m.Name)
			if !must {
				text += "?"
			}
			text += ": " + s.typeOf(m.Schema, depth)
			if !must && b.Len()-begin+len(text) > limit {
				left++
				continue
			}
			if written++; written > 1 {
				b.WriteString(", ")
			}
			b.WriteString(text)
		}
	}
	if left > 0 {
		if written > 0 {
			b.WriteString(", ")
		}
		b.WriteString("…+" + strconv.Itoa(left))
	}
}

// memberName returns the name of a member, quoted unless it is an identifier.
func memberName(name string) string {
	for i, c := range []byte(name) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_', c == '$', i > 0 && '0' <= c && c <= '9':
		default:
			return string(jsonscan.AppendString(nil, name))
		}
	}
	return name
}

// typeOf returns the type of a schema. Objects are shown with their members while depth is greater than 0.
func (s *signature) typeOf(schema *jsonschema.Schema, depth int) string {
	if schema = schema.Resolve(); !schema.IsObject() || slices.Contains(s.open, schema) {
		return "any"
	}
	s.open = append(s.open, schema)
	defer func() { s.open = s.open[:len(s.open)-1] }()
	c := jsonschema.Merge(schema)
	if value := c.First("const").Value; value != nil {
		return literal(value, "any")
	}
	if list := c.First("enum").Value; jsonscan.KindOf(list) == jsonscan.Array {
		if text := enum(list); text != "" {
			return text
		}
	}
	kinds, members := c.First("type").Texts(), c.Has("properties")
	switch alternatives := c.First("anyOf").Parts; {
	case alternatives != nil && !members:
		return s.union(alternatives, depth)
	case len(kinds) == 0 && !members:
		return "any"
	case len(kinds) == 0:
		kinds = []string{"object"}
	}
	var all []string
	for _, kind := range kinds {
		switch kind {
		case "array":
			all = append(all, arrayOf(s.typeOf(c.First("items").Schema(), depth)))
		case "object":
			all = append(all, s.object(schema, depth))
		default:
			all = append(all, kind)
		}
	}
	return strings.Join(all, "|")
}

// object returns the type of an object.
func (s *signature) object(schema *jsonschema.Schema, depth int) string {
	if depth == 0 {
		return "object"
	}
	var b strings.Builder
	if s.writeMembers(&b, schema, shapeLength, depth-1); b.Len() == 0 {
		return "object"
	}
	return "{" + b.String() + "}"
}

// union returns the type of a value that fits one of several schemas.
func (s *signature) union(list []jsonschema.Part, depth int) string {
	var all []string
	for _, alternative := range list {
		text := s.typeOf(alternative.Schema, depth)
		if len(all) == maxUnion {
			all = append(all, "…")
			break
		}
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return strings.Join(all, "|")
}

// enum returns the values of an enum, or "" if they are too long to be shown.
func enum(list []byte) string {
	var all []string
	for value := range jsonscan.Elements(list) {
		if len(all) == maxEnum {
			all = append(all, "…")
			break
		}
		text := literal(value, "")
		if text == "" {
			return ""
		}
		all = append(all, text)
	}
	return strings.Join(all, "|")
}

// literal returns a value as JSON, or otherwise if it is long.
func literal(value []byte, otherwise string) string {
	if value = bytes.TrimSpace(value); len(value) > maxLiteral {
		return otherwise
	}
	return string(value)
}

// arrayOf returns the type of an array of items.
func arrayOf(item string) string {
	if strings.Contains(item, "|") && !strings.HasPrefix(item, "{") {
		return "(" + item + ")[]"
	}
	return item + "[]"
}

// shape returns the members of an answer, one level deep; "" if nothing is known of it.
func (s *signature) shape(schema *jsonschema.Schema) string {
	if schema = schema.Resolve(); !schema.IsObject() {
		return ""
	}
	if items := schema.Schema("items"); items != nil {
		if inner := s.shape(items); inner != "" {
			return inner + "[]"
		}
		return arrayOf(s.typeOf(items, 0))
	}
	if !schema.Has("properties") {
		if kinds := schema.Types(); len(kinds) > 0 && kinds[0] != "object" {
			return strings.Join(kinds, "|")
		}
		return ""
	}
	var b strings.Builder
	b.WriteByte('{')
	for _, property := range schema.Parts("properties") {
		text := memberName(property.Name)
		if slices.Contains(property.Schema.Resolve().Types(), "array") {
			text += "[]"
		}
		if b.Len() > 1 {
			if b.Len()+len(text) > shapeLength {
				b.WriteString(", …")
				break
			}
			b.WriteString(", ")
		}
		b.WriteString(text)
	}
	b.WriteByte('}')
	return b.String()
}

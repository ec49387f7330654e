package catalog

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
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
	s := signature{root: input}
	var b strings.Builder
	b.WriteString(name)
	b.WriteByte('(')
	s.writeMembers(&b, input, signatureLength, 1)
	b.WriteByte(')')
	if output != nil {
		s = signature{root: output}
		if shape := s.shape(output); shape != "" {
			b.WriteString(" → " + shape)
		}
	}
	return b.String()
}

// signature writes the types of one JSON Schema.
type signature struct{ root []byte }

// maxReferences bounds the references that are followed for one type, since they may be circular.
const maxReferences = 8

// resolve follows references to the schema's $defs. It returns nil if there are too many.
func (s *signature) resolve(schema []byte) []byte {
	for range maxReferences {
		ref := jsonscan.Lookup(schema, "$ref")
		if jsonscan.KindOf(ref) != jsonscan.String {
			return schema
		}
		pointer, ok := strings.CutPrefix(string(jsonscan.Unquote(ref)), "#")
		if !ok {
			return nil
		}
		schema = jsonscan.At(s.root, pointer)
	}
	return nil
}

// writeMembers writes the properties of an object, the required ones first, with optional ones as far as they fit.
func (s *signature) writeMembers(b *strings.Builder, object []byte, limit, depth int) {
	required := map[string]bool{}
	if list := jsonscan.Lookup(object, "required"); jsonscan.KindOf(list) == jsonscan.Array {
		for name := range jsonscan.Elements(list) {
			required[string(jsonscan.Unquote(name))] = true
		}
	}
	properties := jsonscan.Lookup(object, "properties")
	if jsonscan.KindOf(properties) != jsonscan.Object {
		return
	}
	written, left, begin := 0, 0, b.Len()
	for _, must := range []bool{true, false} {
		for name, property := range jsonscan.Members(properties) {
			if required[string(name)] != must {
				continue
			}
			text := memberName(name)
			if !must {
				text += "?"
			}
			text += ": " + s.typeOf(property, depth)
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
func memberName(name []byte) string {
	for i, c := range name {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_', c == '$', i > 0 && '0' <= c && c <= '9':
		default:
			return string(jsonscan.AppendString(nil, name))
		}
	}
	return string(name)
}

// typeOf returns the type of a schema. Objects are shown with their members while depth is greater than 0.
func (s *signature) typeOf(schema []byte, depth int) string {
	schema = s.resolve(schema)
	if jsonscan.KindOf(schema) != jsonscan.Object {
		return "any"
	}
	if value := jsonscan.Lookup(schema, "const"); value != nil {
		return literal(value, "any")
	}
	if list := jsonscan.Lookup(schema, "enum"); jsonscan.KindOf(list) == jsonscan.Array {
		if text := enum(list); text != "" {
			return text
		}
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if list := jsonscan.Lookup(schema, key); jsonscan.KindOf(list) == jsonscan.Array {
			return s.union(list, depth)
		}
	}
	kinds := typesOf(schema)
	if len(kinds) == 0 {
		if list := jsonscan.Lookup(schema, "allOf"); jsonscan.KindOf(list) == jsonscan.Array {
			for part := range jsonscan.Elements(list) {
				return s.typeOf(part, depth)
			}
		}
		if jsonscan.Lookup(schema, "properties") == nil {
			return "any"
		}
		kinds = []string{"object"}
	}
	var all []string
	for _, kind := range kinds {
		switch kind {
		case "array":
			all = append(all, arrayOf(s.typeOf(jsonscan.Lookup(schema, "items"), depth)))
		case "object":
			all = append(all, s.object(schema, depth))
		default:
			all = append(all, kind)
		}
	}
	return strings.Join(all, "|")
}

// typesOf returns the types that a schema names.
func typesOf(schema []byte) (kinds []string) {
	switch value := jsonscan.Lookup(schema, "type"); jsonscan.KindOf(value) {
	case jsonscan.String:
		kinds = append(kinds, string(jsonscan.Unquote(value)))
	case jsonscan.Array:
		for kind := range jsonscan.Elements(value) {
			kinds = append(kinds, string(jsonscan.Unquote(kind)))
		}
	case jsonscan.Null, jsonscan.Bool, jsonscan.Number, jsonscan.Object:
	}
	return kinds
}

func (s *signature) object(schema []byte, depth int) string {
	if properties := jsonscan.Lookup(schema, "properties"); depth == 0 || jsonscan.KindOf(properties) != jsonscan.Object {
		return "object"
	}
	var b strings.Builder
	if s.writeMembers(&b, schema, shapeLength, depth-1); b.Len() == 0 {
		return "object"
	}
	return "{" + b.String() + "}"
}

func (s *signature) union(list []byte, depth int) string {
	var all []string
	for alternative := range jsonscan.Elements(list) {
		text := s.typeOf(alternative, depth)
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
func (s *signature) shape(schema []byte) string {
	schema = s.resolve(schema)
	if jsonscan.KindOf(schema) != jsonscan.Object {
		return ""
	}
	if items := jsonscan.Lookup(schema, "items"); items != nil {
		if inner := s.shape(items); inner != "" {
			return inner + "[]"
		}
		return arrayOf(s.typeOf(items, 0))
	}
	properties := jsonscan.Lookup(schema, "properties")
	if jsonscan.KindOf(properties) != jsonscan.Object {
		if kinds := typesOf(schema); len(kinds) > 0 && kinds[0] != "object" {
			return strings.Join(kinds, "|")
		}
		return ""
	}
	var b strings.Builder
	b.WriteByte('{')
	for name, property := range jsonscan.Members(properties) {
		text := memberName(name)
		if kinds := typesOf(s.resolve(property)); slices.Contains(kinds, "array") {
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

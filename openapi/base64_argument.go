package openapi

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"sync"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
	"drawbridge/openapi/schema"
)

// Base64 is how a body has the bytes of a string that its schema declares as base64.
type Base64 struct {
	Encoding *base64.Encoding
	// Verbatim reports that the string is sent as it is. Otherwise it is decoded, and a data URL tells the name and the media type of
	// the bytes.
	Verbatim bool
}

// ReplaceTexts returns arguments with other strings. replace gets each string, and how the body has its bytes; nil if the string is no
// base64 in a body. The second result of replace is false for a string that stays.
func (o *Operation) ReplaceTexts(args []byte, replace func(text string, as *Base64) (string, bool)) []byte {
	r := textReplacer{o: o, replace: replace}
	return r.value(args, []*jsonschema.Schema{o.inputSchema()}, true)
}

// textReplacer replaces the strings of one value.
type textReplacer struct {
	o       *Operation
	replace func(text string, as *Base64) (string, bool)
}

// value returns a value with other strings. schemas are those that it must match; root is set for the object of all arguments.
func (r *textReplacer) value(v []byte, schemas []*jsonschema.Schema, root bool) []byte {
	switch jsonscan.KindOf(v) {
	case jsonscan.String:
		if text, ok := r.replace(string(jsonscan.Unquote(v)), r.o.base64Of(schemas)); ok {
			return jsonscan.AppendString(nil, text)
		}
	case jsonscan.Object:
		dst := []byte{'{'}
		for name, member := range jsonscan.Members(v) {
			var of []*jsonschema.Schema
			if !root || !r.o.isParameter(string(name)) {
				of = memberSchemas(schemas, string(name))
			}
			dst = jsonscan.AppendMember(dst, string(name), r.value(member, of, false))
		}
		return append(dst, '}')
	case jsonscan.Array:
		dst, n := []byte{'['}, 0
		for item := range jsonscan.Elements(v) {
			if n > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, r.value(item, itemSchemas(schemas, n), false)...)
			n++
		}
		return append(dst, ']')
	default:
	}
	return v
}

// memberSchemas returns the schemas of a member of an object.
func memberSchemas(schemas []*jsonschema.Schema, name string) (all []*jsonschema.Schema) {
	for _, s := range schemas {
		for part := range s.Applied() {
			if p := part.Property(name); p != nil {
				all = append(all, p)
			} else if p := part.Schema("additionalProperties"); p != nil {
				all = append(all, p)
			}
		}
	}
	return all
}

// itemSchemas returns the schemas of item n of an array.
func itemSchemas(schemas []*jsonschema.Schema, n int) (all []*jsonschema.Schema) {
	for _, s := range schemas {
		for part := range s.Applied() {
			if prefix := part.Parts("prefixItems"); n < len(prefix) {
				all = append(all, prefix[n].Schema)
			} else if p := part.Schema("items"); p != nil {
				all = append(all, p)
			}
		}
	}
	return all
}

// base64Of returns how the body has the bytes of a string; nil if none of its schemas says base64.
func (o *Operation) base64Of(schemas []*jsonschema.Schema) *Base64 {
	for _, s := range schemas {
		for part := range s.Applied() {
			if as := o.base64In(part); as != nil {
				return as
			}
		}
	}
	return nil
}

// base64In is [Operation.base64Of] for what one schema says itself.
func (o *Operation) base64In(s *jsonschema.Schema) *Base64 {
	if o.body == nil || s.Has("enum") || s.Has("const") {
		return nil
	}
	encoding, format := strings.ToLower(s.Text("contentEncoding")), strings.ToLower(s.Text("format"))
	structured := slices.Contains([]string{"json", "ndjson", "xml"}, o.body.kind)
	switch {
	case o.body.kind == "form": // what is sent is escaped once more
		return nil
	case encoding == "base64":
		return &Base64{base64.StdEncoding, true}
	case encoding == "base64url":
		return &Base64{base64.RawURLEncoding, true}
	case encoding != "":
		return nil
	case format == "base64url" && structured:
		return &Base64{base64.RawURLEncoding, true}
	case format == "byte", format == "base64":
		return &Base64{base64.StdEncoding, structured}
	}
	return nil
}

// isParameter reports whether the argument is one that no body has.
func (o *Operation) isParameter(name string) bool {
	i, ok := o.index[name]
	return ok && o.arguments[i].place < inBody
}

// WithBase64Note returns the operation with a sentence added to the description of each string of its body that is base64. It returns the
// operation itself if there is none.
func (o *Operation) WithBase64Note(note string) *Operation {
	if o.body == nil || !bytes.Contains(o.Input, []byte("byte")) && !bytes.Contains(o.Input, []byte("base64")) {
		return o
	}
	e := noteEditor{o: o, note: note}
	input := e.schema(nil, o.inputSchema(), true)
	if bytes.Equal(input, o.Input) {
		return o
	}
	other := *o
	other.Input = input
	other.showLike(o, len(input)-len(o.Input))
	other.validator = sync.OnceValues(func() (*schema.Validator, error) { return schema.Compile(other.Input) })
	return &other
}

// noteEditor adds a note to schemas of base64.
type noteEditor struct {
	o    *Operation
	note string
}

// schema appends a schema with the notes. root is set for that of all arguments, whose parameters get none.
func (e *noteEditor) schema(dst []byte, s *jsonschema.Schema, root bool) []byte {
	if !s.IsObject() {
		return append(dst, s.Source()...)
	}
	noted := e.o.base64In(s) != nil
	start := len(dst)
	dst = append(dst, '{')
	for _, k := range s.Keywords() {
		if noted && k.Name == "description" {
			continue
		}
		value := k.AppendWith(nil, func(dst []byte, p jsonschema.Part) []byte {
			if root && k.Name == "properties" && e.o.isParameter(p.Name) {
				return append(dst, p.Schema.Source()...)
			}
			return e.schema(dst, p.Schema, root && k.Name != "properties" && k.Name != "$defs")
		})
		dst = jsonscan.AppendMember(dst, k.Name, value)
	}
	if noted {
		description := strings.TrimSpace(s.Text("description") + " " + e.note)
		dst = jsonscan.AppendMember(dst, "description", jsonscan.AppendString(nil, description))
	}
	if dst = append(dst, '}'); !noted && bytes.Equal(dst[start:], s.Source()) {
		return append(dst[:start], s.Source()...)
	}
	return dst
}

package schema

import (
	"encoding/json"
	"slices"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
)

// Portable rewrites an input schema for models and clients that support less than JSON Schema 2020-12, with the keywords that all of them
// support: type, description, properties, required, items, enum and format. Descriptions explain the constraints that get lost. Arguments
// are still checked against the original schema. maxBytes is the maximum size of the result, which is reached by leaving out texts and
// deep levels; 0: 64 KiB.
//
// The rules, and the clients that require them:
//   - the root has type object and properties, and no composition, enum or not (Claude and OpenAI: pains row 24);
//   - every schema has a type, which is one word; null is in the description, since clients make a list of types
//     of "anyOf: [{…}, {type: null}]" (Gemini: row 25);
//   - no $ref, oneOf, anyOf, allOf, const, additionalProperties, exclusive bounds: unknown or refused names (row 25, 3);
//     bounds and patterns are refused by some of Gemini's front ends, so they become words;
//   - enum is of strings, and only on strings; formats are date-time, int32, int64, float and double (rows 25, 27);
//   - an array has items (row 27); an object has properties: one about which nothing is known is asked for as JSON text,
//     which is read as JSON when the arguments are checked, because Gemini refuses an object without any.
func Portable(schema *jsonschema.Schema, maxBytes int) json.RawMessage {
	if maxBytes <= 0 {
		maxBytes = Limits{}.withDefaults().MaxBytes
	}
	w := &portableWriter{most: maxBytes}
	var out []byte
	total := 3 * maxPortableSteps
	for _, stage := range portableStages {
		if stage.depth > 2 && total <= 0 {
			continue // composition multiplies
		}
		w.cut, w.steps = stage, maxPortableSteps
		out = w.root(schema)
		if total -= maxPortableSteps - w.steps; len(out) <= maxBytes && w.steps >= 0 {
			break
		}
	}
	return out
}

// portableStages are tried until the schema fits: depth is the level at which objects are no more spelled out, text the
// one from which on descriptions are left out.
var portableStages = [...]cut{
	{depth: 12, text: noLimit}, {depth: 8, text: 5}, {depth: 6, text: 3, short: true}, {depth: 5, text: 3, short: true},
	{depth: 4, text: 2, short: true}, {depth: 3, text: 2, short: true}, {depth: 2, text: 2, short: true}, {depth: 1, text: 1, short: true},
	{depth: 1, text: 0, short: true},
}

const maxPortableSteps = 5000 // schemas looked at in a stage: composition can multiply without end

// portableWriter writes one schema.
type portableWriter struct {
	cut   cut
	steps int
	most  int      // bytes
	path  []string // the definitions that contain the schema being written
	// unions reports whether a member that alternatives describe differently keeps all of their schemas, as alternatives of its own.
	unions bool
}

func (w *portableWriter) root(schema *jsonschema.Schema) []byte {
	o := w.outline(schema)
	out := []byte(`{"type":"object"`)
	if text := o.text(w.cut, 0, ""); text != "" {
		out = jsonscan.AppendString(append(out, `,"description":`...), text)
	}
	return append(w.members(out, o, 0), '}')
}

// members writes properties and required.
func (w *portableWriter) members(out []byte, o *outline, level int) []byte {
	out = append(out, `,"properties":{`...)
	var required []string
	first := true
	for _, m := range o.members {
		before := len(out)
		if !first {
			out = append(out, ',')
		}
		out = append(jsonscan.AppendString(out, m.name), ':')
		written, ok := w.part(out, m, level)
		if !ok {
			out = out[:before]
			continue
		}
		out, first = written, false
		if slices.Contains(o.required, m.name) {
			required = append(required, m.name)
		}
		if len(out) > w.most || w.steps < 0 {
			break // the next stage is tried
		}
	}
	out = append(out, '}')
	if len(required) > 0 {
		out = append(out, `,"required":[`...)
		for i, name := range required {
			if i > 0 {
				out = append(out, ',')
			}
			out = jsonscan.AppendString(out, name)
		}
		out = append(out, ']')
	}
	return out
}

// part writes the schema of a member, or of items.
func (w *portableWriter) part(out []byte, m outlineMember, level int) ([]byte, bool) {
	depth := len(w.path)
	w.path = append(w.path, m.within...)
	defer func() { w.path = w.path[:depth] }()
	return w.schema(out, m.schemas, level+1)
}

// schema writes what several schemas say of one value; it is false if there is no such value.
func (w *portableWriter) schema(out []byte, schemas []*jsonschema.Schema, level int) ([]byte, bool) {
	o := w.outline(schemas...)
	if o.never {
		return out, false
	}
	kind, asText := o.pick(), ""
	switch {
	case kind != objectType:
	case len(o.members) == 0 || o.again || level >= int(w.cut.depth):
		kind, asText = stringType, o.asText()
	}
	out = append(out, `{"type":"`...)
	out = append(append(out, kind.names()[0]...), '"')
	if text := o.text(w.cut, level, asText); text != "" {
		out = jsonscan.AppendString(append(out, `,"description":`...), text)
	}
	switch {
	case kind == objectType:
		out = w.members(out, o, level)
	case kind == arrayType:
		out = append(out, `,"items":`...)
		written, ok := w.part(out, o.items, level)
		if !ok {
			written = append(out, `{"type":"string"}`...) // there are no items
		}
		out = written
	case asText != "":
	case kind == stringType && len(o.values) > 0:
		out = append(out, `,"enum":[`...)
		for i, v := range o.values {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, v...)
		}
		out = append(out, ']')
	case o.format != "" && portableFormat(kind, o.format):
		out = jsonscan.AppendString(append(out, `,"format":`...), o.format)
	}
	return append(out, '}'), true
}

// portableFormat reports whether a format is one that every client takes for a type; the others refuse the whole list.
func portableFormat(kind types, format string) bool {
	switch format {
	case "date-time":
		return kind == stringType
	case "int32", "int64":
		return kind == integerType
	case "float", "double":
		return kind == numberType
	}
	return false
}

// PortableOutput rewrites an output schema, as Converter.Output makes them, without lists of types: a member that may be
// null has its type in the description, so that the schema still accepts every answer that it did.
func PortableOutput(schema json.RawMessage) json.RawMessage {
	return appendPortableOutput(make([]byte, 0, len(schema)+len(schema)/8), jsonschema.Parse(schema))
}

func appendPortableOutput(out []byte, s *jsonschema.Schema) []byte {
	out = append(out, '{')
	for i, k := range s.Keywords() {
		if i > 0 {
			out = append(out, ',')
		}
		if k.Name == "type" && jsonscan.KindOf(k.Value) == jsonscan.Array {
			out = jsonscan.AppendString(append(out, `"description":`...), typeList(k.Texts()))
			continue
		}
		out = append(jsonscan.AppendString(out, k.Name), ':')
		out = k.AppendWith(out, func(out []byte, p jsonschema.Part) []byte { return appendPortableOutput(out, p.Schema) })
	}
	return append(out, '}')
}

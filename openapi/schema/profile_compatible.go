package schema

import (
	"encoding/json"
	"slices"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
)

// Compatible rewrites an input schema so that the converters of model vendors take it and the APIs behind them accept it.
// Unlike [Portable] it keeps $defs, bounds, patterns, formats and nested alternatives, so that a model still sees what is checked.
// Arguments are still checked against the schema that it was made of. maxBytes is the maximum size of the result; 0: 64 KiB.
//
// The rules, and the clients that require them (ADR 0054):
//   - the root has no composition, enum, const or not: allOf is merged, alternatives become the union of their members
//     (Claude and OpenAI refuse the request otherwise);
//   - no keyword of objects is a boolean, and properties, items and alternatives are never one: google-genai reads members of each
//     schema, and fails on true and false, as do openai-agents and the TypeScript SDK;
//   - the values of undeclared members are described in words: openai-agents refuses to close an object that says more;
//   - allOf is merged, and so is a reference with assertions beside it: google-genai drops the former, openai-agents refuses the latter;
//   - oneOf becomes anyOf, and enum is of texts: google-genai drops the one, and its model of a schema has no other values;
//   - a reference by which a definition contains itself has nothing beside it: openai-agents would replace it by the definition without end;
//   - at most maxCompatibleDepth schemas are nested: openai-agents refuses 100 levels of objects and arrays;
//   - a property named "$ref" is described in words: LangChain's converter takes it for a reference;
//   - a schema of which more than maxExpanded would become is in the portable profile, which has no references.
func Compatible(schema *jsonschema.Schema, maxBytes int) json.RawMessage {
	if maxBytes <= 0 {
		maxBytes = Limits{}.withDefaults().MaxBytes
	}
	w := compatibleWriter{most: maxBytes}
	for _, merges := range []bool{true, false} {
		w.merges = merges
		out, ok := w.root(schema)
		if ok && w.bareRecursion() {
			out, ok = w.root(schema)
		}
		if ok {
			return out
		}
	}
	return Portable(schema, maxBytes)
}

const (
	maxCompatibleSteps = 20_000 // schemas that are read for one: a base may be merged into many
	maxCompatibleDepth = 40     // nested schemas
	// maxExpanded is the most schemas that a schema has once each reference is replaced by what it refers to, which converters do:
	// google-genai takes about a second for so many.
	maxExpanded = 10_000
)

// Open returns an input schema without "additionalProperties": false at its root, which is all by which [Compatible] differs
// from most schemas.
func Open(schema json.RawMessage) json.RawMessage {
	return slices.Concat(cutClosing(schema))
}

// cutClosing returns what is before and behind "additionalProperties": false at the root of a schema.
func cutClosing(schema []byte) (before, after []byte) {
	const closing = `,"additionalProperties":false`
	for name, value := range jsonscan.Members(schema) {
		if string(name) != "additionalProperties" || string(value) != "false" {
			continue
		}
		end := cap(schema) - cap(value) + len(value)
		if start := end - len(closing); start > 0 && string(schema[start:end]) == closing {
			return schema[:start], schema[end:]
		}
	}
	return schema, nil
}

// compatibleWriter writes one schema in the compatible profile. Its methods that write a keyword are in profile_compatible_keywords.go.
type compatibleWriter struct {
	most   int  // bytes
	merges bool // allOf is merged below the root, too
	steps  int
	used   []string // definitions that are referred to, in the order of the references
	known  map[string]*definition
	in     *definition     // that is being written, or the root
	bare   map[string]bool // definitions whose references have nothing beside them
}

// A definition counts the schemas that are written for one definition, or for the root, and its references.
type definition struct {
	schemas int
	refs    []*definition // one for each reference
	open    bool          // it is being expanded
	noted   bool          // a reference to it has annotations beside it
	visit   *definition   // by which it was last found
}

// recurs reports whether a definition contains itself.
func (d *definition) recurs() bool {
	found := []*definition{d}
	for len(found) > 0 {
		last := found[len(found)-1]
		found = found[:len(found)-1]
		for _, ref := range last.refs {
			if ref == d {
				return true
			}
			if ref.visit != d {
				ref.visit = d
				found = append(found, ref)
			}
		}
	}
	return false
}

// bareRecursion makes references to definitions that contain themselves lose the keywords beside them. It reports whether there are any.
func (w *compatibleWriter) bareRecursion() bool {
	bare := map[string]bool{}
	for name, d := range w.known {
		if d.noted && d.recurs() {
			bare[name] = true
		}
	}
	w.bare = bare
	return len(bare) > 0
}

// expand subtracts the number of schemas that converters make of a definition from left; the result is negative if there are more than
// left. A reference of a definition to itself is not followed.
func (d *definition) expand(left int) int {
	if d.open {
		return left
	}
	d.open = true
	left -= d.schemas
	for _, ref := range d.refs {
		if left < 0 {
			break
		}
		left = ref.expand(left - 1)
	}
	d.open = false
	return left
}

// root returns the whole schema; it is false if that takes too much.
func (w *compatibleWriter) root(schema *jsonschema.Schema) ([]byte, bool) {
	out := make([]byte, 0, len(schema.Source()))
	root := &definition{}
	w.in, w.steps, w.used, w.known = root, maxCompatibleSteps, nil, map[string]*definition{}
	if composed(schema) {
		out = w.composedRoot(schema)
	} else {
		out = w.merged(out, []*jsonschema.Schema{schema}, 0)
	}
	out = out[:len(out)-1]
	for i := 0; i < len(w.used) && len(out) <= w.most && w.steps >= 0; i++ {
		if i == 0 {
			out = append(out, `,"$defs":{`...)
		} else {
			out = append(out, ',')
		}
		out = append(jsonscan.AppendString(out, w.used[i]), ':')
		w.in = w.known[w.used[i]]
		out = w.merged(out, []*jsonschema.Schema{schema.Definition(w.used[i])}, 1)
	}
	if len(w.used) > 0 {
		out = append(out, '}')
	}
	out = append(out, '}')
	return out, len(out) <= w.most && w.steps >= 0 && root.expand(maxExpanded) >= 0
}

// composed reports whether the root of a schema has a keyword that vendors refuse there.
func composed(schema *jsonschema.Schema) bool {
	for _, k := range schema.Keywords() {
		switch k.Name {
		case "$ref", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "enum", "const", "dependentSchemas":
			return true
		}
	}
	return false
}

// composedRoot writes the root of a composed schema, without $defs: the members of all its parts and alternatives, of which those
// are required that each alternative requires, and what else is to be said in the description.
func (w *compatibleWriter) composedRoot(schema *jsonschema.Schema) []byte {
	p := &portableWriter{cut: portableStages[0], steps: maxPortableSteps, most: w.most, unions: true}
	o := p.outline(schema)
	if p.steps < 0 {
		w.steps = -1
	}
	out := []byte(`{"type":"object"`)
	if text := o.text(p.cut, 0, ""); text != "" {
		out = jsonscan.AppendString(append(out, `,"description":`...), text)
	}
	out = append(out, `,"properties":{`...)
	written := map[string]bool{}
	for _, m := range o.members {
		if slices.ContainsFunc(m.schemas, (*jsonschema.Schema).Never) {
			continue
		}
		if len(written) > 0 {
			out = append(out, ',')
		}
		written[m.name] = true
		out = w.schema(append(jsonscan.AppendString(out, m.name), ':'), m.schemas, 1)
	}
	out = append(out, '}')
	return append(w.required(out, o.required, written), '}')
}

// required writes the names of members that are required and can be given; nil: all can.
func (w *compatibleWriter) required(out []byte, names []string, given map[string]bool) []byte {
	first := true
	for i, name := range names {
		if given != nil && !given[name] || slices.Contains(names[:i], name) {
			continue
		}
		if first {
			out = append(out, `,"required":[`...)
		} else {
			out = append(out, ',')
		}
		out, first = jsonscan.AppendString(out, name), false
	}
	if !first {
		out = append(out, ']')
	}
	return out
}

// schema writes what several schemas say together of one value.
func (w *compatibleWriter) schema(out []byte, schemas []*jsonschema.Schema, level int) []byte {
	if len(schemas) == 1 {
		if name, noted, ok := plainReference(schemas[0]); ok {
			if w.bare[name] {
				w.refer(name, false)
				return append(jsonscan.AppendString(append(out, `{"$ref":`...), jsonschema.ReferenceTo(name)), '}')
			}
			w.refer(name, noted)
			return append(out, schemas[0].Source()...)
		}
	}
	return w.merged(out, schemas, level)
}

// refer takes note of a definition that is referred to.
func (w *compatibleWriter) refer(name string, noted bool) {
	d := w.known[name]
	if d == nil {
		d = &definition{}
		w.known[name] = d
		w.used = append(w.used, name)
	}
	d.noted = d.noted || noted
	w.in.refs = append(w.in.refs, d)
}

// plainReference returns the definition that a schema refers to with nothing but annotations beside; noted tells that there are some.
func plainReference(s *jsonschema.Schema) (name string, noted, ok bool) {
	for _, k := range s.Keywords() {
		switch k.Name {
		case "$ref":
			name = s.Reference()
		case "description", "title", "default", "examples", "deprecated":
			noted = true
		default:
			return "", false, false
		}
	}
	return name, noted, name != "" && s.Target() != nil
}

// merged writes schemas as one, the references among them and in their allOf followed where that is to be merged.
func (w *compatibleWriter) merged(out []byte, schemas []*jsonschema.Schema, level int) []byte {
	w.in.schemas++
	c := &mergedSchema{}
	for _, s := range schemas {
		if level == 0 || w.merges || len(schemas) > 1 {
			c.Merge(s)
		} else {
			c.take(s)
			w.steps--
		}
	}
	w.steps -= c.Count()
	if level > maxCompatibleDepth {
		c.deep()
	}
	if len(out) > w.most || w.steps < 0 {
		return append(out, "{}"...) // what is written is not used
	}
	return w.write(out, c, level)
}

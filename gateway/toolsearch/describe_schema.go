package toolsearch

import (
	"fmt"
	"slices"
	"strings"

	"drawbridge/gateway/catalog"
	"drawbridge/gateway/tokenizer"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
	"drawbridge/openapi/text"
)

// The schemas of a tool, as pointers into its definition name them.
const inputPointer, outputPointer = "/inputSchema", "/outputSchema"

// excerpts are tried one after the other, from the most detail to the least.
var excerpts = []jsonschema.ExcerptOptions{
	{Description: 1000, Depth: 100, Definitions: 1000},
	{Description: 120, Depth: 12, Definitions: 1000},
	{Description: 60, Depth: 8, Definitions: 40},
	{Depth: 8, Definitions: 20},
	{Depth: 6, Definitions: 10},
	{Depth: 4, Definitions: 6},
	{Depth: 3, Definitions: 3},
	{Depth: 2},
	{Depth: 1},
}

// schemaWriter writes definitions with JSON Schemas in the tokens of one answer.
type schemaWriter struct {
	features catalog.Features
	answers  bool     // the output schema is asked for
	types    []string // pointers and names of $defs that are asked for instead of the definitions
	room     int      // tokens that are left
	notes    []string
}

// maxNoted is the number of parts of one tool that a note names; the text has all of them in their places.
const maxNoted = 6

// describe returns the definitions of tools, and a text on how to get the rest. What one tool doesn't need, the next ones
// get.
func (w *schemaWriter) describe(tools []*catalog.Tool) (texts [][]byte) {
	for i, t := range tools {
		most := w.room / (len(tools) - i)
		made := w.tool(t, most)
		w.room -= tokenizer.Count(made)
		texts = append(texts, made)
	}
	if len(w.notes) > 0 {
		texts = append(texts, []byte(strings.Join(w.notes, "\n")))
	}
	return texts
}

// note notes what is left out of a tool. It costs room.
func (w *schemaWriter) note(format string, args ...any) {
	note := fmt.Sprintf(format, args...)
	w.room -= tokenizer.Count([]byte(note))
	w.notes = append(w.notes, note)
}

// tool returns the definition of a tool in at most that number of tokens, or the types that are asked for.
func (w *schemaWriter) tool(t *catalog.Tool, most int) []byte {
	input, output := t.Published(w.features.Profile)
	if len(w.types) > 0 {
		return w.named(t, jsonschema.Parse(input), jsonschema.Parse(output), most)
	}
	if whole := t.Definition(w.features); within(whole, most) {
		return whole
	}
	most -= reserved
	if output != nil && !w.answers {
		output = nil
		w.note(`%s: outputSchema is left out. "answers": true has it.`, t.Name)
	}
	for _, o := range excerpts {
		o.MaxBytes = maxExcerpt
		in, fits := jsonschema.Parse(input).Excerpt(o)
		left := below(inputPointer, in.Left)
		var out jsonschema.Excerpt
		if output != nil && fits {
			out, fits = jsonschema.Parse(output).Excerpt(o)
			left = append(left, below(outputPointer, out.Left)...)
		}
		if !fits {
			continue
		}
		if made := t.DefinitionWith(in.Text, out.Text); within(made, most) {
			w.noteLeft(t, o, left)
			return made
		}
	}
	w.note(`%s: its schemas are left out. Describe it alone, or without "format".`, t.Name)
	return t.DefinitionWith([]byte("true"), nil)
}

const (
	// reserved is the number of tokens for what is said of the parts of a tool that are left out.
	reserved = 90
	// maxExcerpt is the length in bytes of a schema of which the tokens are counted.
	maxExcerpt = 64 << 10
)

// within reports whether a text has at most that number of tokens.
func within(text []byte, tokens int) bool {
	return len(text) <= tokens || len(text) <= maxExcerpt && tokenizer.Count(text) <= tokens
}

// below returns the parts of a schema in which something is left out, as pointers of two tokens more than the schema has, each once.
func below(schema string, left []string) (all []string) {
	for _, pointer := range left {
		tokens := strings.SplitN(pointer, "/", 4)
		if pointer = schema + strings.Join(tokens[:min(len(tokens), 3)], "/"); !slices.Contains(all, pointer) {
			all = append(all, pointer)
		}
	}
	return all
}

func (w *schemaWriter) noteLeft(t *catalog.Tool, o jsonschema.ExcerptOptions, left []string) {
	switch {
	case len(left) > 0:
		names := make([]string, 0, maxNoted)
		for _, pointer := range left[:min(len(left), maxNoted)] {
			names = append(names, text.Truncate(pointer, 80))
		}
		if len(left) > maxNoted {
			names = append(names, fmt.Sprintf("%d more", len(left)-maxNoted))
		}
		w.note(`%s: left out, where "$comment" says so: parts of %s. "types" has these by their pointers, or names in $defs.`, t.Name, strings.Join(names, ", "))
	case o.Description == 0:
		w.note(`%s: descriptions are left out.`, t.Name)
	}
}

// named returns an object with the schemas of a tool that are asked for.
func (w *schemaWriter) named(t *catalog.Tool, input, output *jsonschema.Schema, most int) []byte {
	most -= reserved
	var found []*jsonschema.Schema
	var names, unknown []string
	for _, name := range w.types {
		if s := find(name, input, output); s != nil {
			found, names = append(found, s), append(names, name)
		} else {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		w.note(`%s has no %s: give names in $defs, or pointers such as %s/properties/id.`, t.Name, text.List(quoted(unknown), maxNoted), inputPointer)
	}
	for _, o := range excerpts {
		o.MaxBytes = maxExcerpt
		out := append(jsonscan.AppendString([]byte(`{"name":`), t.Name), `,"types":{`...)
		var left []string
		fits := true
		for i, s := range found {
			if i > 0 {
				out = append(out, ',')
			}
			e, ok := s.Excerpt(o)
			fits = fits && ok
			out = append(append(jsonscan.AppendString(out, names[i]), ':'), e.Text...)
			for _, pointer := range e.Left {
				schema := names[i]
				if strings.HasPrefix(pointer, "/$defs/") {
					schema = ""
				} else if schema[0] != '/' {
					schema = "/$defs/" + jsonscan.EscapeToken(schema)
				}
				left = append(left, below(schema, []string{pointer})...)
			}
			left = slices.Compact(left)
		}
		if out = append(out, "}}"...); fits && within(out, most) {
			w.noteLeft(t, o, left)
			return out
		}
	}
	w.note(`%s: there is no room for these types. Ask for fewer.`, t.Name)
	return append(jsonscan.AppendString([]byte(`{"name":`), t.Name), '}')
}

// find returns the schema that a pointer into the definition of a tool leads to, or that has a name in $defs, or nil.
func find(name string, input, output *jsonschema.Schema) *jsonschema.Schema {
	for prefix, root := range map[string]*jsonschema.Schema{inputPointer: input, outputPointer: output} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && (rest == "" || rest[0] == '/') {
			return root.At(rest)
		}
	}
	for _, root := range []*jsonschema.Schema{input, output} {
		if s := root.Definition(name); s != nil {
			return s
		}
		if strings.HasPrefix(name, "/$defs/") {
			if s := root.At(name); s != nil {
				return s
			}
		}
	}
	return nil
}

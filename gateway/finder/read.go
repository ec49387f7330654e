package finder

import (
	"runtime"
	"strings"
	"sync"

	"drawbridge/gateway/catalog"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
)

// Maximum depths of properties: deeper ones say little about the purpose of a call.
const (
	argumentDepth = 3
	answerDepth   = 4
	// maxNames limits the names and values that are read of one schema.
	maxNames = 400
)

// OfTools returns the index of tools of catalogs, in their order. pause is that of [New].
func OfTools(tools []*catalog.Tool, pause func()) *Index {
	read := make([]Tool, len(tools))
	var running sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), 4)
	for first := range workers {
		running.Go(func() {
			for i := first; i < len(tools); i += workers {
				read[i] = Read(tools[i])
			}
		})
	}
	running.Wait()
	shareKinds(read)
	return New(read, pause)
}

// shareKinds gives the tools of one path the kinds of things that any of them names: a file that PUT saves as a notebook is
// got and deleted as one.
func shareKinds(tools []Tool) {
	type resource struct{ api, path string }
	kinds := map[resource][]string{}
	for i := range tools {
		if t := &tools[i]; len(t.Kinds) > 0 {
			kinds[resource{t.API, t.Path}] = append(kinds[resource{t.API, t.Path}], t.Kinds...)
		}
	}
	for i := range tools {
		tools[i].Kinds = kinds[resource{tools[i].API, tools[i].Path}]
	}
}

// Read returns the indexed texts of a tool of a catalog.
func Read(t *catalog.Tool) Tool {
	input, output := t.Published(openapi.ProfileFull)
	r := schemaReader{}
	r.read(input, argumentDepth)
	answer := schemaReader{}
	answer.read(output, answerDepth)
	return Tool{
		Name: t.Name, ID: t.Document.ID, API: t.API, Method: t.Method, Path: t.Path, Summary: t.Document.Summary, Description: t.Document.Description, Tags: t.Tags,
		Configured: Configured{Name: t.Configured.Name, Title: t.Configured.Title, Description: t.Configured.Description},
		Parameters: r.names, Explained: r.texts, Values: r.values, Kinds: r.kinds, Properties: answer.names,
	}
}

// schemaReader collects the names, texts and values in a JSON Schema. kinds are the values of members that say what a thing
// is: contents whose type is file, directory or notebook.
type schemaReader struct{ names, texts, values, kinds []string }

// read reads the members of the root, and the properties below them.
func (r *schemaReader) read(schema []byte, depth int) {
	for _, m := range jsonschema.Parse(schema).Members() {
		r.property(m.Name, m.Schema, depth-1)
	}
}

// property reads a property and, as deep as that goes, those of its objects and items.
func (r *schemaReader) property(name string, s *jsonschema.Schema, depth int) {
	if len(r.names) == maxNames {
		return
	}
	r.names = append(r.names, name)
	text := described(s)
	if text != "" {
		r.texts = append(r.texts, text)
	}
	r.enumeration(name, s, text)
	if depth == 0 {
		return
	}
	for _, holder := range []*jsonschema.Schema{s, s.Schema("items")} {
		for _, p := range holder.Parts("properties") {
			r.property(p.Name, p.Schema, depth-1)
		}
		for _, p := range holder.Target().Parts("properties") {
			r.enumeration(p.Name, p.Schema, described(p.Schema))
		}
	}
}

// described returns the description of a property; "" if it has none.
func described(s *jsonschema.Schema) string {
	if k := s.Keyword("description"); jsonscan.KindOf(k.Value) == jsonscan.String {
		return k.Text()
	}
	return ""
}

// enumeration reads the values of a property with that description.
func (r *schemaReader) enumeration(name string, s *jsonschema.Schema, description string) {
	r.value(name, quoted(description)...)
	for value := range jsonscan.Elements(s.Value("enum")) {
		if jsonscan.KindOf(value) == jsonscan.String {
			r.value(name, string(jsonscan.Unquote(value)))
		}
	}
}

// value adds values of a property.
func (r *schemaReader) value(name string, values ...string) {
	if len(r.values)+len(values) > maxNames {
		return
	}
	r.values = append(r.values, values...)
	if name == "type" || name == "kind" {
		r.kinds = append(r.kinds, values...)
	}
}

// quoted returns the words in quotation marks of a description with at least two of them: an enumeration in prose, such as
// "one of 'file', 'directory'". Descriptions are long, so they are read once, without a regular expression.
func quoted(text string) (values []string) {
	for len(values) < maxNames {
		start := strings.IndexAny(text, "'\"`")
		if start < 0 {
			break
		}
		mark := text[start]
		text = text[start+1:]
		end := 0
		for end < len(text) && isWordByte(text[end]) {
			end++
		}
		if end > 0 && end < len(text) && text[end] == mark {
			values = append(values, text[:end])
			end++
		}
		text = text[end:]
	}
	if len(values) < 2 {
		return nil
	}
	return values
}

// isWordByte reports whether a byte belongs to a word in quotation marks: a letter, a digit, "_" or "-".
func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

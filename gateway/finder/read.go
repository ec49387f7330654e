package finder

import (
	"runtime"
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
	return New(read, pause)
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
		Parameters: r.names, Explained: r.texts, Values: r.values, Properties: answer.names,
	}
}

// schemaReader collects the names, texts and values in a JSON Schema.
type schemaReader struct{ names, texts, values []string }

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
	if k := s.Keyword("description"); jsonscan.KindOf(k.Value) == jsonscan.String {
		r.texts = append(r.texts, k.Text())
	}
	for value := range jsonscan.Elements(s.Value("enum")) {
		if jsonscan.KindOf(value) == jsonscan.String && len(r.values) < maxNames {
			r.values = append(r.values, string(jsonscan.Unquote(value)))
		}
	}
	if depth == 0 {
		return
	}
	for _, holder := range []*jsonschema.Schema{s, s.Schema("items")} {
		for _, p := range holder.Parts("properties") {
			r.property(p.Name, p.Schema, depth-1)
		}
	}
}

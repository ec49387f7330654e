package finder

import (
	"runtime"
	"sync"

	"drawbridge/gateway/catalog"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
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
	op := t.Operation
	input, output := t.Published(openapi.ProfileFull)
	r := schemaReader{}
	r.read(input, argumentDepth)
	answer := schemaReader{}
	answer.read(output, answerDepth)
	return Tool{
		Name: t.Name, ID: op.ID, API: t.API, Method: op.Method, Path: op.Path, Summary: op.Summary, Description: op.Description, Tags: op.Tags,
		Parameters: r.names, Explained: r.texts, Values: r.values, Properties: answer.names,
	}
}

// schemaReader collects the names, texts and values in a JSON Schema.
type schemaReader struct{ names, texts, values []string }

func (r *schemaReader) read(schema []byte, depth int) {
	if depth == 0 || jsonscan.KindOf(schema) != jsonscan.Object {
		return
	}
	properties := jsonscan.Lookup(schema, "properties")
	if jsonscan.KindOf(properties) != jsonscan.Object {
		return
	}
	for name, property := range jsonscan.Members(properties) {
		if len(r.names) == maxNames {
			return
		}
		r.names = append(r.names, string(name))
		if text := jsonscan.Lookup(property, "description"); jsonscan.KindOf(text) == jsonscan.String {
			r.texts = append(r.texts, string(jsonscan.Unquote(text)))
		}
		if list := jsonscan.Lookup(property, "enum"); jsonscan.KindOf(list) == jsonscan.Array {
			for value := range jsonscan.Elements(list) {
				if jsonscan.KindOf(value) == jsonscan.String && len(r.values) < maxNames {
					r.values = append(r.values, string(jsonscan.Unquote(value)))
				}
			}
		}
		r.read(property, depth-1)
		r.read(jsonscan.Lookup(property, "items"), depth-1)
	}
}

package toolsearch

import (
	"encoding/json"
	"fmt"
	"strings"

	"drawbridge/gateway/catalog"
	"drawbridge/gateway/tokenizer"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
	"drawbridge/openapi/typescript"
)

const (
	// maxDescribed is the most tools that are described at once, maxTypes that of types.
	maxDescribed, maxTypes = 10, 20
	// maxDeclarations is the number of tokens of declarations; an answer has a few more, 4,000 at most.
	maxDeclarations = 3700
)

// Describe answers describe_tools: declarations in TypeScript of all tools with one of the names, or their definitions as in tools/list for
// clients with the features f, and a text for each name that is not of a tool. found is the number of tools. The error is an
// [*ArgumentError].
func (s *Scope) Describe(args json.RawMessage, f catalog.Features) (texts [][]byte, found int, err error) {
	a := newArguments(args)
	names := a.texts("names", true, maxDescribed)
	o := typescript.DeclareOptions{Answers: a.flag("answers"), Types: a.texts("types", false, maxTypes), Fits: fits}
	schemas := a.choice("format", "typescript", "schema") == "schema"
	if err := a.err(); err != nil {
		return nil, 0, err
	}
	var tools []*catalog.Tool
	room := maxDeclarations
	for _, name := range names {
		switch t := s.lookup(name); {
		case t == nil:
			text := []byte(s.Unknown(name))
			room -= tokenizer.Count(text)
			texts = append(texts, text)
		default:
			tools = append(tools, t)
		}
	}
	switch {
	case len(tools) == 0:
	case schemas:
		w := &schemaWriter{features: f, answers: o.Answers, types: o.Types, room: room}
		texts = append(w.describe(tools), texts...)
	default:
		texts = append([][]byte{[]byte(declare(tools, o))}, texts...)
	}
	return texts, len(tools), nil
}

// fits reports whether declarations are short enough. A token has a byte at least.
func fits(text string) bool {
	return len(text) <= maxDeclarations || tokenizer.Count([]byte(text)) <= maxDeclarations
}

// declare returns declarations of tools, and how to get what is left out.
func declare(tools []*catalog.Tool, o typescript.DeclareOptions) string {
	functions := make([]typescript.Function, len(tools))
	for i, t := range tools {
		functions[i] = t.Function()
	}
	d := typescript.Declare(functions, o)
	var notes []string
	if len(d.Unknown) > 0 {
		known := "They have none"
		if len(d.Known) > 0 {
			known = "They have: " + text.List(d.Known, 5*maxTypes)
		}
		notes = append(notes, fmt.Sprintf("These tools have no type %s. %s.", text.List(quoted(d.Unknown), maxTypes), known))
	}
	if len(d.Left) > 0 {
		notes = append(notes, `Left out, because there is no room: `+text.List(d.Left, maxTypes)+`. Ask for them by "types".`)
	}
	if d.Shortened {
		notes = append(notes, `… and names without types are shortened. "format": "schema" has all of one tool.`)
	}
	return strings.TrimSpace(strings.Join(append([]string{d.Text}, notes...), "\n\n"))
}

func quoted(names []string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = string(jsonscan.AppendString(nil, text.Truncate(name, 64)))
	}
	return all
}

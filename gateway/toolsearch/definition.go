package toolsearch

import (
	"drawbridge/gateway/catalog"
	"drawbridge/openapi/jsonscan"
)

// The names of the tools.
const (
	Search   = "search_tools"
	Describe = "describe_tools"
	Read     = "read_tool"
	Call     = "call_tool"
)

// Is reports whether a name is that of one of the tools.
func Is(name string) bool {
	switch name {
	case Search, Describe, Read, Call:
		return true
	}
	return false
}

// CallsTool reports whether the tool of that name calls another.
func CallsTool(name string) bool { return name == Read || name == Call }

// definition is the definition of one of the tools. Its schema uses no keywords but those that every client understands.
type definition struct {
	name, title, description, input string
	annotations                     catalog.Annotations
}

var definitions = []definition{
	{
		name: Search, title: "Search tools",
		description: "Finds the tools of this server that fit what you want to do, the best first: each with its signature, " +
			"name(required: type, optional?: type) → answer, and a line of description.",
		input: `{"type":"object","properties":{` +
			`"query":{"type":"string","description":"What to do, in a few words, such as: list open pull requests"},` +
			`"limit":{"type":"integer","description":"1 to 20, 8 by default"},` +
			`"api":{"type":"string","description":"Only tools of this API"},` +
			`"tag":{"type":"string","description":"Only tools with this tag"},` +
			`"read_only":{"type":"boolean","description":"Only tools that change nothing"}},"required":["query"]}`,
		annotations: catalog.Annotations{ReadOnly: true, Idempotent: true},
	},
	{
		name: Describe, title: "Describe tools",
		description: "Returns the full definitions of tools, with the schemas of their arguments and answers. Use it if a signature is not enough.",
		input: `{"type":"object","properties":{` +
			`"names":{"type":"array","items":{"type":"string"},"description":"At most 10"}},"required":["names"]}`,
		annotations: catalog.Annotations{ReadOnly: true, Idempotent: true},
	},
	{
		name: Read, title: "Call a read-only tool",
		description: "Calls a tool that search_tools marks as read-only.",
		input:       callInput,
		annotations: catalog.Annotations{ReadOnly: true, Idempotent: true, OpenWorld: true},
	},
	{
		name: Call, title: "Call a tool",
		description: "Calls any tool, also one that changes or deletes data.",
		input:       callInput,
		annotations: catalog.Annotations{Destructive: true, OpenWorld: true},
	},
}

const callInput = `{"type":"object","properties":{` +
	`"name":{"type":"string"},"arguments":{"type":"object","description":"As the tool's signature has them"}},"required":["name"]}`

// Pages returns the definitions of the tools as in tools/list for clients with the features f, followed by those of the
// pinned tools, in JSON arrays of at most size definitions.
func Pages(f catalog.Features, size int, pinned []*catalog.Tool) (pages [][]byte) {
	var page []byte
	n := 0
	add := func(next func(dst []byte) []byte) {
		if n == size && size > 0 {
			pages, page, n = append(pages, append(page, ']')), nil, 0
		}
		if n++; n == 1 {
			page = append(page, '[')
		} else {
			page = append(page, ',')
		}
		page = next(page)
	}
	for i := range definitions {
		add(func(dst []byte) []byte { return definitions[i].append(dst, f) })
	}
	for _, t := range pinned {
		add(func(dst []byte) []byte { return append(dst, t.Definition(f)...) })
	}
	return append(pages, append(page, ']'))
}

func (d *definition) append(dst []byte, f catalog.Features) []byte {
	dst = jsonscan.AppendString(append(dst, `{"name":`...), d.name)
	if f.Title {
		dst = jsonscan.AppendString(append(dst, `,"title":`...), d.title)
	}
	dst = jsonscan.AppendString(append(dst, `,"description":`...), d.description)
	dst = append(append(dst, `,"inputSchema":`...), d.input...)
	if f.Annotations {
		dst = d.annotations.Append(append(dst, `,"annotations":{`...))
		if !f.Title { // see catalog.Tool
			dst = jsonscan.AppendString(append(dst, `,"title":`...), d.title)
		}
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

// Usage returns a sentence with the signature of one of the tools.
func Usage(name string) string {
	for i := range definitions {
		if definitions[i].name == name {
			return "The signature is " + catalog.Signature(name, []byte(definitions[i].input), nil) + "."
		}
	}
	return ""
}

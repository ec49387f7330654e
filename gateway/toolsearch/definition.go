package toolsearch

import (
	"slices"

	"drawbridge/gateway/catalog"
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

// definitions are the definitions of the tools, in the order of the list. The schemas use no keywords but those that every client
// understands.
var definitions = [...]*catalog.Tool{
	catalog.NewTool(catalog.Definition{
		Name: Search, Title: "Search tools",
		Description: "Finds the tools of this server that fit what you want to do, the best first: each with its signature, " +
			"name(required: type, optional?: type) → answer, and a line of description.",
		Input: []byte(`{"type":"object","properties":{` +
			`"query":{"type":"string","description":"What to do, in a few words, such as: list open pull requests"},` +
			`"limit":{"type":"integer","description":"1 to 20, 8 by default"},` +
			`"api":{"type":"string","description":"Only tools of this API"},` +
			`"tag":{"type":"string","description":"Only tools with this tag"},` +
			`"read_only":{"type":"boolean","description":"Only tools that change nothing"}},"required":["query"]}`),
		Annotations: catalog.Annotations{ReadOnly: true, Idempotent: true},
	}),
	catalog.NewTool(catalog.Definition{
		Name: Describe, Title: "Describe tools",
		Description: "Declares tools in TypeScript, with all arguments and comments. Use it if a signature is not enough.",
		Input: []byte(`{"type":"object","properties":{` +
			`"names":{"type":"array","items":{"type":"string"},"description":"At most 10"},` +
			`"answers":{"type":"boolean","description":"Also the types of the answers"},` +
			`"types":{"type":"array","items":{"type":"string"},"description":"Only these types of the tools"},` +
			`"format":{"type":"string","enum":["typescript","schema"],"description":"schema: the definitions with JSON Schemas"}},"required":["names"]}`),
		Annotations: catalog.Annotations{ReadOnly: true, Idempotent: true},
	}),
	catalog.NewTool(catalog.Definition{
		Name: Read, Title: "Call a read-only tool",
		Description: "Calls a tool that search_tools marks as read-only.",
		Input:       []byte(callInput),
		Annotations: catalog.Annotations{ReadOnly: true, Idempotent: true, OpenWorld: true},
	}),
	catalog.NewTool(catalog.Definition{
		Name: Call, Title: "Call a tool",
		Description: "Calls any tool, also one that changes or deletes data.",
		Input:       []byte(callInput),
		Annotations: catalog.Annotations{Destructive: true, OpenWorld: true},
	}),
}

const callInput = `{"type":"object","properties":{` +
	`"name":{"type":"string"},"arguments":{"type":"object","description":"As the tool's signature has them"}},"required":["name"]}`

// Definition returns the definition of one of the tools; nil for any other name.
func Definition(name string) *catalog.Tool {
	for _, t := range definitions {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Listed returns the tools of a list in search mode: those of this package, then the pinned ones.
func Listed(pinned []*catalog.Tool) []*catalog.Tool {
	return slices.Concat(definitions[:], pinned)
}

// Usage returns a sentence with the signature of one of the tools.
func Usage(name string) string {
	return "The signature is " + Definition(name).Signature("") + "."
}

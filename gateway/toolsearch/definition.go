package toolsearch

import (
	"slices"
	"strings"

	"drawbridge/gateway/catalog"
	"drawbridge/gateway/tokenizer"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
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
	searchTool(nil),
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
	`"name":{"type":"string"},"arguments":{"type":"object","description":"As the tool's signature has them"},` +
	`"select":{"type":"string","description":"Only these fields of the answer, such as items[0:20].id,total; lines of a text: [0:50]"}},"required":["name"]}`

// Definition returns the definition of one of the tools; nil for any other name.
func Definition(name string) *catalog.Tool {
	for _, t := range definitions {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// API is an API as the description of search_tools names it.
type API struct {
	Name  string
	Title string // of its document, which is untrusted; may be empty
}

const (
	// maxAPIs and maxAPITokens limit the APIs that the definition of search_tools names. If there are more, it says how to
	// list them.
	maxAPIs, maxAPITokens = 40, 600
	// maxAPITitle is the maximum length of the title of an API in characters.
	maxAPITitle = 60
)

// searchTool returns search_tools for a caller that may call tools of these APIs.
func searchTool(apis []API) *catalog.Tool {
	description := "Finds the tools of this server that fit what you want to do, the best first: each with its signature, " +
		"name(required: type, optional?: type) → answer, and a line of description. " +
		"Search in the words of the API, in English if its document is; separate several wishes with semicolons."
	named, enum := nameAPIs(apis)
	return catalog.NewTool(catalog.Definition{
		Name: Search, Title: "Search tools",
		Description: description + named,
		Input: []byte(`{"type":"object","properties":{` +
			`"query":{"type":"string","description":"What to do, in a few words, such as: list open pull requests"},` +
			`"limit":{"type":"integer","description":"1 to 20, 8 by default"},` +
			`"api":{"type":"string",` + enum + `"description":"Only tools of this API"},` +
			`"tag":{"type":"string","description":"Only tools with this tag"},` +
			`"read_only":{"type":"boolean","description":"Only tools that change nothing"}},"required":["query"]}`),
		Annotations: catalog.Annotations{ReadOnly: true, Idempotent: true},
	})
}

// nameAPIs returns a sentence with the APIs, and the member of a schema with their names. If they are too many, the
// sentence says how to list them.
func nameAPIs(apis []API) (sentence, enum string) {
	if len(apis) == 0 {
		return "", ""
	}
	texts, names := make([]string, len(apis)), []byte(`"enum":[`)
	for i, api := range apis {
		texts[i] = api.String()
		if i > 0 {
			names = append(names, ',')
		}
		names = jsonscan.AppendString(names, api.Name)
	}
	sentence, enum = " The APIs: "+strings.Join(texts, ", ")+".", string(names)+"],"
	if len(apis) > maxAPIs || tokenizer.Count([]byte(sentence+enum)) > maxAPITokens {
		return " An empty query lists the APIs.", ""
	}
	return sentence, enum
}

// withoutParentheses keeps a title in the parentheses in which it stands, so that it can't pass for words of the gateway.
var withoutParentheses = strings.NewReplacer("(", "", ")", "", "（", "", "）", "")

// String returns the name of the API, with its title if that says more.
func (a API) String() string {
	name := oneLine(a.Name)
	title := oneLine(withoutParentheses.Replace(a.Title))
	if title == "" || strings.EqualFold(title, name) {
		return name
	}
	return name + " (" + title + ")"
}

// oneLine returns an untrusted text as a few words on one line.
func oneLine(raw string) string {
	return text.TruncateRunes(strings.Join(strings.Fields(openapi.Clean(raw)), " "), maxAPITitle)
}

// Listed returns the tools of a list in search mode for a caller that may call tools of these APIs: those of this package,
// then the pinned ones.
func Listed(apis []API, pinned []*catalog.Tool) []*catalog.Tool {
	return slices.Concat([]*catalog.Tool{searchTool(apis)}, definitions[1:], pinned)
}

// APIsOf returns the APIs of those tools that may lets pass, by name. titles has the titles of documents by the names of
// the APIs.
func APIsOf(tools []*catalog.Tool, may func(*catalog.Tool) bool, titles map[string]string) []API {
	var apis []API
	seen := map[string]bool{}
	for _, t := range tools {
		if t.API != "" && !seen[t.API] && may(t) {
			seen[t.API] = true
			apis = append(apis, API{t.API, titles[t.API]})
		}
	}
	slices.SortFunc(apis, func(a, b API) int { return strings.Compare(a.Name, b.Name) })
	return apis
}

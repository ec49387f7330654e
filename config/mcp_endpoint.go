package config

import "strings"

// MCPEndpoint is a part of the tools under a URL of its own.
type MCPEndpoint struct {
	// The name in the URL, public_url + /mcp/NAME, which is the endpoint's resource identifier: letters, digits, _ and
	// -, at most 40.
	Name string `yaml:"name" required:"true" is:"api-name" access:"joint: entry"`
	// The operations that are its tools. They have the same names as on /mcp.
	Match Selectors `yaml:"match,omitempty" absent:"those of the API that has the endpoint's name" access:"any" empty:"leave it out, or select something"`
	// The tools in tools/list of the endpoint, as tools.presentation for /mcp.
	Presentation Presentation `yaml:"presentation,omitempty" absent:"tools.presentation" access:"none: the form of lists"`
	// The size of the list, in tokens, above which auto switches to search.
	ListBudget TokenCount `yaml:"list_budget,omitempty" min:"1k" max:"10000k" absent:"tools.list_budget" access:"none: the form of lists"`
	// The number of tools above which auto switches to search; 0 means no limit.
	ListLimit *int `yaml:"list_limit,omitempty" min:"0" max:"100000" absent:"tools.list_limit" access:"none: the form of lists"`
	// Tools of the endpoint that are listed with search, too.
	Pinned Selectors `yaml:"pinned,omitempty" absent:"tools.pinned" access:"none: the form of lists" empty:"leave it out, or select something"`
	// The name that clients show, at most 200 bytes.
	Title string `yaml:"title,omitempty" absent:"Drawbridge" access:"none: words for models and users" length:"200"`
	// The endpoint's identity for clients. Missing keys come from server.info.
	Info *Info `yaml:"info,omitempty" absent:"that of server.info, with title" access:"none: words for models and users" empty:"leave it out"`
	// Instructions for models, at most 4096 bytes.
	Instructions string `yaml:"instructions,omitempty" absent:"none" access:"none: words for models and users" length:"4096"`
	// The scopes that a call requires if no rule sets scopes for its operation.
	DefaultScopes []string `yaml:"default_scopes,omitempty" absent:"auth.default_scopes" access:"scopes" is:"scope" unique:"%q is listed twice" empty:"leave it out" issuers:"warn"`
	// The profile to which schemas are at least reduced, whatever schema_profile their APIs have.
	SchemaProfile SchemaProfile `yaml:"schema_profile,omitempty" absent:"that of each API" access:"none: the form of lists"`
}

// Has reports whether the operation is a tool of the endpoint.
func (e *MCPEndpoint) Has(s Subject) bool {
	if len(e.Match) == 0 {
		return strings.EqualFold(s.API, e.Name)
	}
	return e.Match.Match(s)
}

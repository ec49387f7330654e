package config

import "cmp"

// ReservedToolNames returns the names of the gateway's own tools: those that stand for all others in [PresentationSearch], and those for
// files. No tool of an API has one of them, whatever is listed.
func (c *Config) ReservedToolNames() []string {
	names := []string{"search_tools", "describe_tools", "read_tool", "call_tool"}
	if c.FileStore != nil {
		names = append(names, "read_file", "upload_file")
	}
	return names
}

// List decides which tools of an endpoint its list shows.
type List struct {
	Presentation Presentation
	Budget       int // in tokens
	Limit        int // of tools; 0: none
	Pinned       Selectors
}

// List returns what the list of /mcp shows.
func (c *Config) List() List {
	return List{Presentation: c.Tools.Presentation, Budget: int(c.Tools.ListBudget), Limit: c.Tools.ListLimit, Pinned: c.Tools.Pinned}
}

// ListOf returns what the list of an endpoint shows.
func (c *Config) ListOf(e *MCPEndpoint) List {
	list := List{
		Presentation: cmp.Or(e.Presentation, c.Tools.Presentation), Budget: int(cmp.Or(e.ListBudget, c.Tools.ListBudget)), Limit: c.Tools.ListLimit, Pinned: e.Pinned,
	}
	if e.ListLimit != nil {
		list.Limit = *e.ListLimit
	}
	if len(list.Pinned) == 0 {
		list.Pinned = c.Tools.Pinned
	}
	return list
}

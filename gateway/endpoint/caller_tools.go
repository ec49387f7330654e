package endpoint

import (
	"cmp"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/toolsearch"
)

// scope returns the tools that a caller can find: those that it may call, limited to those that it has chosen by the query of its URL.
func (e *Endpoint) scope(c *choice, caller *auth.Principal) *toolsearch.Scope {
	may, found := e.mayCall(caller), e.Presentation.finder
	return &toolsearch.Scope{
		Tools: e.catalog.All(), Index: found.Index, Find: found.Find,
		Views: e.searched, Granted: e.granted(caller), Shown: may,
		Allowed: func(t *catalog.Tool) bool { return c.has(t) && may(t) },
	}
}

// granted returns the permissions of a caller by its scopes; the zero View if every caller may call all tools.
func (e *Endpoint) granted(caller *auth.Principal) auth.View {
	if e.callable == nil {
		return auth.View{}
	}
	return e.callable().views.Of(caller)
}

// mayCall returns the function that reports whether the caller may call a tool, by its scopes.
func (e *Endpoint) mayCall(caller *auth.Principal) func(*catalog.Tool) bool {
	var granted auth.View
	var callable *visibility
	if e.callable != nil {
		callable = e.callable()
		granted = callable.views.Of(caller)
	}
	return func(t *catalog.Tool) bool {
		return e.Tool(t.Name) != nil && (callable == nil || callable.has(granted, t))
	}
}

// connect returns the instructions for a client that connects. own are the instructions of the configuration.
func (e *Endpoint) connect(req *mcp.Request, own string, caller *auth.Principal) (string, error) {
	c, err := e.choose(req.Query(), caller)
	if err != nil {
		return "", err
	}
	if !e.searches(c) {
		return own, nil
	}
	return e.scope(c, caller).Instructions(own), nil
}

// choose returns the tools and presentation that a client has chosen by the query of its URL. The error is an HTTP 400.
func (e *Endpoint) choose(query string, caller *auth.Principal) (*choice, error) {
	c, err := parseChoice(query)
	if c == nil || err != nil {
		return nil, err
	}
	return c, c.check(e.catalog.All(), e.listed(caller))
}

// listed returns the function that reports whether a complete list shows a tool to a caller.
func (e *Endpoint) listed(caller *auth.Principal) func(*catalog.Tool) bool {
	if e.visible != nil {
		return e.mayCall(caller)
	}
	return func(t *catalog.Tool) bool { return e.Tool(t.Name) != nil }
}

// searches reports whether the list for a client has the built-in tools instead of all tools. A client that has chosen few tools, and no
// presentation, gets them all.
func (e *Endpoint) searches(c *choice) bool {
	p := e.Presentation
	if c == nil {
		return p.Search
	}
	switch cmp.Or(c.presentation, p.list.Presentation) {
	case config.PresentationAll:
		return false
	case config.PresentationSearch:
		return true
	case config.PresentationAuto:
	}
	if len(c.filters) == 0 && p.list.Presentation == config.PresentationAuto {
		return p.Search
	}
	var chosen []*catalog.Tool
	for _, t := range p.tools {
		if c.has(t) {
			chosen = append(chosen, t)
		}
	}
	return exceeds(chosen, p.list.Budget)
}

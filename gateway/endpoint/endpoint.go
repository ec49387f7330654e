package endpoint

import (
	"net/http"
	"sync"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/admission"
	"drawbridge/gateway/call"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/embedding"
	"drawbridge/gateway/filestore"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/prompt"
	"drawbridge/gateway/resource"
	"drawbridge/gateway/skill"
	"drawbridge/gateway/toolsearch"
	"drawbridge/openapi"
)

// Endpoint is the set of tools, resources, prompts and skills served under one URL: all of them, or those that the configuration
// selects. It is immutable except for the pages of its lists, which are built when the first client of a revision requests them.
type Endpoint struct {
	*prompt.View
	mainGuard *auth.Guard  // of the main endpoint, from which guard is derived; nil if no token is required
	entry     http.Handler // the guard, then the MCP handler
	// alternates are the endpoint under each of the other public URLs, with the guard for that; nil if no token is required.
	alternates []*Endpoint
	rates      admission.RequestRateLimits
	catalog    *catalog.Catalog // may have more tools than the endpoint
	visible    *visibility      // nil if every caller sees all tools
	// callable determines the tools that a caller may call, whether or not it sees the others; nil if every caller may call
	// all.
	callable func() *visibility
	// Presentation says what the list of tools shows.
	Presentation *Presentation
	profile      openapi.Profile // the minimum profile that schemas are reduced to
	pageSize     int             // definitions on a page of a list; 0 if lists are not paged
	maxDepth     int             // nesting depth of messages (limits.max_depth)
	// promptScopes holds the scopes that prompts need, in their order, to find those a caller has been granted; nil if every
	// caller sees all prompts.
	promptScopes *auth.Views
	skillScopes  *auth.Views // the same for skills
	PageCache    *pageCache
	Files        *filestore.Store // of callers; nil if none are kept
	// uploadURLs reports that models get URLs to which a file is sent without a token.
	uploadURLs bool
	publicURL  string // of the gateway; "" if it is not known
	searched   *toolsearch.Views
}

// Options are the parameters of [New].
type Options struct {
	Config    *config.Config
	MainGuard *auth.Guard
	Handler   http.Handler // serves the requests that the guard admits; it outlives the endpoint
	Rates     admission.RequestRateLimits
	Catalog   *catalog.Catalog
	Resources *plan.Resources
	Prompts   []*prompt.Prompt
	Skills    *skill.Set
	Links     *mcp.SealedHandles
	Files     *filestore.Store
	Profile   openapi.Profile
	// List says what the list of tools shows, Pinned which tools it shows in any case, and Finder finds the others.
	List   config.List
	Pinned func(*catalog.Tool) bool
	Finder *embedding.Finder
	// Titles has the titles of documents by the names of their APIs, for clients that search.
	Titles map[string]string
	// Before is the endpoint of that name that was served until now; nil if it is new.
	Before *Endpoint
}

// New returns the endpoint whose calls see e. With a nil guard no token is required.
func New(e *call.Endpoint, o Options) *Endpoint {
	c := o.Config
	full := &Endpoint{
		View: &prompt.View{View: &resource.View{Endpoint: e, Resources: o.Resources, Skills: o.Skills, Links: o.Links}, Prompts: o.Prompts}, mainGuard: o.MainGuard, entry: o.Handler, rates: o.Rates,
		catalog: o.Catalog, profile: o.Profile, pageSize: c.Server.PageSize, maxDepth: c.Limits.MaxDepth, PageCache: newPageCache(), Files: o.Files, searched: &toolsearch.Views{},
		uploadURLs: c.FileStore != nil && c.FileStore.CapabilityURLs,
	}
	if urls := c.PublicURLs(); len(urls) > 0 {
		full.publicURL = urls[0]
	}
	var before *Presentation
	if o.Before != nil {
		before = o.Before.Presentation
	}
	full.Presentation = newPresentation(o.List, full.tools(), o.Pinned, o.Finder, o.Titles, before)
	e.Searches = full.Presentation.Search
	if e.Guard == nil {
		return full
	}
	full.entry = e.Guard.Protect(o.Handler)
	full.callable = sync.OnceValue(func() *visibility { return newVisibility(e.Guard, o.Catalog, e.Tools) })
	if e.HideUnauthorized {
		full.visible = full.callable()
		full.promptScopes, full.skillScopes = e.Guard.Views(call.ScopeSets(o.Prompts)), e.Guard.Views(call.ScopeSets(o.Skills.All))
	}
	for n := 1; n < len(c.PublicURLs()); n++ {
		full.alternates = append(full.alternates, full.withGuard(e.Guard.Alternate(n), o.Handler))
	}
	return full
}

// withGuard returns the endpoint under another public URL, whose guard differs from its own in whom it names to clients.
func (e *Endpoint) withGuard(guard *auth.Guard, handler http.Handler) *Endpoint {
	own, view, resources, calls := *e, *e.View, *e.View.View, *e.Endpoint
	calls.Guard = guard
	resources.Endpoint = &calls
	view.View = &resources
	own.View, own.entry, own.alternates = &view, guard.Protect(handler), nil
	return &own
}

// under returns the endpoint as it is reached by the public URL with index n.
func (e *Endpoint) under(n int) *Endpoint {
	if e == nil || n == 0 || len(e.alternates) == 0 {
		return e
	}
	return e.alternates[n-1]
}

// tools returns the tools of the endpoint by name.
func (e *Endpoint) tools() []*catalog.Tool {
	var all []*catalog.Tool
	for _, t := range e.catalog.All() {
		if e.Tool(t.Name) != nil {
			all = append(all, t)
		}
	}
	return all
}

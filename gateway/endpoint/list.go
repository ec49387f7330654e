package endpoint

import (
	"bytes"
	"context"
	"slices"
	"time"

	"drawbridge/auth"
	"drawbridge/gateway/call"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/filetool"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/toolsearch"
	"drawbridge/openapi/jsonscan"
)

// listCaching is the time for which a client of the stateless family may cache a list. The list depends on the caller, so it is
// private (mcp-R4).
var listCaching = mcp.Cache{TTL: time.Minute, Scope: mcp.Private}

// features returns the features of tool definitions at the endpoint that a client of a revision supports.
func (e *Endpoint) features(revision string) catalog.Features {
	f := catalog.FeaturesOf(revision)
	f.Profile = e.profile
	return f
}

// listKind is a list that clients can request.
type listKind uint8

const (
	// Tools is the list of tools; its pages depend on the features of the client's revision.
	Tools listKind = iota
	resourcesKind
	templatesKind // of resources
	promptsKind
	skillsKind
)

// member returns the name of the list's member in its result.
func (k listKind) member() string {
	return [...]string{"tools", "resources", "resourceTemplates", "prompts", "skills"}[k]
}

// List returns the list for a caller, which is nil without a guard, by what it has chosen. A list that was chosen is not
// kept.
func (e *Endpoint) List(kind listKind, f catalog.Features, caller *auth.Principal, c *choice) *view {
	key := e.viewKey(kind, f, caller, c)
	if key.query != "" {
		return e.build(kind, key, c)
	}
	return e.PageCache.get(key, func() *view { return e.build(kind, key, c) })
}

// digest returns the digest of the list that List returns.
func (e *Endpoint) digest(kind listKind, f catalog.Features, caller *auth.Principal, c *choice) [32]byte {
	if key := e.viewKey(kind, f, caller, c); key.query != "" {
		return e.PageCache.digest(key, func() *view { return e.build(kind, key, c) })
	}
	return e.List(kind, f, caller, c).digest()
}

// viewKey returns the key of a list.
func (e *Endpoint) viewKey(kind listKind, f catalog.Features, caller *auth.Principal, c *choice) viewKey {
	if kind != Tools { // other lists depend on nothing else
		f, c = catalog.Features{Title: f.Title}, nil
	}
	key := viewKey{list: kind.member(), features: f}
	if c != nil {
		key.query = c.query
	}
	switch {
	case kind == Tools && e.callable != nil && (c != nil || e.Presentation.Search):
		key.visible = e.granted(caller) // search_tools names the APIs that the caller may call
	case e.visible == nil:
	case kind == promptsKind:
		key.visible = e.promptScopes.Of(caller)
	case kind == skillsKind:
		key.skills = e.skillScopes.Of(caller)
	case kind == resourcesKind:
		key.visible, key.skills = e.visible.views.Of(caller), e.skillScopes.Of(caller)
	default:
		key.visible = e.visible.views.Of(caller)
	}
	return key
}

// build builds the list of a key.
func (e *Endpoint) build(kind listKind, key viewKey, c *choice) *view {
	return newView(kind.member(), e.listPages(kind, key, c))
}

// listPages returns a list, as JSON arrays of definitions, for callers with the permissions of a key that have chosen c.
func (e *Endpoint) listPages(kind listKind, key viewKey, c *choice) [][]byte {
	f, granted := key.features, key.visible
	visible := func(t *catalog.Tool) bool {
		return e.Tools[t.Name] != nil && (e.visible == nil || e.visible.has(granted, t)) && c.has(t)
	}
	var definitions [][]byte
	switch kind {
	case Tools:
		var own []*catalog.Tool
		if e.Files != nil {
			own = filetool.Definitions()
		}
		if e.searches(c) {
			return e.searchPages(f, granted, c, visible, own)
		}
		return e.catalog.Pages(f, e.pageSize, visible, own...)
	case resourcesKind, templatesKind:
		definitions = e.Resources.Definitions(kind == templatesKind, f.Title, visible)
	case promptsKind:
		for _, p := range call.Visible(e.Prompts, func(set int) bool { return e.promptScopes == nil || granted.Has(set) }) {
			definitions = append(definitions, p.AppendDefinition(nil, f.Title))
		}
	case skillsKind:
	}
	if kind == resourcesKind || kind == skillsKind {
		for _, s := range call.Visible(e.Skills.All, func(set int) bool { return e.skillScopes == nil || key.skills.Has(set) }) {
			if kind == skillsKind {
				definitions = append(definitions, s.Entry)
			} else {
				definitions = append(definitions, s.Definition)
			}
		}
	}
	return pagesOf(definitions, e.pageSize)
}

// pagesOf returns JSON arrays of at most size definitions; 0 means one array. There is always one.
func pagesOf(definitions [][]byte, size int) (pages [][]byte) {
	if size <= 0 {
		size = max(len(definitions), 1)
	}
	for page := range slices.Chunk(definitions, size) {
		pages = append(pages, slices.Concat([]byte{'['}, bytes.Join(page, []byte{','}), []byte{']'}))
	}
	if len(pages) == 0 {
		return [][]byte{[]byte("[]")}
	}
	return pages
}

// searchPages returns the list with the tools of package toolsearch, which name the APIs that callers with the permissions
// granted may call, of those that the client has chosen, own, and the pinned tools that are visible.
func (e *Endpoint) searchPages(f catalog.Features, granted auth.View, c *choice, visible func(*catalog.Tool) bool, own []*catalog.Tool) [][]byte {
	pinned := own
	for _, t := range e.Presentation.pinned {
		if visible(t) {
			pinned = append(pinned, t)
		}
	}
	may := func(t *catalog.Tool) bool { return c.has(t) && (e.callable == nil || e.callable().has(granted, t)) }
	apis := toolsearch.APIsOf(e.Presentation.tools, may, e.Presentation.titles)
	return catalog.PagesOf(toolsearch.Listed(apis, pinned), f, e.pageSize)
}

// lists responds to the methods that list definitions.
type lists struct{ cursors *Cursors }

// method returns the method that responds with a list.
func (l *lists) method(kind listKind) mcp.Method {
	return func(ctx context.Context, req *mcp.Request, reply *mcp.Reply) error {
		return l.serve(From(ctx), kind, auth.FromContext(ctx), req, reply)
	}
}

// serve responds with a page of a list that is already serialized and compressed.
func (l *lists) serve(e *Endpoint, kind listKind, caller *auth.Principal, req *mcp.Request, reply *mcp.Reply) error {
	var c *choice
	if kind == Tools {
		var err error
		if c, err = e.choose(req.Query(), caller); err != nil {
			return err
		}
	}
	view := e.List(kind, e.features(req.Revision), caller, c)
	page := 0
	if req.Cursor != "" {
		var err error
		if page, err = l.cursors.open(req.Cursor, req.Principal, view.digest()); err != nil || page >= len(view.Pages) {
			return mcp.InvalidParams("params.cursor is not valid here: it has expired, or the list has changed; begin again without a cursor")
		}
	}
	reply.Cache(listCaching)
	if len(view.Pages) == 1 && c == nil {
		return reply.Precompressed(view.static())
	}
	chunks := []mcp.Chunk{{Bytes: []byte(`"` + kind.member() + `":`)}, {Bytes: view.Pages[page]}}
	if page+1 < len(view.Pages) {
		next := l.cursors.seal(page+1, req.Principal, view.digest())
		chunks = append(chunks, mcp.Chunk{Bytes: jsonscan.AppendString([]byte(`,"nextCursor":`), next)})
	}
	return reply.Result(chunks...)
}

// listVersion returns the version of a list as a subscriber of the endpoint sees it: streams notify their clients when it
// changes. query is that of the URL that the subscriber has connected to; one that matches nothing any more has no list.
func (e *Endpoint) listVersion(list mcp.List, revision, query string, caller *auth.Principal) string {
	var kinds []listKind
	switch list {
	case mcp.ToolsList:
		kinds = []listKind{Tools}
	case mcp.ResourcesList: // templates and skills have no notification of their own
		kinds = []listKind{resourcesKind, templatesKind, skillsKind}
	case mcp.PromptsList:
		kinds = []listKind{promptsKind}
	}
	var c *choice
	if list == mcp.ToolsList {
		var err error
		if c, err = e.choose(query, caller); err != nil {
			return ""
		}
	}
	var version []byte
	for _, kind := range kinds {
		digest := e.digest(kind, e.features(revision), caller, c)
		version = append(version, digest[:]...)
	}
	return string(version)
}

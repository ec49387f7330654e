package gateway

import (
	"context"
	"time"

	"drawbridge/auth"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/mcp"
	"drawbridge/openapi/jsonscan"
)

// listCache is how long a modern client may use a list without asking again. The list depends on who asks, so it
// is private (mcp-R4).
var listCache = mcp.Cache{TTL: time.Minute, Scope: mcp.Private}

// features tells what a client of a revision sees of the endpoint's tools.
func (e *endpoint) features(revision string) catalog.Features {
	f := features(revision)
	f.Profile = e.profile
	return f
}

// features tells what a protocol revision knows of a tool's definition.
func features(revision string) catalog.Features {
	return catalog.Features{
		Annotations:  revision >= "2025-03-26",
		Title:        revision >= "2025-06-18",
		OutputSchema: revision >= "2025-06-18",
		ParamHeaders: revision >= "2026-07-28",
	}
}

// listKind is a list that clients ask for.
type listKind uint8

const (
	toolsKind listKind = iota
	resourcesKind
	templatesKind // of resources
	promptsKind
)

// member is the name of the list in its result.
func (k listKind) member() string {
	return [...]string{"tools", "resources", "resourceTemplates", "prompts"}[k]
}

// list returns the method that answers with a list.
func (g *Gateway) list(kind listKind) mcp.Method {
	return func(ctx context.Context, req *mcp.Request, reply *mcp.Reply) error {
		return g.answerList(ctx, kind, req, reply)
	}
}

// answerList answers from bytes that were serialized, and compressed, before.
func (g *Gateway) answerList(ctx context.Context, kind listKind, req *mcp.Request, reply *mcp.Reply) error {
	e := endpointFrom(ctx)
	view := e.view(kind, e.features(req.Revision), auth.FromContext(ctx))
	page := 0
	if req.Cursor != "" {
		var err error
		if page, err = g.cursors.open(req.Cursor, req.Principal, view.digest()); err != nil || page >= len(view.pages) {
			return mcp.InvalidParams("params.cursor is not valid here: it has expired, or the list has changed; begin again without a cursor")
		}
	}
	reply.Cache(listCache)
	if len(view.pages) == 1 {
		return reply.Precompressed(view.static())
	}
	chunks := []mcp.Chunk{{Bytes: []byte(`"` + kind.member() + `":`)}, {Bytes: view.pages[page]}}
	if page+1 < len(view.pages) {
		next := g.cursors.seal(page+1, req.Principal, view.digest())
		chunks = append(chunks, mcp.Chunk{Bytes: jsonscan.AppendString([]byte(`,"nextCursor":`), next)})
	}
	return reply.Result(chunks...)
}

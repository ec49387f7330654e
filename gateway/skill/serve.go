package skill

import (
	"context"
	"time"

	"drawbridge/auth"
	"drawbridge/gateway/call"
	"drawbridge/gateway/mcp"
	"drawbridge/openapi/text"
)

// caching is the time for which a client of the stateless family may cache an entry or a file. Both depend on the caller's scopes.
var caching = mcp.Cache{TTL: time.Minute, Scope: mcp.Private}

// maxShownURI is the maximum length in bytes of a URI in an error.
const maxShownURI = 1 << 10

// Server serves entries and files of skills.
type Server struct {
	// Refuse records that a skill is refused for a scope, and returns the error, which may be that there is no such skill.
	Refuse func(ctx context.Context, req *mcp.Request, denied *mcp.Error) error
}

// Get answers skills/get.
func (s Server) Get(ctx context.Context, e *call.Endpoint, skills *Set, req *mcp.Request, reply *mcp.Reply) error {
	unknown := mcp.InvalidParams("no skill is served at %q: skills/list has the skills of this server, by the URIs of their SKILL.md", text.Truncate(req.URI, maxShownURI))
	found := skills.Find(req.URI)
	if found == nil {
		return unknown
	}
	return s.serve(ctx, e, found, unknown, req, reply, func() []mcp.Chunk { return []mcp.Chunk{{Bytes: []byte(`"skill":`)}, {Bytes: found.Entry}} })
}

// Read answers resources/read for a file of a skill.
func (s Server) Read(ctx context.Context, e *call.Endpoint, f *File, req *mcp.Request, reply *mcp.Reply) error {
	return s.serve(ctx, e, f.Skill, mcp.ResourceNotFound(req.Family, text.Truncate(req.URI, maxShownURI)), req, reply, f.contents)
}

// serve answers a request for something of a skill. unknown is the error that there is nothing.
func (s Server) serve(ctx context.Context, e *call.Endpoint, of *Skill, unknown *mcp.Error, req *mcp.Request, reply *mcp.Reply, result func() []mcp.Chunk) error {
	caller := auth.FromContext(ctx)
	switch {
	case e.Guard == nil || e.Grants(caller, of.Needs()):
		reply.Cache(caching)
		return reply.Result(result()...)
	case e.HideUnauthorized:
		return s.Refuse(ctx, req, unknown)
	}
	return s.Refuse(ctx, req, e.Forbid(caller, of.Needs(), "skill"))
}

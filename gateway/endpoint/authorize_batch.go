package endpoint

import (
	"context"

	"drawbridge/auth"
	"drawbridge/gateway/call"
	"drawbridge/gateway/deliver"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/toolsearch"
)

// BatchAuthorizer authorizes the requests of a batch as a whole.
type BatchAuthorizer struct {
	Calls   *call.Runner
	Denials *Denials
}

// Authorize returns an error unless the caller may make every request of a batch, before any of it is executed
// (Z3). The challenge names the scopes that all of them need, so that the client can send the whole batch again. If
// unauthorized tools are hidden, each request is answered by itself, since a tool that may not be called does not
// exist.
func (b *BatchAuthorizer) Authorize(ctx context.Context, requests []*mcp.Request) error {
	e := From(ctx)
	if e.Guard == nil || e.HideUnauthorized {
		return nil
	}
	caller := auth.FromContext(ctx)
	var sets [][]string
	var denied *mcp.Error
	for _, req := range requests {
		if needs, kind := e.needsOf(req); needs != nil {
			if !e.Grants(caller, needs) {
				denied = e.Forbid(caller, needs, kind)
				_ = b.Denials.Scope(ctx, req, denied)
			}
			asked, ok := needs.Challenge(caller)
			if !ok {
				return denied
			}
			sets = append(sets, asked...)
			continue
		}
		t := e.ToolOf(req)
		if t == nil {
			continue
		}
		if fault := e.Endpoint.Authorize(caller, t); fault != nil {
			inv := deliver.Invocation(ctx, e.Endpoint, t, req, nil)
			if toolsearch.CallsTool(req.Name) {
				inv.Via = req.Name
			}
			b.Calls.RecordDenied(ctx, &inv, telemetry.OutcomeScope)
			denied = fault
		}
		needs, needed := t.Scopes()
		switch {
		case !needed:
			continue
		case len(needs) == 0:
			return denied // no token suffices
		}
		sets = append(sets, call.NearestScopes(caller, needs))
	}
	if denied == nil {
		return nil
	}
	denied.Message = "insufficient scope for a request of this batch; none of them was executed"
	denied.Header, _ = e.Guard.ForbiddenAll(caller, sets)
	return denied
}

// needsOf returns the scopes that the prompt or the skill of a request needs, and which of them it is; nil if the request uses neither.
func (e *Endpoint) needsOf(req *mcp.Request) (needs call.Needs, kind string) {
	switch req.Method {
	case "skills/get", "resources/read", "resources/subscribe":
		if f := e.Skills.File(req.URI); f != nil {
			return f.Skill.Needs(), "skill"
		}
		return nil, ""
	}
	if p, needs := e.Of(req); p != nil {
		return needs, "prompt"
	}
	return nil, ""
}

package call

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"drawbridge/auth"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/openapi/text"
)

// Allows reports whether the caller's scopes suffice for a tool of an endpoint with a guard.
func (e *Endpoint) Allows(caller *auth.Principal, p *plan.Plan) bool {
	for _, set := range p.Scopes {
		if e.Guard.Allows(caller, set) {
			return true
		}
	}
	return false
}

// Authorize returns an error if the caller may not call the tool of an endpoint with a guard, before anything of the
// call is executed (Z3). The error is an HTTP 403 with the challenge of RFC 6750 section 3.1, or, if unauthorized tools
// are hidden, that of a tool that does not exist (Z6).
func (e *Endpoint) Authorize(caller *auth.Principal, p *plan.Plan) *mcp.Error {
	if e.Allows(caller, p) {
		return nil
	}
	if e.HideUnauthorized {
		return e.unknownTool(caller, p.Tool.Name)
	}
	denied := &mcp.Error{Code: mcp.CodeInvalidRequest, Message: "insufficient scope for this tool", HTTPStatus: 403}
	if len(p.Scopes) == 0 {
		denied.Message = "no scope suffices for this tool: the operator must map those of its document"
		return denied
	}
	denied.Header, _ = e.Guard.Forbidden(caller, NearestScopes(caller, p.Scopes))
	return denied
}

// Authorize returns an error if the caller may not make the call at all, and records that.
func (c *Call) Authorize(ctx context.Context) error {
	if c.Endpoint.Guard == nil {
		return nil
	}
	if denied := c.Endpoint.Authorize(c.Caller, c.Plan); denied != nil {
		c.r.RecordScopeDenied(ctx, c.Endpoint, c.Plan, c.Caller, c.Request)
		return denied
	}
	return nil
}

// NearestScopes returns the set of which the caller lacks the fewest scopes, so that it needs to request the least.
func NearestScopes(caller *auth.Principal, sets [][]string) []string {
	if len(sets) == 1 || caller == nil {
		return sets[0]
	}
	return slices.MinFunc(sets, func(a, b []string) int { return lacks(caller, a) - lacks(caller, b) })
}

// lacks returns the number of scopes that the caller has not been granted.
func lacks(caller *auth.Principal, scopes []string) (n int) {
	for _, s := range scopes {
		if !slices.Contains(caller.Scopes, s) {
			n++
		}
	}
	return n
}

// NotPermitted is the text for the model. It discloses nothing of the condition, which is the operator's.
const NotPermitted = "The gateway's policy does not permit this call with these arguments. Nothing was sent. " +
	"The same call will be refused again; other arguments or another tool may be permitted, or the user may ask the operator."

// maxSuggestions is the maximum number of names suggested for an unknown one.
const maxSuggestions = 3

// unknownTool returns the error for the name of a tool that does not exist for the caller, with the names of those that the caller
// may have meant and may call.
func (e *Endpoint) unknownTool(caller *auth.Principal, name string) *mcp.Error {
	var names []string
	for _, p := range e.Plans {
		if !p.Tool.Hidden && (e.Guard == nil || e.Allows(caller, p)) {
			names = append(names, p.Tool.Name)
		}
	}
	slices.Sort(names)
	near := text.DidYouMean(text.NearestFew(name, names, maxSuggestions)...)
	unknown := "unknown tool " + strconv.Quote(text.Truncate(name, 128)) + cmp.Or(near, ":")
	if e.Searches {
		return mcp.InvalidParams("%s search_tools finds the tools of this server", unknown)
	}
	return mcp.InvalidParams("%s tools/list has the tools of this server", unknown)
}

package call

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"drawbridge/auth"
	"drawbridge/auth/credential"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi/text"
)

// Allows reports whether the caller's scopes suffice for a tool of an endpoint with a guard.
func (e *Endpoint) Allows(caller *auth.Principal, t Tool) bool {
	sets, needed := t.Scopes()
	return !needed || slices.ContainsFunc(sets, func(set []string) bool { return e.Guard.Allows(caller, set) })
}

// Authorize returns an error if the caller may not call the tool of an endpoint with a guard, before anything of the
// call is executed (Z3). The error is an HTTP 403 with the challenge of RFC 6750 section 3.1, or, if unauthorized tools
// are hidden, that of a tool that does not exist (Z6).
func (e *Endpoint) Authorize(caller *auth.Principal, t Tool) *mcp.Error {
	if e.Allows(caller, t) {
		return nil
	}
	if e.HideUnauthorized {
		return e.UnknownTool(caller, t.Definition().Name)
	}
	denied := &mcp.Error{Code: mcp.CodeInvalidRequest, Message: "insufficient scope for this tool", HTTPStatus: 403}
	sets, _ := t.Scopes()
	if len(sets) == 0 {
		denied.Message = "no scope suffices for this tool: the operator must map those of its document"
		return denied
	}
	denied.Header, _ = e.Guard.Forbidden(caller, NearestScopes(caller, sets))
	return denied
}

// Authorize returns an error if the caller may not make a call at all, and records that.
func (r *Runner) Authorize(ctx context.Context, inv *Invocation) *mcp.Error {
	if inv.Endpoint.Guard == nil {
		return nil
	}
	denied := inv.Endpoint.Authorize(inv.Caller.Principal, inv.Tool)
	if denied != nil {
		r.RecordDenied(ctx, inv, telemetry.OutcomeScope)
	}
	return denied
}

// SubjectRefused returns the error for a caller whose token the authorization server does not exchange: HTTP 401 with
// the challenge for an invalid token, so that the client gets another one and calls again. A model could do nothing
// about it. It returns nil if the call failed for another reason.
func (e *Endpoint) SubjectRefused(caller *auth.Principal, f *Failure) *mcp.Error {
	var token *credential.TokenError
	if f.Outcome != telemetry.OutcomeSubjectRefused || e.Guard == nil || !errors.As(f.Cause, &token) {
		return nil
	}
	return &mcp.Error{
		Code: mcp.CodeInvalidRequest, Message: "the authorization server does not accept the access token: get another one",
		HTTPStatus: http.StatusUnauthorized, Header: e.Guard.InvalidToken(caller),
	}
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

// UnknownTool returns the error for the name of a tool that does not exist for the caller, with the names of those that the caller
// may have meant and may call.
func (e *Endpoint) UnknownTool(caller *auth.Principal, name string) *mcp.Error {
	var names []string
	for name, t := range e.Tools {
		if !t.Definition().Hidden && (e.Guard == nil || e.Allows(caller, t)) {
			names = append(names, name)
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

package call

import (
	"net/http"
	"slices"

	"drawbridge/auth"
	"drawbridge/gateway/mcp"
)

// Needs are the scopes that the caller of something needs: for each thing that it consists of, one of several sets.
type Needs [][][]string

// Grants reports whether the caller has been granted what is needed, at an endpoint with a guard.
func (e *Endpoint) Grants(caller *auth.Principal, needs Needs) bool {
	for _, sets := range needs {
		if !slices.ContainsFunc(sets, func(set []string) bool { return e.Guard.Allows(caller, set) }) {
			return false
		}
	}
	return true
}

// Forbid returns the error for a caller that lacks scopes for a prompt or a skill, as kind says. It names all scopes that are needed.
func (e *Endpoint) Forbid(caller *auth.Principal, needs Needs, kind string) *mcp.Error {
	denied := &mcp.Error{Code: mcp.CodeInvalidRequest, Message: "insufficient scope for this " + kind, HTTPStatus: http.StatusForbidden}
	sets, ok := needs.Challenge(caller)
	if !ok {
		denied.Message = "no scope suffices for what this " + kind + " calls: the operator must map those of its document"
		return denied
	}
	denied.Header, _ = e.Guard.ForbiddenAll(caller, sets)
	return denied
}

// Challenge returns the sets of scopes to request from the caller, or false if no scopes would help.
func (n Needs) Challenge(caller *auth.Principal) (sets [][]string, ok bool) {
	for _, alternatives := range n {
		if len(alternatives) == 0 {
			return nil, false
		}
		sets = append(sets, NearestScopes(caller, alternatives))
	}
	return sets, true
}

// Needing is a prompt or a skill.
type Needing interface{ Needs() Needs }

// ScopeSets returns the sets of scopes that prompts or skills need, in their order.
func ScopeSets[T Needing](all []T) (sets [][]string) {
	for _, one := range all {
		sets = append(sets, slices.Concat(one.Needs()...)...)
	}
	return sets
}

// Visible returns the prompts or skills for which one set of each need is granted, indexed as in [ScopeSets].
func Visible[T Needing](all []T, granted func(set int) bool) (visible []T) {
	set := 0
	for _, one := range all {
		permitted := true
		for _, sets := range one.Needs() {
			satisfied := false
			for range sets {
				satisfied = granted(set) || satisfied
				set++
			}
			permitted = permitted && satisfied
		}
		if permitted {
			visible = append(visible, one)
		}
	}
	return visible
}

package gateway

import (
	"slices"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/openapi"
)

// scopesOf returns what a caller of an operation must have been granted: one of several sets, where an empty set stands
// for the default scopes. No set at all can't be satisfied.
//
// A rule's scopes are the operator's last word. Without one a document that is trusted with it adds to the default scopes
// and takes nothing away: who writes documents must not open operations. An alternative without OAuth says how the service
// knows the gateway, and nothing of callers; it counts only where no other does.
func (s *source) scopesOf(op *openapi.Operation, set config.Settings, defaults []string) [][]string {
	if set.Scopes != nil || !s.config.ScopesFromDocument {
		return [][]string{set.Scopes}
	}
	var sets [][]string
	named := false
	for _, alternative := range op.Security {
		scopes, oauth, ok := s.documentScopes(alternative)
		named = named || oauth
		if !oauth || !ok {
			continue
		}
		for _, scope := range defaults {
			if !slices.Contains(scopes, scope) {
				scopes = append(scopes, scope)
			}
		}
		if !slices.ContainsFunc(sets, func(known []string) bool { return slices.Equal(known, scopes) }) {
			sets = append(sets, scopes)
		}
	}
	if !named {
		return [][]string{nil}
	}
	return sets
}

// documentScopes returns the scopes of one alternative as this gateway's issuers write them, and whether it has a scheme
// whose scopes callers can have: what stands with other types than oauth2 and openIdConnect are roles that no token
// speaks of (OAS 3.1 section 4.8.30). ok is false if a scope can't stand in a token, and nothing is mapped to it.
func (s *source) documentScopes(alternative openapi.Requirement) (scopes []string, oauth, ok bool) {
	for _, use := range alternative {
		declared := slices.IndexFunc(s.loaded.api.Schemes, func(sc openapi.Scheme) bool { return sc.Name == use.Scheme })
		if declared >= 0 {
			if typ := s.loaded.api.Schemes[declared].Type; typ != "oauth2" && typ != "openIdConnect" {
				continue
			}
		}
		oauth = true
		for _, scope := range use.Scopes {
			names, mapped := s.config.ScopeMap[scope]
			if !mapped {
				names = []string{scope}
			}
			for _, name := range names {
				if !auth.IsScope(name) {
					return nil, oauth, false
				}
				if !slices.Contains(scopes, name) {
					scopes = append(scopes, name)
				}
			}
		}
	}
	return scopes, oauth, true
}

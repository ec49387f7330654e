package source

import (
	"slices"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/openapi"
)

// Scopes returns the scope sets of an operation, of which a caller must have been granted one. An empty set stands
// for the default scopes; without any set nobody may call.
//
// A rule's scopes are the operator's final decision. Without one, a document that is trusted with scopes adds to the
// default scopes and removes none, because its author must not be able to open operations. An alternative without OAuth
// describes how the service authenticates the gateway, not callers; it counts only if no alternative has OAuth.
func (d *Document) Scopes(op *openapi.Operation, api *config.API, set config.Settings, defaults []string) [][]string {
	if set.Scopes != nil || !api.ScopesFromDocument {
		return [][]string{set.Scopes}
	}
	var sets [][]string
	named := false
	for _, alternative := range op.Security {
		scopes, oauth, ok := d.documentScopes(alternative, api.ScopeMap)
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

// documentScopes returns the scopes of one alternative as this gateway's issuers spell them, and whether it has a
// scheme whose scopes callers can have: the names listed for types other than oauth2 and openIdConnect are roles,
// which no token contains (OAS 3.1 section 4.8.30). ok is false if a scope is not valid in a token and has no mapping.
func (d *Document) documentScopes(alternative openapi.Requirement, mapping map[string][]string) (scopes []string, oauth, ok bool) {
	for _, use := range alternative {
		declared := slices.IndexFunc(d.API.Schemes, func(sc openapi.Scheme) bool { return sc.Name == use.Scheme })
		if declared >= 0 {
			if typ := d.API.Schemes[declared].Type; typ != "oauth2" && typ != "openIdConnect" {
				continue
			}
		}
		oauth = true
		for _, scope := range use.Scopes {
			names, mapped := mapping[scope]
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

package plan

import (
	"slices"

	"drawbridge/auth"
	"drawbridge/auth/credential"
	"drawbridge/gateway/account"
	"drawbridge/openapi"
)

// Account is the account that a caller needs at the service of an operation.
type Account struct {
	Service *account.Service
	// Scopes are those that the document requires for the operation.
	Scopes []string
}

// newAccount returns the account that an operation needs. choice is the credentials of the operation; nil for the default of the API.
func newAccount(s *account.Service, op *openapi.Operation, schemes []openapi.Scheme, choice *credential.Choice) *Account {
	a := &Account{Service: s}
	for _, requirement := range op.Security {
		if choice == nil || uses(requirement, choice.Schemes()) {
			if a.Scopes = oauthScopes(requirement, schemes); len(a.Scopes) > 0 {
				break
			}
		}
	}
	return a
}

// uses reports whether a requirement has all of these schemes.
func uses(requirement openapi.Requirement, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		return !slices.ContainsFunc(requirement, func(use openapi.SchemeUse) bool { return use.Scheme == name })
	})
}

// oauthScopes returns the scopes that a requirement names. Those of other types than oauth2 and openIdConnect are roles (OAS 3.1 section
// 4.8.30), which no authorization server knows.
func oauthScopes(requirement openapi.Requirement, schemes []openapi.Scheme) (scopes []string) {
	for _, use := range requirement {
		oauth := slices.ContainsFunc(schemes, func(sc openapi.Scheme) bool {
			return sc.Name == use.Scheme && (sc.Type == "oauth2" || sc.Type == "openIdConnect")
		})
		for _, scope := range use.Scopes {
			if oauth && auth.IsScope(scope) && !slices.Contains(scopes, scope) {
				scopes = append(scopes, scope)
			}
		}
	}
	return scopes
}

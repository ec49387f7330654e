package auth

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// Allows reports whether the principal has all the scopes, directly or by implication. If scopes is
// empty, the default scopes are required. A nil principal has no scopes.
func (g *Guard) Allows(p *Principal, scopes []string) bool {
	if p == nil {
		return false
	}
	if len(scopes) == 0 {
		scopes = g.defaultScopes
	}
	for _, s := range scopes {
		if !g.grants(p, s) {
			return false
		}
	}
	return true
}

func (g *Guard) grants(p *Principal, scope string) bool {
	for _, granted := range p.Scopes {
		if granted == scope || g.impliedScopes[granted][scope] {
			return true
		}
	}
	return false
}

// impliedScopes computes the transitive closure of implications; cycles are allowed.
func impliedScopes(implies map[string][]string) map[string]map[string]bool {
	all := make(map[string]map[string]bool, len(implies))
	for scope := range implies {
		reached := make(map[string]bool)
		queue := []string{scope}
		for len(queue) > 0 {
			next := implies[queue[0]]
			queue = queue[1:]
			for _, s := range next {
				if !reached[s] {
					reached[s] = true
					queue = append(queue, s)
				}
			}
		}
		all[scope] = reached
	}
	return all
}

// checkScopes checks configured scopes. They must not need quoting in challenges, and
// offline_access is not for a resource server to request (mcp-A4).
func checkScopes(defaults []string, implies map[string][]string) error {
	for _, s := range defaults {
		if !IsScope(s) {
			return fmt.Errorf("%q is not a scope", s)
		}
		if s == offlineAccess {
			return fmt.Errorf("scope %q is for clients to ask for, not for an operation to need", s)
		}
	}
	for s, list := range implies {
		for _, s := range append([]string{s}, list...) {
			if !IsScope(s) {
				return fmt.Errorf("%q is not a scope", s)
			}
		}
	}
	return nil
}

const offlineAccess = "offline_access"

// IsScope reports whether s is a scope-token (RFC 6749 section 3.3). Anything else can't be
// granted.
func IsScope(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return s != ""
}

// appendScopes appends the valid scopes of a list.
func appendScopes(scopes []string, list iter.Seq[string]) []string {
	for s := range list {
		if IsScope(s) {
			scopes = append(scopes, s)
		}
	}
	return scopes
}

// appendScopeClaim appends the scopes of a claim: a string separated by %x20 and no other space
// (RFC 6749 section 3.3), or a list of strings, each of which is one scope.
func appendScopeClaim(scopes []string, value []byte) ([]string, bool) {
	if s, ok := stringValue(value); ok {
		return appendScopes(scopes, strings.SplitSeq(s, " ")), true
	}
	list, ok := stringValues(value)
	return appendScopes(scopes, slices.Values(list)), ok
}

// readScopes reads the scopes of a payload from the first of the named claims (or JSON Pointers)
// that is present; none need be. It returns false if the claim does not hold scopes.
func readScopes(payload []byte, names []string) (scopes []string, ok bool) {
	for _, name := range names {
		if value := claimAt(payload, name); value != nil {
			return appendScopeClaim(nil, value)
		}
	}
	return nil, true
}

// claimAt returns the claim with that name, or the value that a JSON Pointer (RFC 6901) refers to
// through objects; nil if it is absent.
func claimAt(payload []byte, name string) []byte {
	pointer, ok := strings.CutPrefix(name, "/")
	if !ok {
		return jsonscan.Lookup(payload, name)
	}
	for token := range strings.SplitSeq(pointer, "/") {
		if jsonscan.KindOf(payload) != jsonscan.Object {
			return nil
		}
		payload = jsonscan.Lookup(payload, jsonscan.UnescapeToken(token))
	}
	return payload
}

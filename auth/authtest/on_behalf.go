package authtest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"drawbridge/auth/oauthserver"
)

// entraProblem is an error as Entra ID writes it: with the number of the cause, and a description
// that begins with it.
func entraProblem(code string, number int, text string) *oauthserver.Error {
	p := oauthserver.NewError(code, "AADSTS%d: %s", number, text)
	p.Numbers = []int{number}
	return p
}

// onBehalf is the on-behalf-of flow of Entra ID (RFC 7523 section 2.1 with "requested_token_use"):
// a client that got a user's access token presents it as an assertion, for a token for another
// service, which the scope names: api://orders/.default. The token has "scp" and no
// issued_token_type.
func (s *Server) onBehalf(q *tokenRequest) (*response, *oauthserver.Error) {
	if use := q.form.Get("requested_token_use"); use != "on_behalf_of" {
		return nil, entraProblem(oauthserver.InvalidRequest, 900144, "the request has no requested_token_use of on_behalf_of")
	}
	t, ok := s.issued.get(q.form.Get("assertion"), q.now)
	switch {
	case !ok || !t.active(q.now):
		return nil, entraProblem(oauthserver.InvalidGrant, 500133, "assertion is not within its valid time range")
	case claim(t.claims, "idtyp") == "app":
		return nil, entraProblem(oauthserver.InvalidGrant, 7000114, "applications make no on-behalf-of calls")
	case claim(t.claims, "aud") != s.resource:
		return nil, entraProblem(oauthserver.InvalidGrant, 500131, "the audience of the assertion is not the client that presents it")
	}
	scopes, p := oauthserver.ReadScopes(q.form.Get("scope"))
	if p != nil {
		return nil, p
	}
	var target string
	var names []string
	for _, scope := range scopes {
		i := strings.LastIndexByte(scope, '/')
		if i < 0 || target != "" && target != scope[:i] {
			return nil, entraProblem(oauthserver.InvalidScope, 70011, "the scopes don't name one service")
		}
		target = scope[:i]
		names = append(names, scope[i+1:])
	}
	if target == "" {
		return nil, entraProblem(oauthserver.InvalidScope, 70011, "the request has no scope")
	}
	if slices.Equal(names, []string{".default"}) {
		names = []string{"access_as_user"}
	}
	g := &grant{client: q.client, subject: claim(t.claims, "sub"), resource: target, parent: t.grant}
	access, err := s.mint(g, nil, q.now, s.accessLife, map[string]any{"scp": strings.Join(names, " "), "idtyp": "user", "azp": q.client.ID})
	if err != nil {
		return nil, oauthserver.NewError("server_error", "the token can't be made")
	}
	return &response{AccessToken: access, TokenType: "Bearer", ExpiresIn: int64(s.accessLife / time.Second), Scope: strings.Join(scopes, " ")}, nil
}

// resourceRefused is the answer of Entra ID to "resource" (RFC 8707), which it does not know beside scopes.
func resourceRefused(resource string) *oauthserver.Error {
	return entraProblem(oauthserver.InvalidTarget, 9010010, fmt.Sprintf("the resource parameter %s doesn't match with the requested scopes", resource))
}

package authtest

import (
	"slices"
	"strings"
	"time"

	"drawbridge/auth/oauthserver"
)

// Token type identifiers, RFC 8693 section 3.
const (
	typeAccess = "urn:ietf:params:oauth:token-type:access_token"
	typeJWT    = "urn:ietf:params:oauth:token-type:jwt"
)

// exchange is RFC 8693 section 2: a client exchanges a user's access token for one with another
// audience, in which it is the actor. The new token has no more scopes than the old one and the
// client have together, and no longer lifetime.
func (s *Server) exchange(q *tokenRequest) (*response, *oauthserver.Error) {
	subject, kind, wanted := q.form.Get("subject_token"), q.form.Get("subject_token_type"), q.form.Get("requested_token_type")
	switch {
	case subject == "":
		return nil, oauthserver.NewError(oauthserver.InvalidRequest, "no subject_token")
	case kind == "":
		return nil, oauthserver.NewError(oauthserver.InvalidRequest, "no subject_token_type")
	case kind != typeAccess && kind != typeJWT:
		return nil, oauthserver.NewError(oauthserver.InvalidRequest, "subject_token_type '%s' is not supported", kind)
	case wanted != "" && wanted != typeAccess && wanted != typeJWT:
		return nil, oauthserver.NewError(oauthserver.InvalidRequest, "requested_token_type '%s' is not supported", wanted)
	case wanted == typeJWT && s.opaque:
		return nil, oauthserver.NewError(oauthserver.InvalidRequest, "requested_token_type '%s' is not supported: tokens are opaque", wanted)
	case q.form.Get("actor_token") != "" || q.form.Get("actor_token_type") != "":
		return nil, oauthserver.NewError(oauthserver.InvalidRequest, "actor_token is not supported: the client is the actor")
	}
	t, ok := s.issued.get(subject, q.now)
	if !ok || !t.active(q.now) {
		return nil, oauthserver.NewError(oauthserver.InvalidRequest, "subject_token is unknown, has expired or was revoked") // section 2.2.2
	}
	target, p := s.exchangeTarget(q)
	if p != nil {
		return nil, p
	}
	had, _ := oauthserver.ReadScopes(claim(t.claims, "scope")) // written by this server
	scopes, p := oauthserver.ReadScopes(q.form.Get("scope"))
	if p != nil {
		return nil, p
	}
	if len(scopes) == 0 {
		scopes = had
	}
	if !subset(scopes, slices.Concat(had, q.client.Scopes)) {
		return nil, oauthserver.NewError(oauthserver.InvalidScope, "more scopes than subject_token and the client have")
	}
	g := &grant{client: q.client, subject: claim(t.claims, "sub"), resource: target, scopes: scopes, proofKey: q.proofKey, parent: t.grant}
	if t.grant != nil {
		g.since = t.grant.since
	}
	actor := map[string]any{"sub": q.client.ID}
	if before := t.claims["act"]; before != nil {
		actor["act"] = before // section 4.1
	}
	life := min(s.accessLife, t.until.Sub(q.now))
	access, err := s.mint(g, scopes, q.now, life, map[string]any{"act": actor})
	if err != nil {
		return nil, oauthserver.NewError("server_error", "the token can't be made")
	}
	a := &response{AccessToken: access, IssuedType: typeAccess, TokenType: "Bearer", ExpiresIn: int64(life / time.Second), Scope: strings.Join(scopes, " ")}
	if wanted == typeJWT {
		a.IssuedType = typeJWT
	}
	if g.proofKey != "" {
		a.TokenType = "DPoP"
	}
	return a, nil
}

// exchangeTarget returns the audience of the new token: a resource, or an audience by its logical
// name.
func (s *Server) exchangeTarget(q *tokenRequest) (string, *oauthserver.Error) {
	audiences, resources := q.form.All("audience"), q.form.All("resource")
	switch {
	case len(audiences)+len(resources) > 1:
		return "", oauthserver.NewError(oauthserver.InvalidTarget, "%d resources and audiences: a token is for one", len(audiences)+len(resources))
	case len(audiences) == 1 && len(s.resources) > 0 && !slices.Contains(s.resources, audiences[0]):
		return "", oauthserver.NewError(oauthserver.InvalidTarget, "audience '%s' is unknown", audiences[0])
	case len(audiences) == 1:
		return audiences[0], nil
	}
	return s.checkResource(resources)
}

// claim returns a string claim, or "".
func claim(claims map[string]any, name string) string {
	text, _ := claims[name].(string)
	return text
}

package authtest

import (
	"slices"
	"strings"
	"time"
)

// Token type identifiers, RFC 8693 section 3.
const (
	typeAccess = "urn:ietf:params:oauth:token-type:access_token"
	typeJWT    = "urn:ietf:params:oauth:token-type:jwt"
)

// exchange is RFC 8693 section 2: a client exchanges a user's access token for one with another
// audience, in which it is the actor. The new token has no more scopes than the old one and the
// client have together, and no longer lifetime.
func (s *Server) exchange(q *tokenRequest) (*response, *problem) {
	subject, kind, wanted := q.form.get("subject_token"), q.form.get("subject_token_type"), q.form.get("requested_token_type")
	switch {
	case subject == "":
		return nil, newProblem(invalidRequest, "no subject_token")
	case kind == "":
		return nil, newProblem(invalidRequest, "no subject_token_type")
	case kind != typeAccess && kind != typeJWT:
		return nil, newProblem(invalidRequest, "subject_token_type '%s' is not supported", kind)
	case wanted != "" && wanted != typeAccess && wanted != typeJWT:
		return nil, newProblem(invalidRequest, "requested_token_type '%s' is not supported", wanted)
	case wanted == typeJWT && s.opaque:
		return nil, newProblem(invalidRequest, "requested_token_type '%s' is not supported: tokens are opaque", wanted)
	case q.form.get("actor_token") != "" || q.form.get("actor_token_type") != "":
		return nil, newProblem(invalidRequest, "actor_token is not supported: the client is the actor")
	}
	t, ok := s.issued.get(subject, q.now)
	if !ok || !t.active(q.now) {
		return nil, newProblem(invalidRequest, "subject_token is unknown, has expired or was revoked") // section 2.2.2
	}
	target, p := s.exchangeTarget(q)
	if p != nil {
		return nil, p
	}
	had, _ := readScopes(claim(t.claims, "scope")) // written by this server
	scopes, p := readScopes(q.form.get("scope"))
	if p != nil {
		return nil, p
	}
	if len(scopes) == 0 {
		scopes = had
	}
	if !subset(scopes, slices.Concat(had, q.client.Scopes)) {
		return nil, newProblem(invalidScope, "more scopes than subject_token and the client have")
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
		return nil, newProblem("server_error", "the token can't be made")
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
func (s *Server) exchangeTarget(q *tokenRequest) (string, *problem) {
	audiences, resources := q.form.all("audience"), q.form.all("resource")
	switch {
	case len(audiences)+len(resources) > 1:
		return "", newProblem(invalidTarget, "%d resources and audiences: a token is for one", len(audiences)+len(resources))
	case len(audiences) == 1 && len(s.resources) > 0 && !slices.Contains(s.resources, audiences[0]):
		return "", newProblem(invalidTarget, "audience '%s' is unknown", audiences[0])
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

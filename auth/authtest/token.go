package authtest

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"
	"time"

	"drawbridge/auth/oauthserver"
)

// grant is the authorization of a client. Revoking it revokes all tokens issued for it.
type grant struct {
	client   *client
	subject  string
	resource string // the audience
	scopes   []string
	proofKey string    // DPoP key thumbprint; empty for bearer tokens
	nonce    string    // for the ID token
	since    time.Time // time of the user's consent; zero if there was no user
	parent   *grant    // of a token exchange
	revoked  bool
}

// isRevoked reports whether a grant, or its parent, was revoked. The caller holds s.mu.
func (g *grant) isRevoked() bool { return g != nil && (g.revoked || g.parent.isRevoked()) }

// refresh is a refresh token.
type refresh struct {
	grant *grant
	until time.Time
	spent bool
}

// neverEnds is the expiry of entries that do not expire.
var neverEnds time.Time

// Scopes of OpenID Connect.
const (
	scopeOpenID  = "openid"
	scopeOffline = "offline_access"
)

// response is the response of the token endpoint (RFC 6749 section 5.1, RFC 8693 section 2.2.1).
type response struct {
	AccessToken  string `json:"access_token"`
	IssuedType   string `json:"issued_token_type,omitempty"`
	TokenType    string `json:"token_type"`
	ExpiresIn    int64  `json:"expires_in"`
	RefreshToken string `json:"refresh_token,omitempty"`
	IDToken      string `json:"id_token,omitempty"`
	Scope        string `json:"scope,omitempty"`
}

// tokenRequest is a request of an authenticated client.
type tokenRequest struct {
	client   *client
	form     oauthserver.Parameters
	proofKey string // of the DPoP proof, or empty
	now      time.Time
}

func (s *Server) serveToken(w http.ResponseWriter, r *http.Request) {
	a, p := s.token(w, r)
	if p != nil {
		p.Write(w)
		return
	}
	w.Header().Set("Pragma", "no-cache") // RFC 6749 section 5.1
	oauthserver.WriteJSON(w, http.StatusOK, a)
}

func (s *Server) token(w http.ResponseWriter, r *http.Request) (a *response, p *oauthserver.Error) {
	form, p := oauthserver.ReadForm(w, r)
	if p != nil {
		return nil, p
	}
	q := &tokenRequest{form: form, now: s.now()}
	if q.client, p = s.authenticate(r, form); p != nil {
		return nil, p
	}
	grants := map[string]func(*tokenRequest) (*response, *oauthserver.Error){
		oauthserver.GrantCode: s.redeemCode, oauthserver.GrantRefresh: s.redeemRefresh, grantClient: s.grantToClient, grantExchange: s.exchange,
		grantBehalf: s.onBehalf,
	}
	kind := form.Get("grant_type")
	redeem := grants[kind]
	switch {
	case kind == "":
		return nil, oauthserver.NewError(oauthserver.InvalidRequest, "no grant_type")
	case redeem == nil || !slices.Contains(s.grants, kind):
		return nil, oauthserver.NewError("unsupported_grant_type", "grant_type '%s' is not supported", kind)
	case !q.client.mayUse(kind):
		return nil, oauthserver.NewError(oauthserver.UnauthorizedClient, "this client may not use grant_type '%s'", kind)
	}
	if s.entra {
		if resources := form.All("resource"); len(resources) > 0 {
			return nil, resourceRefused(resources[0])
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.proofKey, p = s.checkProof(r, s.url(pathToken), q.now); p != nil {
		return nil, p
	}
	a, p = redeem(q)
	s.logToken(r.Context(), q.client.ID, kind, p)
	return a, p
}

func (s *Server) logToken(ctx context.Context, client, kind string, p *oauthserver.Error) {
	if p != nil {
		s.log.DebugContext(ctx, "token refused", "client", client, "grant", kind, "error", p.Code, "reason", p.Description)
		return
	}
	s.log.DebugContext(ctx, "token issued", "client", client, "grant", kind)
}

// redeemCode is OAuth 2.1 section 4.1.3. A code can be presented once, whether the request is valid
// or not; a second use revokes all tokens issued for it (RFC 6749 section 4.1.2).
func (s *Server) redeemCode(q *tokenRequest) (*response, *oauthserver.Error) {
	secret, verifier := q.form.Get("code"), q.form.Get("code_verifier")
	if secret == "" {
		return nil, oauthserver.NewError(oauthserver.InvalidRequest, "no code")
	}
	if p := oauthserver.CheckVerifier(q.form); p != nil {
		return nil, p
	}
	c, ok := s.codes.get(secret, q.now)
	if !ok {
		return nil, oauthserver.NewError(oauthserver.InvalidGrant, "the code is unknown or has expired")
	}
	if c.client.ID != q.client.ID {
		return nil, oauthserver.NewError(oauthserver.InvalidGrant, "the code was given to another client")
	}
	if c.spent {
		c.grant.revoked = true
		return nil, oauthserver.NewError(oauthserver.InvalidGrant, "the code was used before: what came of it is revoked")
	}
	c.spent = true
	redirect := q.form.Get("redirect_uri")
	switch {
	case subtle.ConstantTimeCompare([]byte(oauthserver.Challenge(verifier)), []byte(c.challenge)) != 1:
		return nil, oauthserver.NewError(oauthserver.InvalidGrant, "code_verifier does not fit the code_challenge")
	case redirect != c.redirect && (redirect != "" || c.sent): // RFC 6749 section 4.1.3
		return nil, oauthserver.NewError(oauthserver.InvalidGrant, "redirect_uri is not that of the authorization request")
	}
	if p := c.grant.bind(q); p != nil {
		return nil, p
	}
	return s.issue(q, c.grant, c.grant.scopes, q.now.Add(s.refreshLife))
}

// bind checks a token request against the grant: the resource (RFC 8707 section 2.2) and the key.
func (g *grant) bind(q *tokenRequest) *oauthserver.Error {
	if list := q.form.All("resource"); len(list) > 1 || len(list) == 1 && list[0] != g.resource {
		return oauthserver.NewError(oauthserver.InvalidTarget, "resource is not that of the authorization request")
	}
	if g.proofKey != "" && g.proofKey != q.proofKey {
		return oauthserver.NewError(oauthserver.InvalidProof, "the grant is bound to another key than that of the proof")
	}
	g.proofKey = q.proofKey
	return nil
}

// redeemRefresh is RFC 6749 section 6 with rotation: each refresh token is valid once. A second use
// indicates theft, and revokes the grant (OAuth 2.1 section 4.3.1).
func (s *Server) redeemRefresh(q *tokenRequest) (*response, *oauthserver.Error) {
	secret := q.form.Get("refresh_token")
	if secret == "" {
		return nil, oauthserver.NewError(oauthserver.InvalidRequest, "no refresh_token")
	}
	t, ok := s.refreshes.get(secret, q.now)
	if !ok || t.grant.isRevoked() {
		return nil, oauthserver.NewError(oauthserver.InvalidGrant, "the refresh token is unknown, has expired or was revoked")
	}
	if t.grant.client.ID != q.client.ID {
		return nil, oauthserver.NewError(oauthserver.InvalidGrant, "the refresh token was given to another client")
	}
	if t.spent {
		t.grant.revoked = true
		return nil, oauthserver.NewError(oauthserver.InvalidGrant, "the refresh token was used before: what came of its grant is revoked")
	}
	scopes, p := oauthserver.ReadScopes(q.form.Get("scope"))
	if p != nil {
		return nil, p
	}
	if len(scopes) == 0 {
		scopes = t.grant.scopes
	}
	if !subset(scopes, t.grant.scopes) {
		return nil, oauthserver.NewError(oauthserver.InvalidScope, "more scopes than were granted: ask for authorization anew")
	}
	if p := t.grant.bind(q); p != nil {
		return nil, p
	}
	t.spent = true
	return s.issue(q, t.grant, scopes, t.until)
}

// grantToClient is RFC 6749 section 4.4: a token for the client itself.
func (s *Server) grantToClient(q *tokenRequest) (*response, *oauthserver.Error) {
	resource, p := s.checkResource(q.form.All("resource"))
	if p != nil {
		return nil, p
	}
	scopes, p := s.checkScopes(q.form.Get("scope"))
	if p != nil {
		return nil, p
	}
	if len(q.client.Scopes) > 0 && !subset(scopes, q.client.Scopes) {
		return nil, oauthserver.NewError(oauthserver.InvalidScope, "this client may not have all of the scopes '%s'", strings.Join(scopes, " "))
	}
	g := &grant{client: q.client, subject: q.client.ID, resource: resource, scopes: scopes, proofKey: q.proofKey}
	return s.issue(q, g, scopes, neverEnds)
}

// issue creates the tokens. until is the expiry of the refresh token; zero for none.
func (s *Server) issue(q *tokenRequest, g *grant, scopes []string, until time.Time) (*response, *oauthserver.Error) {
	access, err := s.mint(g, scopes, q.now, s.accessLife, nil)
	a := &response{AccessToken: access, TokenType: "Bearer", ExpiresIn: int64(s.accessLife / time.Second), Scope: strings.Join(scopes, " ")}
	if g.proofKey != "" {
		a.TokenType = "DPoP"
	}
	if err == nil && slices.Contains(scopes, scopeOpenID) {
		a.IDToken, err = s.idToken(g, q.now)
	}
	if err != nil {
		return nil, &oauthserver.Error{Status: http.StatusInternalServerError, Code: "server_error", Description: "the token can't be made"}
	}
	if !until.IsZero() && g.client.mayUse(oauthserver.GrantRefresh) && slices.Contains(s.grants, oauthserver.GrantRefresh) {
		a.RefreshToken = rand.Text()
		s.refreshes.put(a.RefreshToken, &refresh{grant: g, until: until}, until, q.now)
	}
	return a, nil
}

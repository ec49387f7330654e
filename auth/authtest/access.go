package authtest

import (
	"cmp"
	"crypto/rand"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
)

// issued is an issued access token.
type issued struct {
	claims  map[string]any
	grant   *grant // nil if made by Issue
	until   time.Time
	revoked bool
}

// active reports whether a token is valid. The caller holds s.mu.
func (i *issued) active(now time.Time) bool {
	return i != nil && !i.revoked && !i.grant.isRevoked() && now.Before(i.until)
}

// mint creates and stores an access token (RFC 9068 section 2.2). extra claims override the others.
// The caller holds s.mu.
func (s *Server) mint(g *grant, scopes []string, now time.Time, life time.Duration, extra map[string]any) (string, error) {
	claims := map[string]any{
		"iss": s.issuer.String(), "aud": g.resource, "sub": g.subject, "client_id": g.client.ID, "jti": rand.Text(),
		"iat": now.Unix(), "exp": now.Add(life).Unix(),
	}
	if !g.since.IsZero() {
		claims["auth_time"] = g.since.Unix()
	}
	if len(scopes) > 0 {
		claims["scope"] = strings.Join(s.tokenScopes(scopes), " ")
	}
	if g.proofKey != "" {
		claims["cnf"] = map[string]any{"jkt": g.proofKey} // RFC 9449 section 6.1
	}
	maps.Copy(claims, extra)
	token, err := rand.Text(), error(nil)
	if !s.opaque {
		token, err = s.sign("at+jwt", claims)
	}
	if err != nil {
		return "", err
	}
	until := now.Add(life)
	s.issued.put(token, &issued{claims: claims, grant: g, until: until}, until, now)
	return token, nil
}

// tokenScopes returns scopes as tokens have them.
func (s *Server) tokenScopes(scopes []string) []string {
	if !s.entra {
		return scopes
	}
	var short []string
	for _, scope := range scopes {
		short = append(short, scope[strings.LastIndexByte(scope, '/')+1:])
	}
	return short
}

// idToken creates an ID token (OpenID Connect Core section 2).
func (s *Server) idToken(g *grant, now time.Time) (string, error) {
	claims := map[string]any{
		"iss": s.issuer.String(), "aud": g.client.ID, "sub": g.subject, "iat": now.Unix(), "exp": now.Add(s.accessLife).Unix(),
		"auth_time": g.since.Unix(),
	}
	if g.nonce != "" {
		claims["nonce"] = g.nonce
	}
	maps.Copy(claims, s.idClaims)
	return s.sign("JWT", claims)
}

// Token describes an access token for [Server.Issue]. It is valid unless its fields say otherwise.
type Token struct {
	// Subject is "sub"; Options.Subject by default.
	Subject string
	// ClientID is "client_id"; "authtest" by default.
	ClientID string
	// Audience is "aud", a string if it has one element. The default is Options.DefaultResource,
	// else the first of Options.Resources.
	Audience []string
	// Scopes are joined to "scope".
	Scopes []string
	// Life is the lifetime of the token; a negative one means that it has expired already. The
	// default is Options.AccessLife.
	Life time.Duration
	// Type is the header "typ"; at+jwt by default.
	Type string
	// Opaque creates a random string instead of a JWT.
	Opaque bool
	// Claims override all others; a nil value removes the claim.
	Claims map[string]any
}

// Issue creates an access token without any request. Introspection and [Server.Revoke] know it.
func (s *Server) Issue(t Token) (string, error) {
	now := s.now()
	life := cmp.Or(t.Life, s.accessLife)
	audience := t.Audience
	if audience == nil {
		audience = slices.DeleteFunc(slices.Concat([]string{s.resource}, s.resources), func(r string) bool { return r == "" })
		audience = audience[:min(len(audience), 1)]
	}
	claims := map[string]any{
		"iss": s.issuer.String(), "sub": cmp.Or(t.Subject, s.subject), "client_id": cmp.Or(t.ClientID, "authtest"),
		"jti": rand.Text(), "iat": now.Unix(), "exp": now.Add(life).Unix(),
	}
	switch len(audience) {
	case 0:
	case 1:
		claims["aud"] = audience[0]
	default:
		claims["aud"] = audience
	}
	if len(t.Scopes) > 0 {
		claims["scope"] = strings.Join(t.Scopes, " ")
	}
	for name, value := range t.Claims {
		if value == nil {
			delete(claims, name)
		} else {
			claims[name] = value
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	token, err := rand.Text(), error(nil)
	if !t.Opaque {
		token, err = s.sign(cmp.Or(t.Type, "at+jwt"), claims)
	}
	if err != nil {
		return "", err
	}
	until := now.Add(life)
	s.issued.put(token, &issued{claims: claims, until: until}, until, now)
	return token, nil
}

// Revoke revokes an access token or a refresh token and, if it was granted to a client, the whole
// grant. A JWT still looks valid without introspection.
func (s *Server) Revoke(token string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if t, ok := s.issued.get(token, now); ok {
		t.revoked = true
		if t.grant != nil {
			t.grant.revoked = true
		}
		return nil
	}
	if t, ok := s.refreshes.get(token, now); ok {
		t.grant.revoked = true
		return nil
	}
	return errors.New("authtest: the token is unknown or has expired")
}

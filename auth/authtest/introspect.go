package authtest

import (
	"maps"
	"net/http"

	"drawbridge/auth/oauthserver"
)

// serveIntrospect is RFC 7662. Any client with a secret may introspect any access token. Refresh
// tokens are inactive here: a resource server that asks about one was sent the wrong kind.
func (s *Server) serveIntrospect(w http.ResponseWriter, r *http.Request) {
	form, p := oauthserver.ReadForm(w, r)
	if p != nil {
		p.Write(w)
		return
	}
	c, p := s.authenticate(r, form)
	if p == nil && c.Secret == "" {
		p = oauthserver.NewError(oauthserver.InvalidClient, "introspection is for clients with a secret") // section 2.1: prevents token scanning
		p.Status = http.StatusUnauthorized
		p.Challenge = `Basic realm="authtest"`
	}
	if p == nil && form.Get("token") == "" {
		p = oauthserver.NewError(oauthserver.InvalidRequest, "no token")
	}
	if p != nil {
		p.Write(w)
		return
	}
	oauthserver.WriteJSON(w, http.StatusOK, s.introspect(form.Get("token")))
}

func (s *Server) introspect(token string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	t, ok := s.issued.get(token, now)
	if !ok || !t.active(now) {
		return map[string]any{"active": false} // nothing else, section 2.2
	}
	answer := maps.Clone(t.claims)
	answer["active"] = true
	answer["token_type"] = "Bearer"
	if answer["cnf"] != nil {
		answer["token_type"] = "DPoP"
	}
	return answer
}

// serveRevoke is RFC 7009. Revoking a refresh token revokes its grant; revoking an access token
// does not.
func (s *Server) serveRevoke(w http.ResponseWriter, r *http.Request) {
	if p := s.revoke(w, r); p != nil {
		p.Write(w)
		return
	}
	w.WriteHeader(http.StatusOK) // also for an unknown token, section 2.2
}

func (s *Server) revoke(w http.ResponseWriter, r *http.Request) *oauthserver.Error {
	form, p := oauthserver.ReadForm(w, r)
	if p != nil {
		return p
	}
	c, p := s.authenticate(r, form)
	if p != nil {
		return p
	}
	token := form.Get("token")
	if token == "" {
		return oauthserver.NewError(oauthserver.InvalidRequest, "no token")
	}
	foreign := oauthserver.NewError(oauthserver.UnauthorizedClient, "the token was given to another client")
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if t, ok := s.refreshes.get(token, now); ok {
		if t.grant.client.ID != c.ID {
			return foreign
		}
		t.grant.revoked = true
		return nil
	}
	if t, ok := s.issued.get(token, now); ok {
		if claim(t.claims, "client_id") != c.ID {
			return foreign
		}
		t.revoked = true
	}
	return nil
}

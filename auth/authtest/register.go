package authtest

import (
	"crypto/rand"
	"net/http"
	"slices"

	"drawbridge/auth/oauthserver"
)

// clientOf returns the client that metadata describes.
func clientOf(m *oauthserver.ClientMetadata) *client {
	return &client{Client: Client{ID: m.ID, Name: m.Name, RedirectURIs: m.RedirectURIs, Grants: m.Grants}}
}

// serveRegister registers a public client (RFC 7591 section 3). Unsupported metadata is replaced,
// as section 3.2.1 allows: the client gets no secret. Its scope is recorded but not enforced,
// because a step-up asks for more.
func (s *Server) serveRegister(w http.ResponseWriter, r *http.Request) {
	m, p := s.register(w, r)
	if p != nil {
		p.Write(w)
		return
	}
	oauthserver.WriteJSON(w, http.StatusCreated, m)
}

func (s *Server) register(w http.ResponseWriter, r *http.Request) (*oauthserver.ClientMetadata, *oauthserver.Error) {
	m, p := oauthserver.ReadRegistration(w, r)
	if p != nil {
		return nil, p
	}
	m.Grants = slices.DeleteFunc(m.Grants, func(g string) bool { return !slices.Contains(s.grants, g) })
	now := s.now()
	m.ID, m.IssuedAt = "dyn-"+rand.Text(), now.Unix()
	c := clientOf(m)
	c.since = now
	s.mu.Lock()
	defer s.mu.Unlock()
	s.registered.put(m.ID, c, neverEnds, now)
	return m, nil
}

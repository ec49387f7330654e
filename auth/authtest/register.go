package authtest

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// maxRegistration limits client metadata in bytes.
const maxRegistration = 64 << 10

// registration is client metadata (RFC 7591 section 2), in requests, responses and client ID
// metadata documents. Other members are ignored, as section 2 says.
type registration struct {
	ID            string   `json:"client_id,omitempty"`
	IssuedAt      int64    `json:"client_id_issued_at,omitempty"`
	Name          string   `json:"client_name,omitempty"`
	RedirectURIs  []string `json:"redirect_uris"`
	Grants        []string `json:"grant_types,omitempty"`
	ResponseTypes []string `json:"response_types,omitempty"`
	AuthMethod    string   `json:"token_endpoint_auth_method,omitempty"`
	Scope         string   `json:"scope,omitempty"`
}

// readRegistration parses client metadata.
func readRegistration(text []byte) (*registration, *problem) {
	info, err := jsonscan.Scan(text, jsonscan.Options{MaxDepth: 32, Unique: true})
	if err != nil || info.Kind != jsonscan.Object {
		return nil, newProblem(invalidMetadata, "the body is not a JSON object with unique members")
	}
	var m registration
	if err := json.Unmarshal(text, &m); err != nil {
		name := "?"
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			name = wrong.Field
		}
		return nil, newProblem(invalidMetadata, "member '%s' has the wrong type", name)
	}
	if len(m.RedirectURIs) == 0 || len(m.RedirectURIs) > maxRedirects {
		return nil, newProblem(invalidRedirect, "%d redirect_uris, not 1 to %d", len(m.RedirectURIs), maxRedirects)
	}
	for _, uri := range m.RedirectURIs {
		if reason := checkRedirect(uri); reason != "" {
			return nil, newProblem(invalidRedirect, "redirect URI '%s' %s", uri, reason)
		}
	}
	if len(m.ResponseTypes) > 0 && !slices.Contains(m.ResponseTypes, "code") {
		return nil, newProblem(invalidMetadata, "response_types does not contain 'code', the only one")
	}
	if len(m.Grants) == 0 {
		m.Grants = []string{grantCode} // RFC 7591 section 2
	}
	if !slices.Contains(m.Grants, grantCode) {
		return nil, newProblem(invalidMetadata, "grant_types does not contain '%s'", grantCode)
	}
	m.Grants = slices.DeleteFunc(m.Grants, func(g string) bool { return g != grantCode && g != grantRefresh })
	slices.Sort(m.Grants)
	m.Grants = slices.Compact(m.Grants)
	return &m, nil
}

// client returns the client that the metadata describes.
func (m *registration) client() *client {
	return &client{Client: Client{ID: m.ID, Name: m.Name, RedirectURIs: m.RedirectURIs, Grants: m.Grants}}
}

// serveRegister registers a public client (RFC 7591 section 3). Unsupported metadata is replaced,
// as section 3.2.1 allows: the client gets no secret. Its scope is recorded but not enforced,
// because a step-up asks for more.
func (s *Server) serveRegister(w http.ResponseWriter, r *http.Request) {
	m, p := s.register(w, r)
	if p != nil {
		p.write(w)
		return
	}
	writeJSON(w, http.StatusCreated, m)
}

func (s *Server) register(w http.ResponseWriter, r *http.Request) (*registration, *problem) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, newProblem(invalidRequest, "the body has to be application/json")
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRegistration))
	if err != nil {
		return nil, newProblem(invalidRequest, "the body has more than %d bytes", maxRegistration)
	}
	m, p := readRegistration(text)
	if p != nil {
		return nil, p
	}
	scopes, p := readScopes(m.Scope)
	if p != nil {
		return nil, newProblem(invalidMetadata, "%s", p.Description)
	}
	m.Grants = slices.DeleteFunc(m.Grants, func(g string) bool { return !slices.Contains(s.grants, g) })
	now := s.now()
	m.ID, m.IssuedAt, m.Scope = "dyn-"+rand.Text(), now.Unix(), strings.Join(scopes, " ")
	m.AuthMethod, m.ResponseTypes = "none", []string{"code"}
	c := m.client()
	c.since = now
	s.mu.Lock()
	defer s.mu.Unlock()
	s.registered.put(m.ID, c, neverEnds, now)
	return m, nil
}

package authtest

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"slices"
	"time"

	"drawbridge/auth/oauthserver"
)

// authorization is a checked authorization request that waits for consent.
type authorization struct {
	client    *client
	redirect  string // the redirect URI
	sent      bool   // the request named the redirect URI
	state     string
	challenge string // PKCE, S256
	scopes    []string
	resource  string
	nonce     string
	proofKey  string // dpop_jkt, RFC 9449 section 10
}

// code is an authorization code.
type code struct {
	*authorization
	grant *grant
	spent bool
}

// serveAuthorize is the authorization endpoint (OAuth 2.1 section 4.1.1). Errors about the client
// or the redirect URI are shown to the user, all others are sent to the client by the redirect.
func (s *Server) serveAuthorize(w http.ResponseWriter, r *http.Request) {
	if len(r.URL.RawQuery) > oauthserver.MaxQuery {
		s.writeError(w, oauthserver.NewError(oauthserver.InvalidRequest, "the query has more than %d bytes", oauthserver.MaxQuery))
		return
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		s.writeError(w, oauthserver.NewError(oauthserver.InvalidRequest, "the query is malformed"))
		return
	}
	query := oauthserver.WithoutEmpty(values)
	a, p := s.findClient(r, query)
	if p != nil {
		s.writeError(w, p)
		return
	}
	if p := s.readAuthorization(a, query); p != nil {
		s.log.DebugContext(r.Context(), "authorization refused", "client", a.client.ID, "error", p.Code)
		s.redirect(w, http.StatusFound, a, url.Values{"error": {p.Code}, "error_description": {p.Description}})
		return
	}
	switch {
	case s.auto && !a.client.unknown:
		s.approve(w, r, http.StatusFound, a, a.scopes)
	case query.Get("prompt") == "none":
		s.redirect(w, http.StatusFound, a, url.Values{"error": {"consent_required"}, "error_description": {"somebody has to look at the consent page"}})
	default:
		s.showConsent(w, r, a)
	}
}

// findClient determines the client and the redirect URI. Nothing is redirected until both are
// valid.
func (s *Server) findClient(r *http.Request, query oauthserver.Parameters) (*authorization, *oauthserver.Error) {
	for _, name := range []string{"client_id", "redirect_uri"} {
		if n := len(query[name]); n > 1 {
			return nil, oauthserver.NewError(oauthserver.InvalidRequest, "parameter '%s' stands there %d times", name, n)
		}
	}
	id := query.Get("client_id")
	if id == "" {
		return nil, oauthserver.NewError(oauthserver.InvalidRequest, "no client_id")
	}
	s.mu.Lock()
	c := s.lookup(id, s.now())
	s.mu.Unlock()
	if c == nil && oauthserver.IsMetadataURL(id) {
		var p *oauthserver.Error
		if c, p = s.fetchClient(r.Context(), id); p != nil {
			return nil, p
		}
	}
	if c == nil && s.strangers && len(id) <= oauthserver.MaxRedirectURI {
		c = unknownClient(id)
	}
	if c == nil {
		return nil, oauthserver.NewError(oauthserver.InvalidClient, "client '%s' is unknown; it may have registered before a restart", id)
	}
	a := &authorization{client: c, redirect: query.Get("redirect_uri")}
	switch {
	case a.redirect == "" && len(c.RedirectURIs) == 1:
		a.redirect = c.RedirectURIs[0]
	case a.redirect == "":
		return nil, oauthserver.NewError(oauthserver.InvalidRequest, "no redirect_uri")
	case !c.allows(a.redirect):
		return nil, oauthserver.NewError(oauthserver.InvalidRequest, "redirect_uri '%s' is not one of client '%s'", a.redirect, id)
	default:
		a.sent = true
	}
	return a, nil
}

// readAuthorization checks the remaining parameters.
func (s *Server) readAuthorization(a *authorization, query oauthserver.Parameters) (p *oauthserver.Error) {
	if len(query["state"]) == 1 {
		a.state = query.Get("state")
	}
	if p := query.Check(); p != nil {
		return p
	}
	a.nonce, a.challenge, a.proofKey = query.Get("nonce"), query.Get("code_challenge"), query.Get("dpop_jkt")
	switch response, mode := query.Get("response_type"), query.Get("response_mode"); {
	case query.Get("request") != "":
		return oauthserver.NewError("request_not_supported", "request objects are not supported")
	case query.Get("request_uri") != "":
		return oauthserver.NewError("request_uri_not_supported", "request objects are not supported")
	case response == "":
		return oauthserver.NewError(oauthserver.InvalidRequest, "no response_type")
	case response != "code":
		return oauthserver.NewError("unsupported_response_type", "response_type '%s' is not 'code'", response)
	case mode != "" && mode != "query":
		return oauthserver.NewError(oauthserver.InvalidRequest, "response_mode '%s' is not 'query'", mode)
	case !a.client.mayUse(oauthserver.GrantCode):
		return oauthserver.NewError(oauthserver.UnauthorizedClient, "this client may not use authorization codes")
	case a.proofKey != "" && !oauthserver.IsSHA256(a.proofKey):
		return oauthserver.NewError(oauthserver.InvalidRequest, "dpop_jkt is not a SHA-256 sum in base64url")
	}
	if p := oauthserver.CheckChallenge(query); p != nil {
		return p
	}
	if a.scopes, p = s.checkScopes(query.Get("scope")); p != nil {
		return p
	}
	a.resource, p = s.checkResource(query.All("resource"))
	return p
}

// approve issues a code for some of the requested scopes.
func (s *Server) approve(w http.ResponseWriter, r *http.Request, status int, a *authorization, scopes []string) {
	now := s.now()
	g := &grant{client: a.client, subject: s.userOf(r), resource: a.resource, scopes: scopes, proofKey: a.proofKey, nonce: a.nonce, since: now}
	secret := rand.Text()
	s.mu.Lock()
	s.codes.put(secret, &code{authorization: a, grant: g}, now.Add(s.codeLife), now)
	s.rememberConsent(a, scopes, now)
	s.mu.Unlock()
	s.log.DebugContext(r.Context(), "authorized", "client", a.client.ID, "scopes", scopes, "resource", a.resource)
	s.redirect(w, status, a, url.Values{"code": {secret}})
}

// userOf returns the user who is signed in in the browser of a request.
func (s *Server) userOf(r *http.Request) string {
	if s.user == nil {
		return s.subject
	}
	return s.user(r)
}

// rememberConsent records the scopes that the user has allowed, so that the next page can mark new
// ones. The caller holds s.mu.
func (s *Server) rememberConsent(a *authorization, scopes []string, now time.Time) {
	name := a.client.ID + " " + a.resource
	allowed, ok := s.consented.get(name, now)
	if !ok {
		allowed = make(map[string]bool)
		s.consented.put(name, allowed, neverEnds, now)
	}
	for _, scope := range scopes {
		if len(allowed) < maxRemembered {
			allowed[scope] = true
		}
	}
}

// redirect responds to the client, with state and issuer (RFC 9207).
func (s *Server) redirect(w http.ResponseWriter, status int, a *authorization, answer url.Values) {
	if a.state != "" {
		answer.Set("state", a.state)
	}
	answer.Set("iss", s.issuer.String())
	w.Header().Set("Location", oauthserver.AddToRedirectURI(a.redirect, answer))
	w.WriteHeader(status)
}

// subset reports whether all names are in a list.
func subset(names, list []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(list, name) })
}

package authtest

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
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

var (
	challengeForm = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)       // SHA-256 in base64url, RFC 7636 section 4.2
	verifierForm  = regexp.MustCompile(`^[A-Za-z0-9._~-]{43,128}$`) // section 4.1
)

// serveAuthorize is the authorization endpoint (OAuth 2.1 section 4.1.1). Errors about the client
// or the redirect URI are shown to the user, all others are sent to the client by the redirect.
func (s *Server) serveAuthorize(w http.ResponseWriter, r *http.Request) {
	if len(r.URL.RawQuery) > maxQuery {
		s.writeError(w, newProblem(invalidRequest, "the query has more than %d bytes", maxQuery))
		return
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		s.writeError(w, newProblem(invalidRequest, "the query is malformed"))
		return
	}
	query := clean(values)
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
	case query.get("prompt") == "none":
		s.redirect(w, http.StatusFound, a, url.Values{"error": {"consent_required"}, "error_description": {"somebody has to look at the consent page"}})
	default:
		s.showConsent(w, r, a)
	}
}

// findClient determines the client and the redirect URI. Nothing is redirected until both are
// valid.
func (s *Server) findClient(r *http.Request, query parameters) (*authorization, *problem) {
	for _, name := range []string{"client_id", "redirect_uri"} {
		if n := len(query[name]); n > 1 {
			return nil, newProblem(invalidRequest, "parameter '%s' stands there %d times", name, n)
		}
	}
	id := query.get("client_id")
	if id == "" {
		return nil, newProblem(invalidRequest, "no client_id")
	}
	s.mu.Lock()
	c := s.lookup(id, s.now())
	s.mu.Unlock()
	if c == nil && isDocument(id) {
		var p *problem
		if c, p = s.fetchClient(r.Context(), id); p != nil {
			return nil, p
		}
	}
	if c == nil && s.strangers && len(id) <= maxRedirect {
		c = unknownClient(id)
	}
	if c == nil {
		return nil, newProblem(invalidClient, "client '%s' is unknown; it may have registered before a restart", id)
	}
	a := &authorization{client: c, redirect: query.get("redirect_uri")}
	switch {
	case a.redirect == "" && len(c.RedirectURIs) == 1:
		a.redirect = c.RedirectURIs[0]
	case a.redirect == "":
		return nil, newProblem(invalidRequest, "no redirect_uri")
	case !c.allows(a.redirect):
		return nil, newProblem(invalidRequest, "redirect_uri '%s' is not one of client '%s'", a.redirect, id)
	default:
		a.sent = true
	}
	return a, nil
}

// readAuthorization checks the remaining parameters.
func (s *Server) readAuthorization(a *authorization, query parameters) (p *problem) {
	if len(query["state"]) == 1 {
		a.state = query.get("state")
	}
	if p := query.check(); p != nil {
		return p
	}
	a.nonce, a.challenge, a.proofKey = query.get("nonce"), query.get("code_challenge"), query.get("dpop_jkt")
	switch response, mode := query.get("response_type"), query.get("response_mode"); {
	case query.get("request") != "":
		return newProblem("request_not_supported", "request objects are not supported")
	case query.get("request_uri") != "":
		return newProblem("request_uri_not_supported", "request objects are not supported")
	case response == "":
		return newProblem(invalidRequest, "no response_type")
	case response != "code":
		return newProblem("unsupported_response_type", "response_type '%s' is not 'code'", response)
	case mode != "" && mode != "query":
		return newProblem(invalidRequest, "response_mode '%s' is not 'query'", mode)
	case !a.client.mayUse(grantCode):
		return newProblem(unauthorizedClient, "this client may not use authorization codes")
	case a.challenge == "":
		return newProblem(invalidRequest, "no code_challenge: PKCE is required")
	case query.get("code_challenge_method") != "S256": // absent means plain, RFC 7636 section 4.3
		return newProblem(invalidRequest, "code_challenge_method is not 'S256'")
	case !challengeForm.MatchString(a.challenge):
		return newProblem(invalidRequest, "code_challenge is not a SHA-256 sum in base64url")
	case a.proofKey != "" && !challengeForm.MatchString(a.proofKey):
		return newProblem(invalidRequest, "dpop_jkt is not a SHA-256 sum in base64url")
	}
	if a.scopes, p = s.checkScopes(query.get("scope")); p != nil {
		return p
	}
	a.resource, p = s.checkResource(query.all("resource"))
	return p
}

// approve issues a code for some of the requested scopes.
func (s *Server) approve(w http.ResponseWriter, r *http.Request, status int, a *authorization, scopes []string) {
	now := s.now()
	g := &grant{client: a.client, subject: s.subject, resource: a.resource, scopes: scopes, proofKey: a.proofKey, nonce: a.nonce, since: now}
	secret := rand.Text()
	s.mu.Lock()
	s.codes.put(secret, &code{authorization: a, grant: g}, now.Add(s.codeLife), now)
	s.rememberConsent(a, scopes, now)
	s.mu.Unlock()
	s.log.DebugContext(r.Context(), "authorized", "client", a.client.ID, "scopes", scopes, "resource", a.resource)
	s.redirect(w, status, a, url.Values{"code": {secret}})
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
	separator := "?"
	if strings.Contains(a.redirect, "?") { // RFC 6749 section 3.1.2: its own query is kept
		separator = "&"
	}
	w.Header().Set("Location", a.redirect+separator+answer.Encode())
	w.WriteHeader(status)
}

// subset reports whether all names are in a list.
func subset(names, list []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(list, name) })
}

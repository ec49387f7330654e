package registration

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"drawbridge/auth/oauthserver"
	"drawbridge/auth/relyingparty"
	"drawbridge/gateway/loginpage"
)

const (
	// maxState and maxRedirect are the most bytes of a client's state and redirect URI, which have to fit into a cookie together.
	maxState    = 1 << 10
	maxRedirect = 1 << 10
	// maxScopes is the most scopes that a client may request.
	maxScopes = 50
	// browserCookie is the name of the cookie that binds a consent page to the browser that loaded it.
	browserCookie = "drawbridge_consent"
)

// standardScopes are those of OpenID Connect Core sections 5.4 and 11, which have no prefix.
var standardScopes = []string{"openid", "profile", "email", "address", "phone", "offline_access"}

// serveAuthorize is the authorization endpoint (OAuth 2.1 section 4.1.1): GET shows the consent page, and its form is a POST. All errors
// before the consent are shown to the user, also those that RFC 6749 sends to the client: anybody can register a redirect URI, and the
// gateway would be an open redirector (RFC 9700 section 4.11.2).
func (s *Server) serveAuthorize(w http.ResponseWriter, r *http.Request, g *generation) {
	if r.Method == http.MethodPost {
		s.serveConsent(w, r, g)
		return
	}
	q, p := s.readRequest(r, g)
	if p != nil {
		s.showError(w, r, p)
		return
	}
	browser := rand.Text()
	if c, err := r.Cookie(g.cookieName()); err == nil && len(c.Value) == len(browser) {
		browser = c.Value // so that other pages of this browser stay valid
	}
	q.Browser, q.Until = digest(browser), s.o.Now().Add(consentLifetime).Unix()
	handle, err := s.seals.seal("request", q)
	if err != nil {
		s.showError(w, r, oauthserver.NewError(oauthserver.InvalidRequest, "the request can't be kept"))
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: g.cookieName(), Value: browser, Path: "/", HttpOnly: true, Secure: g.secure, MaxAge: int(consentLifetime / time.Second),
		SameSite: http.SameSiteLaxMode, // also sent when a client links here, so that its pages stay valid; never with a cross-site POST
	})
	s.showConsent(w, r, g, q, handle)
}

// cookieName returns the name of the cookie of consent pages.
func (g *generation) cookieName() string {
	if g.secure {
		return "__Host-" + browserCookie
	}
	return browserCookie
}

// readRequest checks an authorization request.
func (s *Server) readRequest(r *http.Request, g *generation) (*request, *oauthserver.Error) {
	if len(r.URL.RawQuery) > oauthserver.MaxQuery {
		return nil, oauthserver.NewError(oauthserver.InvalidRequest, "the query has more than %d bytes", oauthserver.MaxQuery)
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, oauthserver.NewError(oauthserver.InvalidRequest, "the query is malformed")
	}
	query := oauthserver.WithoutEmpty(values)
	if p := query.Check(); p != nil {
		return nil, p
	}
	id, redirect := query.Get("client_id"), query.Get("redirect_uri")
	switch {
	case id == "":
		return nil, oauthserver.NewError(oauthserver.InvalidRequest, "no client_id")
	case redirect == "":
		return nil, oauthserver.NewError(oauthserver.InvalidRequest, "no redirect_uri")
	case len(redirect) > maxRedirect:
		return nil, oauthserver.NewError(oauthserver.InvalidRequest, "redirect_uri has more than %d bytes", maxRedirect)
	}
	c, p := s.findClient(r.Context(), g, id)
	if p != nil {
		return nil, p
	}
	if !oauthserver.AllowsRedirectURI(c.redirectURIs, redirect) {
		return nil, oauthserver.NewError(oauthserver.InvalidRequest, "redirect_uri '%s' is not one that the client has registered", redirect)
	}
	if reason := g.checkTarget(redirect); reason != "" {
		return nil, oauthserver.NewError(oauthserver.InvalidRequest, "redirect_uri '%s' %s", redirect, reason)
	}
	q := &request{Client: id, Title: c.title, Redirect: redirect, State: query.Get("state"), Challenge: query.Get("code_challenge"), Refresh: c.refresh}
	if p := checkParameters(query); p != nil {
		return nil, p
	}
	if q.Scopes, p = oauthserver.ReadScopes(query.Get("scope")); p != nil {
		return nil, p
	}
	if len(q.Scopes) > maxScopes {
		return nil, oauthserver.NewError(oauthserver.InvalidScope, "%d scopes, more than %d", len(q.Scopes), maxScopes)
	}
	if len(q.Scopes) == 0 {
		q.Scopes = g.defaultScopes
	}
	q.Resource, p = g.resource(query.All("resource"))
	return q, p
}

// checkParameters checks the parameters that neither client nor target depend on.
func checkParameters(query oauthserver.Parameters) *oauthserver.Error {
	switch response, mode := query.Get("response_type"), query.Get("response_mode"); {
	case query.Get("request") != "" || query.Get("request_uri") != "":
		return oauthserver.NewError("request_not_supported", "request objects are not supported")
	case response != "code":
		return oauthserver.NewError("unsupported_response_type", "response_type '%s' is not 'code'", response)
	case mode != "" && mode != "query":
		return oauthserver.NewError(oauthserver.InvalidRequest, "response_mode '%s' is not 'query'", mode)
	case query.Get("dpop_jkt") != "":
		return oauthserver.NewError(oauthserver.InvalidRequest, "codes can't be bound to a key: the tokens are bearer tokens of the provider")
	case query.Get("prompt") == "none":
		return oauthserver.NewError("consent_required", "the user has to look at the consent page")
	case len(query.Get("state")) > maxState:
		return oauthserver.NewError(oauthserver.InvalidRequest, "state has more than %d bytes", maxState)
	}
	return oauthserver.CheckChallenge(query)
}

// resource returns the resource of the gateway that a token is requested for (RFC 8707 section 2). Clients of MCP 2025-03-26 name none, and
// get the first. The provider is not told: its scopes decide the audience, which is the same for all resources.
func (g *generation) resource(values []string) (string, *oauthserver.Error) {
	switch {
	case len(values) > 1:
		return "", oauthserver.NewError(oauthserver.InvalidTarget, "%d resources: a token is for one", len(values))
	case len(values) == 0:
		return g.resources[0], nil
	}
	named := strings.TrimSuffix(values[0], "/")
	if !slices.Contains(g.resources, named) {
		return "", oauthserver.NewError(oauthserver.InvalidTarget, "resource '%s' is not one of this gateway", values[0])
	}
	return named, nil
}

// serveConsent handles the form of the consent page. The request, which the page has sealed, is taken from the browser that loaded the
// page, and only from the page itself.
func (s *Server) serveConsent(w http.ResponseWriter, r *http.Request, g *generation) {
	refuse := func(reason string) {
		s.o.Log.WarnContext(r.Context(), "an answer to a consent page was refused", "reason", reason)
		s.showError(w, r, &oauthserver.Error{Status: http.StatusForbidden, Code: oauthserver.AccessDenied, Description: reason})
	}
	if !loginpage.Posted(r, g.issuer) {
		refuse("this answer comes from a page of another site")
		return
	}
	form, p := oauthserver.ReadForm(w, r)
	if p != nil {
		s.showError(w, r, p)
		return
	}
	var q request
	c, err := r.Cookie(g.cookieName())
	if err != nil || s.seals.open(form.Get("request"), "request", &q) != nil || subtle.ConstantTimeCompare([]byte(digest(c.Value)), []byte(q.Browser)) != 1 || s.seals.expired(q.Until) {
		refuse("this page is too old, or was shown to another browser: start again in your client")
		return
	}
	if form.Get("answer") != "allow" {
		s.showDenied(w, r, g, &q)
		return
	}
	data, err := json.Marshal(approved{digest(q.Client), q.Redirect, q.State, q.Challenge, q.Resource, q.Refresh})
	if err != nil {
		refuse("the request can't be kept")
		return
	}
	location, err := g.party.Begin(w, r, data, g.providerScopes(q.Scopes)...)
	if err != nil {
		s.loginFailed(w, r, err)
		return
	}
	s.o.Log.InfoContext(r.Context(), "a client was approved", "client", q.Title, "redirect", oauthserver.RedirectTarget(q.Redirect))
	loginpage.Continue(w, r, g.party.Host(), location)
}

// providerScopes returns scopes as the provider knows them.
func (g *generation) providerScopes(scopes []string) []string {
	if !g.config.ForwardScopes {
		return nil
	}
	var all []string
	for _, scope := range scopes {
		if !slices.Contains(standardScopes, scope) {
			scope = g.config.ScopePrefix + scope
		}
		if !slices.Contains(g.config.Scopes, scope) {
			all = append(all, scope)
		}
	}
	return all
}

// consentScopes returns the scopes that a client gets, as clients know them: those of the configuration among them, whatever the client
// requests, and no others if the provider is not asked for what it requests.
func (g *generation) consentScopes(requested []string) (all []string) {
	if g.config.ForwardScopes {
		all = slices.Clone(requested)
	}
	for _, scope := range g.config.Scopes {
		if scope = strings.TrimPrefix(scope, g.config.ScopePrefix); !slices.Contains(standardScopes, scope) && !slices.Contains(all, scope) {
			all = append(all, scope)
		}
	}
	return all
}

// clientScopes returns scopes of a response of the provider as clients know them.
func (g *generation) clientScopes(scopes string) string {
	all := strings.Fields(scopes)
	for i, scope := range all {
		all[i] = strings.TrimPrefix(scope, g.config.ScopePrefix)
	}
	return strings.Join(all, " ")
}

// serveCallback serves the redirect URI that the gateway has at the provider. The client gets the provider's code, sealed, as its own code.
// The gateway redeems the provider's code when the client redeems the sealed one.
func (s *Server) serveCallback(w http.ResponseWriter, r *http.Request, g *generation) {
	login, err := g.party.Callback(w, r)
	var a approved
	if login == nil || json.Unmarshal(login.Data, &a) != nil || a.Redirect == "" {
		s.loginFailed(w, r, err)
		return
	}
	if err != nil {
		s.o.Log.WarnContext(r.Context(), "a login at the provider failed", "reason", err)
		failure := &relyingparty.Failure{}
		answer := url.Values{"error": {"server_error"}, "error_description": {"the login at the provider failed"}}
		if errors.As(err, &failure) && slices.Contains(authorizationErrors, failure.Code) {
			answer.Set("error", failure.Code)
		}
		g.redirect(w, &a, answer)
		return
	}
	own := code{ID: newID(), Until: s.o.Now().Add(codeLifetime).Unix(), Login: *login, Resource: a.Resource, Refresh: a.Refresh}
	handle, err := s.seals.seal("code", own, a.Client, a.Redirect, a.Challenge)
	if err != nil {
		s.loginFailed(w, r, err)
		return
	}
	g.redirect(w, &a, url.Values{"code": {handle}})
}

// authorizationErrors are the errors of RFC 6749 section 4.1.2.1 and OpenID Connect Core section 3.1.2.6 that are passed on to clients.
var authorizationErrors = []string{oauthserver.AccessDenied, oauthserver.InvalidScope, temporarilyUnavailable, "login_required", "consent_required", "interaction_required"}

const temporarilyUnavailable = "temporarily_unavailable"

// redirect sends the browser back to the client, with state and issuer (RFC 9207).
func (g *generation) redirect(w http.ResponseWriter, a *approved, answer url.Values) {
	w.Header().Set("Location", g.answerURL(a.Redirect, a.State, answer))
	w.WriteHeader(http.StatusFound)
}

func (g *generation) answerURL(redirect, state string, answer url.Values) string {
	if state != "" {
		answer.Set("state", state)
	}
	answer.Set("iss", g.issuer)
	return oauthserver.AddToRedirectURI(redirect, answer)
}

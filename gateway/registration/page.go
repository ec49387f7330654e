package registration

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"drawbridge/auth/oauthserver"
	"drawbridge/auth/relyingparty"
	"drawbridge/gateway/loginpage"
	"drawbridge/openapi/origin"
)

// consentView is the data of the consent page.
type consentView struct {
	Client   string // name that the client has chosen
	Document string // host of its metadata document; "" if it registered
	Target   string // destination of the redirect
	Remote   bool   // that is not an application on the user's machine
	Gateway  string // host
	Provider string // host at which the user signs in
	Scopes   []string
	Action   string
	Handle   string
}

// showConsent asks the user to approve a client.
func (s *Server) showConsent(w http.ResponseWriter, r *http.Request, g *generation, q *request, handle string) {
	u, err := url.Parse(q.Redirect)
	view := consentView{
		Client: q.Title, Target: oauthserver.RedirectTarget(q.Redirect), Remote: err == nil && u.Scheme == "https" && !origin.Loopback(u.Hostname()),
		Gateway: hostOf(g.issuer), Provider: g.party.Host(), Scopes: g.consentScopes(q.Scopes), Action: g.path + authorizePath, Handle: handle,
	}
	if oauthserver.IsMetadataURL(q.Client) {
		view.Document = hostOf(q.Client)
	}
	loginpage.Write(w, r, http.StatusOK, consentPage(view))
}

// showDenied tells the user that the client gets nothing. The client learns it at once if it runs on the user's machine; a link leads to
// others, since a page must not send the browser to an address that anybody may have registered.
func (s *Server) showDenied(w http.ResponseWriter, r *http.Request, g *generation, q *request) {
	link := g.answerURL(q.Redirect, q.State, url.Values{"error": {oauthserver.AccessDenied}, "error_description": {"the user has not approved the client"}})
	if u, err := url.Parse(q.Redirect); err == nil && u.Scheme == "http" { // loopback, then
		w.Header().Set("Refresh", "0; url="+link)
	}
	loginpage.Write(w, r, http.StatusOK, loginpage.Show(loginpage.Message{
		Title: "Not approved", Text: q.Title + " gets no access. You can close this page.", Link: link, LinkText: "Tell the client",
	}))
}

// showError shows an error of a request, on a page without links.
func (s *Server) showError(w http.ResponseWriter, r *http.Request, p *oauthserver.Error) {
	status := p.Status
	if status == http.StatusUnauthorized {
		status = http.StatusBadRequest // no authentication is possible here
	}
	s.o.Log.DebugContext(r.Context(), "an authorization request was refused", "error", p.Code, "reason", p.Description, "cause", p.Cause)
	loginpage.Write(w, r, status, loginpage.Show(loginpage.Message{Title: "This login can't go on", Text: sentence(p.Description), Code: p.Code}))
}

// loginFailed answers a request that belongs to no client, so that nothing is redirected.
func (s *Server) loginFailed(w http.ResponseWriter, r *http.Request, err error) {
	s.o.Log.WarnContext(r.Context(), "a login at the provider failed", "reason", err)
	failure := &relyingparty.Failure{}
	if !errors.As(err, &failure) {
		failure = &relyingparty.Failure{Reason: "The login failed. The log of the gateway says why.", Unavailable: true}
	}
	status := http.StatusBadRequest
	if failure.Unavailable {
		status = http.StatusBadGateway
	}
	loginpage.Write(w, r, status, loginpage.Show(loginpage.Message{Title: "This login can't go on", Text: failure.Reason}))
}

// hostOf returns the host of a URL.
func hostOf(text string) string {
	if u, err := url.Parse(text); err == nil {
		return u.Host
	}
	return text
}

// sentence returns the description of an error as a sentence.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

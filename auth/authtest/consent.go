package authtest

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	_ "embed" // the style is part of the binary
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"drawbridge/auth/oauthserver"
)

//go:embed consent.css
var consentStyle string

// consentLife is the lifetime of a consent page.
const consentLife = 10 * time.Minute

// browserCookie binds a page to the browser that loaded it. It can't have the prefix __Host-, since
// loopback is http.
const browserCookie = "authtest_browser"

// pending is a consent page that was shown.
type pending struct {
	*authorization
	browser string // the cookie's value
}

// consentView is the data of the consent page.
type consentView struct {
	Problem  *oauthserver.Error // shown instead of everything else
	Action   string
	Handle   string
	Client   string
	ID       string
	Document string
	Stranger bool
	Target   string // the destination of the redirect
	Resource string
	Subject  string
	Scopes   []scopeView
}

type scopeView struct {
	Scope
	New bool
}

// title returns the title of the page.
func (v *consentView) title() string {
	if v.Problem != nil {
		return "Not authorized"
	}
	return "Allow " + v.Client + "?"
}

// explanation returns what follows the name of the scope.
func (s *scopeView) explanation() string {
	if s.Description == "" {
		return ""
	}
	return ": " + s.Description
}

// showConsent shows the consent page.
func (s *Server) showConsent(w http.ResponseWriter, r *http.Request, a *authorization) {
	browser := rand.Text()
	if c, err := r.Cookie(browserCookie); err == nil && len(c.Value) == len(browser) {
		browser = c.Value // so that other pages of this browser stay valid
	}
	handle, now := rand.Text(), s.now()
	view := consentView{
		Action: s.url(pathConsent), Handle: handle, Client: a.client.title(), ID: oauthserver.Printable(a.client.ID), Document: a.client.document,
		Stranger: a.client.unknown, Target: oauthserver.RedirectTarget(a.redirect), Resource: a.resource, Subject: s.userOf(r),
	}
	s.mu.Lock()
	s.pending.put(handle, &pending{a, browser}, now.Add(consentLife), now)
	allowed, _ := s.consented.get(a.client.ID+" "+a.resource, now)
	for _, name := range a.scopes {
		view.Scopes = append(view.Scopes, scopeView{Scope: s.describe(name), New: !allowed[name]})
	}
	s.mu.Unlock()
	http.SetCookie(w, &http.Cookie{
		Name: browserCookie, Value: browser, Path: cmp.Or(s.issuer.EscapedPath(), "/"), HttpOnly: true,
		SameSite: http.SameSiteLaxMode, // also sent when a client links here, so that its pages stay valid; never with a cross-site POST
		Secure:   s.issuer.Scheme == "https", MaxAge: int(consentLife / time.Second),
	})
	s.writePage(w, http.StatusOK, view, "'self' "+source(a.redirect))
}

func (s *Server) describe(name string) Scope {
	for _, scope := range s.scopes {
		if scope.Name == name {
			return scope
		}
	}
	return Scope{Name: name, Description: map[string]string{scopeOpenID: "who you are", scopeOffline: "go on while you are away"}[name]}
}

// serveConsent handles the form of the consent page. It accepts each page once, and from the same
// browser only.
func (s *Server) serveConsent(w http.ResponseWriter, r *http.Request) {
	refuse := func(format string, args ...any) {
		p := oauthserver.NewError(oauthserver.AccessDenied, format, args...)
		p.Status = http.StatusForbidden
		s.writeError(w, p)
	}
	if s.crossOrigin.Check(r) != nil {
		refuse("the answer comes from another page")
		return
	}
	form, p := oauthserver.ReadForm(w, r)
	if p != nil && len(form["scope"]) < 2 { // one checkbox per scope
		s.writeError(w, p)
		return
	}
	browser := ""
	if c, err := r.Cookie(browserCookie); err == nil {
		browser = c.Value
	}
	s.mu.Lock()
	page, ok := s.pending.get(form.Get("page"), s.now())
	if ok = ok && subtle.ConstantTimeCompare([]byte(page.browser), []byte(browser)) == 1; ok {
		s.pending.take(form.Get("page"), s.now())
	}
	s.mu.Unlock()
	if !ok {
		refuse("this page was answered before, is too old, or was shown to another browser: start again in your client")
		return
	}
	granted := slices.DeleteFunc(slices.Clone(page.scopes), func(name string) bool { return !slices.Contains(form["scope"], name) })
	if form.Get("answer") != "allow" || len(granted) == 0 && len(page.scopes) > 0 {
		s.log.DebugContext(r.Context(), "authorization denied", "client", page.client.ID)
		s.redirect(w, http.StatusSeeOther, page.authorization, url.Values{"error": {oauthserver.AccessDenied}, "error_description": {"the user said no"}})
		return
	}
	s.approve(w, r, http.StatusSeeOther, page.authorization, granted)
}

// writeError shows an error to the user, on a page without links.
func (s *Server) writeError(w http.ResponseWriter, p *oauthserver.Error) {
	status := p.Status
	if status == http.StatusUnauthorized {
		status = http.StatusBadRequest // no authentication is possible here
	}
	s.writePage(w, status, consentView{Problem: p}, "'none'")
}

// writePage writes a page that runs no script, loads nothing, submits its form nowhere else and
// can't be framed.
func (s *Server) writePage(w http.ResponseWriter, status int, view consentView, formAction string) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src "+s.style+"; form-action "+formAction+"; frame-ancestors 'none'; base-uri 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin") // with no-referrer, browsers hide that the form is same-origin
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	w.WriteHeader(status)
	if err := consentPage(view).Render(context.Background(), w); err != nil {
		s.log.Debug("the client went away", "error", err)
	}
}

// source is the CSP source expression of a redirect URI: browsers apply form-action to redirects
// after a form. The grammar has no IPv6 addresses.
func source(redirect string) string {
	u, err := url.Parse(redirect)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || strings.Contains(u.Host, "[") {
		scheme, _, _ := strings.Cut(redirect, ":")
		return scheme + ":"
	}
	return u.Scheme + "://" + u.Host
}

package authtest

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	_ "embed" // the page is part of the binary
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"drawbridge/gateway/origin"
)

//go:embed consent.html
var consentPage string

//go:embed consent.css
var consentStyle string

// consentLife is how long a page waits for its answer.
const consentLife = 10 * time.Minute

// browserCookie ties a page to the browser that got it. It can't have the prefix __Host-, since loopback is http.
const browserCookie = "authtest_browser"

// pending is a consent page that was shown.
type pending struct {
	*authorization
	browser string // the cookie's value
}

// consentView is what the page shows.
type consentView struct {
	Style    template.CSS
	Problem  *problem // instead of everything else
	Action   string
	Handle   string
	Client   string
	ID       string
	Document string
	Stranger bool
	Target   string // where the answer goes
	Resource string
	Subject  string
	Scopes   []scopeView
}

type scopeView struct {
	Scope
	New bool
}

// newPages returns the page and the CSP source expression of its style.
func newPages() (*template.Template, string) {
	sum := sha256.Sum256([]byte(consentStyle))
	return template.Must(template.New("page").Parse(consentPage)), "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// ask shows the consent page.
func (s *Server) ask(w http.ResponseWriter, r *http.Request, a *authorization) {
	browser := rand.Text()
	if c, err := r.Cookie(browserCookie); err == nil && len(c.Value) == len(browser) {
		browser = c.Value // other pages of this browser stay good
	}
	handle, now := rand.Text(), s.now()
	view := consentView{
		Action: s.url(pathConsent), Handle: handle, Client: a.client.title(), ID: shown(a.client.ID), Document: a.client.document,
		Stranger: a.client.stranger, Target: target(a.redirect), Resource: a.resource, Subject: s.subject,
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
		SameSite: http.SameSiteLaxMode, // also sent when a client leads here, so that its pages stay good; never with a foreign POST
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

// serveConsent takes the answer. It comes from the page and from the browser that was shown it, once.
func (s *Server) serveConsent(w http.ResponseWriter, r *http.Request) {
	refuse := func(format string, args ...any) {
		p := newProblem(accessDenied, format, args...)
		p.status = http.StatusForbidden
		s.writeError(w, p)
	}
	if s.crossOrigin.Check(r) != nil {
		refuse("the answer comes from another page")
		return
	}
	form, p := readForm(w, r)
	if p != nil && len(form["scope"]) < 2 { // one box for each scope
		s.writeError(w, p)
		return
	}
	browser := ""
	if c, err := r.Cookie(browserCookie); err == nil {
		browser = c.Value
	}
	s.mu.Lock()
	page, ok := s.pending.get(form.get("page"), s.now())
	if ok = ok && subtle.ConstantTimeCompare([]byte(page.browser), []byte(browser)) == 1; ok {
		s.pending.take(form.get("page"), s.now())
	}
	s.mu.Unlock()
	if !ok {
		refuse("this page was answered before, is too old, or was shown to another browser: start again in your client")
		return
	}
	granted := slices.DeleteFunc(slices.Clone(page.scopes), func(name string) bool { return !slices.Contains(form["scope"], name) })
	if form.get("answer") != "allow" || len(granted) == 0 && len(page.scopes) > 0 {
		s.log.DebugContext(r.Context(), "authorization denied", "client", page.client.ID)
		s.redirect(w, http.StatusSeeOther, page.authorization, url.Values{"error": {accessDenied}, "error_description": {"the user said no"}})
		return
	}
	s.approve(w, r, http.StatusSeeOther, page.authorization, granted)
}

// writeError tells the user what is wrong. Nothing on the page leads anywhere.
func (s *Server) writeError(w http.ResponseWriter, p *problem) {
	status := p.status
	if status == http.StatusUnauthorized {
		status = http.StatusBadRequest // there is nothing to authenticate with
	}
	s.writePage(w, status, consentView{Problem: p}, "'none'")
}

// writePage writes a page that runs no script, loads nothing, sends its form nowhere else and can't be framed.
func (s *Server) writePage(w http.ResponseWriter, status int, view consentView, formAction string) {
	view.Style = template.CSS(consentStyle)
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src "+s.style+"; form-action "+formAction+"; frame-ancestors 'none'; base-uri 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin") // with no-referrer, browsers hide from us that the form is our own
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	w.WriteHeader(status)
	if err := s.page.Execute(w, view); err != nil {
		s.log.Debug("the client went away", "error", err)
	}
}

// target is what the page says about where the answer goes.
func target(redirect string) string {
	u, err := url.Parse(redirect)
	switch {
	case err != nil:
		return redirect
	case u.Scheme != "http" && u.Scheme != "https":
		return "the application that opens " + u.Scheme + ": links"
	case origin.Loopback(u.Hostname()):
		return "an application on this machine (" + u.Host + ")"
	}
	return u.Host
}

// source is the CSP source expression of a redirect URI: browsers hold redirects after a form against form-action. The
// grammar has no IPv6 addresses.
func source(redirect string) string {
	u, err := url.Parse(redirect)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || strings.Contains(u.Host, "[") {
		scheme, _, _ := strings.Cut(redirect, ":")
		return scheme + ":"
	}
	return u.Scheme + "://" + u.Host
}

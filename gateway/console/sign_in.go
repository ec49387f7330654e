package console

import (
	"errors"
	"math"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"drawbridge/auth/relyingparty"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/console/signin"
)

// signInData is what the page to sign in shows.
type signInData struct {
	Tokens    bool   // a token can sign in
	Provider  string // host of the OpenID provider; "" if there is none
	Next      string // where to go afterwards
	Problem   string // why the last attempt failed
	SignedOut bool   // just now
}

// signedInData is what the page after a sign-in at the provider shows.
type signedInData struct {
	Next string // where to go
}

func (c *Console) signInPage(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if c.session(r) != nil {
		http.Redirect(w, r, nextPage(q.Get("next")), http.StatusSeeOther)
		return
	}
	d := c.signInData(q.Get("next"), "")
	d.SignedOut = q.Has("out")
	c.render(w, r, d)
}

func (c *Console) signInData(next, problem string) signInData {
	a := &c.o.Config().Admin
	d := signInData{Tokens: signin.NewTokens(a).Any(), Next: nextPage(next), Problem: problem}
	if o := a.Console.OIDC; o != nil {
		d.Provider = o.Issuer.URL().Host
	}
	return d
}

// signIn signs in with a token.
func (c *Console) signIn(w http.ResponseWriter, r *http.Request) {
	next, token := r.PostFormValue("next"), strings.TrimSpace(r.PostFormValue("token"))
	var who signin.Identity
	var ok bool
	address, certain := c.o.Address(r)
	wait := c.failures.Attempt(address, certain, func() bool {
		who, ok = signin.NewTokens(&c.o.Config().Admin).Identity(token)
		return ok
	})
	switch {
	case wait > 0:
		c.tooManyFailures(w, r, next, wait)
	case !ok:
		c.o.Log.Warn("a sign-in to the console failed", "reason", "no such token", "address", c.address(r).String())
		c.renderStatus(w, r, http.StatusUnauthorized, c.signInData(next, "The token is not valid."))
	default:
		c.begin(w, r, who)
		http.Redirect(w, r, nextPage(next), http.StatusSeeOther)
	}
}

// begin begins a session.
func (c *Console) begin(w http.ResponseWriter, r *http.Request, who signin.Identity) {
	c.sessions.Begin(w, r, who, c.o.Config().Admin.ConsoleSecure())
	c.o.Log.Info("signed in to the console", "name", who.Name, "role", who.Role.String(), "address", c.address(r).String())
}

// tooManyFailures answers an attempt after too many that failed.
func (c *Console) tooManyFailures(w http.ResponseWriter, r *http.Request, next string, wait time.Duration) {
	seconds := int(math.Ceil(wait.Seconds()))
	w.Header().Set("Retry-After", strconv.Itoa(seconds))
	c.renderStatus(w, r, http.StatusTooManyRequests,
		c.signInData(next, "There were too many failed attempts from your address. Try again in "+strconv.Itoa(seconds)+" seconds."))
}

// address returns the address of a client; the zero address if it has none.
func (c *Console) address(r *http.Request) netip.Addr {
	a, _ := c.o.Address(r)
	return a
}

// signInAtProvider sends a browser to the OpenID provider. It is a link and not a form, because form-action of the content
// security policy also holds for redirects after a form. The provider sends the browser back to the console's URL, so the
// flow begins there: cookies of localhost are not sent to 127.0.0.1.
func (c *Console) signInAtProvider(w http.ResponseWriter, r *http.Request) {
	a, next := &c.o.Config().Admin, nextPage(r.URL.Query().Get("next"))
	if a.Console.OIDC == nil {
		c.fail(w, r, http.StatusNotFound, "There is no OpenID provider: the configuration has no admin.console.oidc.")
		return
	}
	base := a.ConsoleURL()
	if _, host, _ := strings.Cut(base, "://"); !strings.EqualFold(r.Host, host) && !r.URL.Query().Has("moved") {
		http.Redirect(w, r, base+r.URL.Path+"?"+url.Values{"next": {next}, "moved": {"1"}}.Encode(), http.StatusSeeOther)
		return
	}
	location, err := c.provider.Start(w, r, a, next)
	if err != nil {
		c.signInFailed(w, r, next, err)
		return
	}
	http.Redirect(w, r, location, http.StatusSeeOther)
}

// signInCallback serves the redirect URI. It begins a session by a GET, which OAuth 2.0 demands; the state, in a cookie of
// this browser, takes the place of the CSRF token. The response is a page and no redirect: browsers count a redirect as
// part of the provider's navigation, for which they send no cookie that is Strict.
func (c *Console) signInCallback(w http.ResponseWriter, r *http.Request) {
	a := &c.o.Config().Admin
	if a.Console.OIDC == nil {
		c.fail(w, r, http.StatusNotFound, "There is no OpenID provider: the configuration has no admin.console.oidc.")
		return
	}
	// Failures with tokens do not count here. Those of this kind cost requests to the provider, and keep out only who caused them.
	address, certain := c.o.Address(r)
	if wait := c.refusals.Wait(address); wait > 0 && certain {
		c.tooManyFailures(w, r, "", wait)
		return
	}
	who, next, err := c.provider.Finish(w, r, a)
	admin.ExtendDeadline(w)
	if err != nil {
		c.signInFailed(w, r, next, err)
		return
	}
	c.begin(w, r, who)
	next = nextPage(next)
	w.Header().Set("Refresh", "0; url="+next)
	c.render(w, r, signedInData{next})
}

// signInFailed answers a sign-in at the provider that failed.
func (c *Console) signInFailed(w http.ResponseWriter, r *http.Request, next string, err error) {
	c.o.Log.Warn("a sign-in to the console failed", "reason", err, "address", c.address(r).String())
	var failure *relyingparty.Failure
	if !errors.As(err, &failure) {
		failure = &relyingparty.Failure{Reason: "The sign-in failed. The log says why.", Unavailable: true}
	}
	status := http.StatusBadGateway
	if !failure.Unavailable {
		status = http.StatusForbidden
		c.refusals.Count(c.address(r))
	}
	c.renderStatus(w, r, status, c.signInData(next, failure.Reason))
}

func (c *Console) signOut(w http.ResponseWriter, r *http.Request) {
	c.sessions.End(w, r, c.o.Config().Admin.ConsoleSecure())
	c.o.Log.Info("signed out of the console", "name", c.session(r).Name)
	http.Redirect(w, r, "/console/signin?out", http.StatusSeeOther)
}

// nextPage returns the page to go to after signing in: a path of the console, whatever the request says.
func nextPage(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || path.Clean(u.Path) != u.Path || !strings.HasPrefix(u.Path, "/console/") || strings.HasPrefix(u.Path, "/console/sign") {
		return "/console"
	}
	return (&url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}).String()
}

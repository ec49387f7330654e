package console

import (
	"net/http"
	"net/url"
	"strings"

	"drawbridge/gateway/console/signin"
)

// signInData is what the page to sign in shows.
type signInData struct {
	Tokens  bool   // a token can sign in
	Next    string // where to go afterwards
	Problem string // why the last attempt failed
}

func (c *Console) signInPage(w http.ResponseWriter, r *http.Request) {
	if c.session(r) != nil {
		http.Redirect(w, r, nextPage(r.URL.Query().Get("next")), http.StatusSeeOther)
		return
	}
	c.render(w, r, "signin", c.signInData(r.URL.Query().Get("next"), ""))
}

func (c *Console) signInData(next, problem string) signInData {
	return signInData{Tokens: signin.NewTokens(&c.o.Config().Admin).Any(), Next: nextPage(next), Problem: problem}
}

// signIn signs in with a token.
func (c *Console) signIn(w http.ResponseWriter, r *http.Request) {
	next := r.PostFormValue("next")
	who, ok := signin.NewTokens(&c.o.Config().Admin).Identity(strings.TrimSpace(r.PostFormValue("token")))
	if !ok {
		c.o.Log.Warn("somebody failed to sign in to the console: no such token", "address", r.RemoteAddr)
		c.renderStatus(w, r, http.StatusUnauthorized, "signin", c.signInData(next, "That is none of the tokens of this gateway."))
		return
	}
	c.sessions.Begin(w, r, who, c.secure())
	c.o.Log.Info("signed in to the console", "name", who.Name, "role", who.Role.String(), "address", r.RemoteAddr)
	http.Redirect(w, r, nextPage(next), http.StatusSeeOther)
}

func (c *Console) signOut(w http.ResponseWriter, r *http.Request) {
	c.sessions.End(w, r, c.secure())
	http.Redirect(w, r, "/console/signin", http.StatusSeeOther)
}

// secure reports whether browsers reach the console over HTTPS.
func (c *Console) secure() bool {
	u := c.o.Config().Admin.Console.URL
	return u != nil && u.URL().Scheme == "https"
}

// nextPage returns the page to go to after signing in: a path of the console, whatever the request says.
func nextPage(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(u.Path, "/console/") || strings.HasPrefix(u.Path, "/console/sign") {
		return "/console"
	}
	return (&url.URL{Path: u.Path, RawQuery: u.RawQuery}).String()
}

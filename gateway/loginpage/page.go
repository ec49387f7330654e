package loginpage

import (
	"bytes"
	"context"
	_ "embed" // the style is part of the binary
	"net/http"

	"github.com/a-h/templ"

	"drawbridge/auth/oauthserver"
	"drawbridge/openapi/origin"
)

//go:embed page.css
var style string

// policy permits the style of the pages, by its digest, and forms to the gateway itself. Nothing is executed or loaded, and no page can
// frame another.
var policy = "default-src 'none'; style-src " + oauthserver.StyleSource(style) + "; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// Message is the data of a page without a form.
type Message struct {
	Title, Text string
	Code        string // error code of OAuth; "" if there is none
	Link        string // "" if there is none
	LinkText    string
}

// Write writes a page.
func Write(w http.ResponseWriter, r *http.Request, status int, page templ.Component) {
	var b bytes.Buffer
	if err := page.Render(context.WithoutCancel(r.Context()), &b); err != nil {
		http.Error(w, "this page can't be rendered", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin") // with no-referrer, browsers hide that the form is same-origin
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}

// Continue sends the browser on after a form. It is a page and no redirect: form-action of the content security policy holds for redirects
// after a form as well, and the hosts of providers are unknown.
func Continue(w http.ResponseWriter, r *http.Request, host, location string) {
	w.Header().Set("Refresh", "0; url="+location)
	Write(w, r, http.StatusOK, Show(Message{Title: "Sign in", Text: "You sign in at " + host + " now.", Link: location, LinkText: "Continue"}))
}

var crossOrigin = http.NewCrossOriginProtection()

// Posted reports whether a form comes from a page of the gateway at a public URL. Unlike [http.CrossOriginProtection], which lets clients
// pass that are no browsers, it demands that the browser says so.
func Posted(r *http.Request, publicURL string) bool {
	if crossOrigin.Check(r) != nil {
		return false
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin"
	}
	from, ok := origin.Parse(r.Header.Get("Origin"))
	own, _ := origin.Parse(publicURL)
	return ok && from == own
}

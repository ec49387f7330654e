package authtest

import (
	"strings"
	"testing"

	"github.com/a-h/templ"
	"golang.org/x/net/html"

	"drawbridge/auth/oauthserver"
)

// TestHostileConsent: no text of a client, a scope or an error becomes markup on the consent page, and the form is sent to no URL that
// runs a script.
func TestHostileConsent(t *testing.T) {
	for _, text := range []string{
		`<script>alert(1)</script>`, `"><script>alert(1)</script>`, `' onmouseover='alert(1)`, `</title><script>alert(1)</script>`, `</style><script>alert(1)</script>`,
		`javascript:alert(1)`, `<!--`, `<form action="https://evil.example/">`, `&lt;script&gt;`, "\x00<script>",
	} {
		view := consentView{
			Action: "javascript:" + text, Handle: text, Client: text, ID: text, Document: text, Stranger: true, Target: text, Resource: text, Subject: text,
			Scopes: []scopeView{{Scope: Scope{Name: text, Description: text}, New: true}},
		}
		failed := consentView{Problem: &oauthserver.Error{Code: text, Description: text}}
		if got, want := elements(t, view), "html head meta meta title style body p h1 p dl dt dd dt dd dt dd dt dd form input p ul li label input code span button button "; got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
		if got, want := elements(t, failed), "html head meta meta title style body p h1 p p code "; got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

// elements returns the elements of the consent page. It has no event handlers, and no URL but that of a form that can't be sent.
func elements(t *testing.T, v consentView) string {
	t.Helper()
	var page strings.Builder
	if err := consentPage(v).Render(t.Context(), &page); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(strings.NewReader(page.String()))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for n := range root.Descendants() {
		if n.Type == html.CommentNode {
			t.Errorf("a comment: %s", n.Data)
		}
		if n.Type != html.ElementNode {
			continue
		}
		b.WriteString(n.Data + " ")
		for _, a := range n.Attr {
			switch {
			case strings.HasPrefix(a.Key, "on"), a.Key == "style", a.Key == "href", a.Key == "src":
				t.Errorf("%s has the attribute %s=%q", n.Data, a.Key, a.Val)
			case a.Key == "action" && a.Val != string(templ.FailedSanitizationURL):
				t.Errorf("the form is sent to %q", a.Val)
			}
		}
	}
	return b.String()
}

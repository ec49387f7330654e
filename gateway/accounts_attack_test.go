package gateway_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestAccountAttacks: nobody connects an account for somebody else, and no login goes on in another browser or twice.
func TestAccountAttacks(t *testing.T) {
	w := newAccountWorld(t, 0)
	g := w.gateway(t.TempDir())
	link := w.link(g, "alice", "list")
	refused := func(name string, b *accountBrowser, method, target string, header http.Header) {
		t.Helper()
		if rec := b.open(method, target, header); rec.Code < 400 || rec.Header().Get("Location") != "" || rec.Header().Get("Refresh") != "" || strings.Contains(rec.Body.String(), connected) {
			t.Errorf("%s: %d %v %s", name, rec.Code, rec.Header(), rec.Body)
		}
	}
	other := w.browser(g, "bob", "bob@shop")
	refused("another user", other, http.MethodGet, other.atIssuer(link), nil)
	alice, stranger := w.browser(g, "alice", "alice@shop"), w.browser(g, "bob", "bob@shop")
	refused("a form of another site", alice, http.MethodPost, link, http.Header{"Sec-Fetch-Site": {"cross-site"}, "Origin": {"https://evil.example.com"}})
	refused("an altered link", alice, http.MethodGet, link[:len(link)-2]+"AA", nil)
	atIssuer := alice.atIssuer(link)
	refused("the login in another browser", stranger, http.MethodGet, atIssuer, nil)
	atService := alice.atService(atIssuer)
	refused("the login at the issuer again", alice, http.MethodGet, atIssuer, nil)
	refused("the login at the service in another browser", stranger, http.MethodGet, atService, nil)
	u, err := url.Parse(atService)
	if err != nil {
		t.Fatal(err)
	}
	mallory := w.browser(g, "alice", "mallory@shop")
	injected, _ := url.Parse(mallory.atService(mallory.atIssuer(w.link(g, "alice", "list"))))
	q := u.Query()
	q.Set("code", injected.Query().Get("code"))
	u.RawQuery = q.Encode()
	refused("the code of another login", alice, http.MethodGet, u.String(), nil)
	refused("a callback without a login", alice, http.MethodGet, atService, nil)
	refused("a service that is none", alice, http.MethodGet, "https://mcp.example.com/account/callback/https://evil.example.com", nil)
	if text := w.call(g, "alice", "list"); strings.Contains(text, "@shop") {
		t.Error(text)
	}
	link = w.link(g, "alice", "list")
	if page := alice.connect(link); !strings.Contains(page.Body.String(), connected) {
		t.Fatal(page.Body)
	}
	refused("a link that was used", alice, http.MethodGet, alice.atService(alice.atIssuer(link)), nil)
	for _, call := range w.calls {
		t.Errorf("the service got %s", call)
	}
}

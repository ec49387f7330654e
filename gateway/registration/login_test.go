package registration

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestLogin: a client registers, the user approves it and signs in at a provider that refuses resource, and the client gets the
// provider's tokens, also refreshed, after a restart and at another replica.
func TestLogin(t *testing.T) {
	w := newWorld(t, "")
	id := w.register(appRedirect)
	b := w.browser()
	page := b.get(authorizeURL(id, nil))
	for _, want := range []string{"Notes", "an application on this machine (127.0.0.1:5000)", "mcp.example.com", "mcp.use"} {
		if !strings.Contains(page.Body.String(), want) {
			t.Errorf("the consent page has no %q:\n%s", want, page.Body)
		}
	}
	next := b.answer(page, "allow", nil)
	callback := b.atProvider(next)
	b.server = w.replica(sealKey) // the callback comes to another replica
	answer := answerOf(t, b.get(callback))
	if answer.Get("state") != "client-state" || answer.Get("iss") != base || answer.Get("code") == "" || len(b.cookies) != 1 {
		t.Fatalf("the client gets %v, the browser keeps %v", answer, b.cookies)
	}
	other := w.replica(sealKey)
	got := tokensOf(t, w.redeem(other, id, answer.Get("code"), url.Values{"resource": {base + "/mcp"}}))
	if got.TokenType != "Bearer" || got.RefreshToken == "" || !strings.Contains(" "+got.Scope+" ", " mcp.use ") {
		t.Errorf("the tokens are %+v", got)
	}
	again := tokensOf(t, w.refreshWith(w.replica(sealKey), id, got.RefreshToken))
	if again.RefreshToken == "" || again.RefreshToken == got.RefreshToken || again.AccessToken == got.AccessToken {
		t.Errorf("refreshed: %+v", again)
	}
	if log := w.log.String(); strings.Contains(log, got.AccessToken) || strings.Contains(log, answer.Get("code")) || strings.Contains(log, providerSecret) {
		t.Errorf("the log has secrets:\n%s", log)
	}
}

// TestNoPath: a client of MCP 2025-03-26 names no resource, and finds the metadata at the root of the host.
func TestNoPath(t *testing.T) {
	w := newWorld(t, "")
	rec := w.browser().get(base + metadataPath)
	var m metadata
	if err := json.Unmarshal(rec.Body.Bytes(), &m); err != nil || m.Issuer != base || m.AuthorizationEndpoint != base+"/authorize" ||
		m.TokenEndpoint != base+"/token" || m.Registration != base+"/register" || rec.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	id := w.register(appRedirect)
	tokensOf(t, w.redeem(w.Server, id, w.browser().login(id, url.Values{"resource": {""}, "scope": {""}}).Get("code"), nil))
}

// TestMetadataDocument: a client names a metadata document, which is fetched once.
func TestMetadataDocument(t *testing.T) {
	w := newWorld(t, "")
	fetches := 0
	const id = "https://notes.example.com/client.json"
	w.document = &http.Client{Transport: roundTrip(func(r *http.Request) *httptest.ResponseRecorder {
		fetches++
		rec := httptest.NewRecorder()
		rec.Header().Set("Content-Type", "application/json")
		_, _ = rec.WriteString(`{"client_id":"` + id + `","client_name":"Notes","redirect_uris":["` + appRedirect + `"],"grant_types":["authorization_code","refresh_token"]}`)
		return rec
	})}
	w.Server = w.replica(sealKey)
	b := w.browser()
	if page := b.get(authorizeURL(id, nil)); !strings.Contains(page.Body.String(), "described by notes.example.com") {
		t.Errorf("%d %s", page.Code, page.Body)
	}
	got := tokensOf(t, w.redeem(w.Server, id, b.login(id, nil).Get("code"), nil))
	tokensOf(t, w.refreshWith(w.Server, id, got.RefreshToken))
	if fetches != 1 {
		t.Errorf("%d fetches", fetches)
	}
}

type roundTrip func(*http.Request) *httptest.ResponseRecorder

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r).Result(), nil }

// TestDenied: the client learns it at once on the user's machine, and by a link elsewhere; nothing is sent to the provider.
func TestDenied(t *testing.T) {
	w := newWorld(t, "")
	const remote = "https://notes.example.com/cb?from=gateway"
	id := w.register(appRedirect, remote)
	for redirect, refresh := range map[string]bool{appRedirect: true, remote: false} {
		b := w.browser()
		page := b.get(authorizeURL(id, url.Values{"redirect_uri": {redirect}}))
		if strings.Contains(page.Body.String(), "leaves your machine") == refresh {
			t.Errorf("%s: %s", redirect, page.Body)
		}
		denied := b.answer(page, "deny", nil)
		if (denied.Header().Get("Refresh") != "") != refresh || !strings.Contains(denied.Body.String(), "error=access_denied") || denied.Header().Get("Location") != "" {
			t.Errorf("%s: %v %s", redirect, denied.Header(), denied.Body)
		}
		if len(b.cookies) != 1 {
			t.Errorf("the browser keeps %v", b.cookies)
		}
	}
}

// TestOff: without auth.registration nothing is served.
func TestOff(t *testing.T) {
	w := newWorld(t, "")
	w.config.Auth.Registration = nil
	for _, path := range []string{metadataPath, authorizePath, tokenPath, registerPath, callbackPath} {
		if rec := w.browser().get(base + path); rec.Code != http.StatusNotFound {
			t.Errorf("%s = %d", path, rec.Code)
		}
	}
}

// TestParallelLogins: a browser logs in with two clients at a time.
func TestParallelLogins(t *testing.T) {
	w := newWorld(t, "")
	b, one, two := w.browser(), w.register(appRedirect), w.register(appRedirect, "com.example.notes:/cb")
	first, second := b.get(authorizeURL(one, nil)), b.get(authorizeURL(two, nil))
	toFirst, toSecond := b.atProvider(b.answer(first, "allow", nil)), b.atProvider(b.answer(second, "allow", nil))
	tokensOf(t, w.redeem(w.Server, one, answerOf(t, b.get(toFirst)).Get("code"), nil))
	tokensOf(t, w.redeem(w.Server, two, answerOf(t, b.get(toSecond)).Get("code"), nil))
}

// TestProviderDown: a refresh token survives an outage of the provider.
func TestProviderDown(t *testing.T) {
	w := newWorld(t, "")
	id := w.register(appRedirect)
	got := tokensOf(t, w.redeem(w.Server, id, w.browser().login(id, nil).Get("code"), nil))
	up := w.client.Transport
	w.client.Transport = refusing{}
	if rec := w.refreshWith(w.Server, id, got.RefreshToken); rec.Code != http.StatusServiceUnavailable || rec.Header().Get("Retry-After") == "" {
		t.Errorf("while the provider is down: %d %s", rec.Code, rec.Body)
	}
	w.client.Transport = up
	tokensOf(t, w.refreshWith(w.Server, id, got.RefreshToken))
}

// TestScopes: those that clients request get the prefix of the provider, unless they are those of OpenID Connect.
func TestScopes(t *testing.T) {
	w := newWorld(t, "")
	b, id := w.browser(), w.register(appRedirect)
	next := b.answer(b.get(authorizeURL(id, url.Values{"scope": {"mcp.use orders.write email offline_access"}})), "allow", nil)
	_, location, _ := strings.Cut(next.Header().Get("Refresh"), "url=")
	u, err := url.Parse(location)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if q.Get("scope") != "openid offline_access api://gateway/mcp.use api://gateway/orders.write email" || q.Has("resource") || q.Get("code_challenge_method") != "S256" ||
		q.Get("client_id") != "gateway" || q.Get("redirect_uri") != base+callbackPath || q.Get("state") == "client-state" || q.Get("nonce") == "" {
		t.Errorf("the provider is asked %v", q)
	}
	w.config.Auth.Registration.ForwardScopes = false
	next = b.answer(b.get(authorizeURL(id, nil)), "allow", nil)
	if _, location, _ = strings.Cut(next.Header().Get("Refresh"), "url="); !strings.Contains(location, "&scope=openid+offline_access&") {
		t.Errorf("without forward_scopes the provider is asked %s", location)
	}
}

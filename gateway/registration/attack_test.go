package registration

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"drawbridge/auth/oauthserver"
)

// refusedPage fails unless a response is a page that refuses something and sends the browser nowhere.
func refusedPage(t *testing.T, what string, rec *httptest.ResponseRecorder) {
	t.Helper()
	if rec.Code < 400 || rec.Header().Get("Location") != "" || rec.Header().Get("Refresh") != "" || field(rec) != "" || strings.Contains(rec.Body.String(), "<a ") {
		t.Errorf("%s: %d %v %s", what, rec.Code, rec.Header(), rec.Body)
	}
}

// refusedToken fails unless a response is an error of the token endpoint.
func refusedToken(t *testing.T, what, code string, rec *httptest.ResponseRecorder) {
	t.Helper()
	if errorOf(rec) != code || strings.Contains(rec.Body.String(), "access_token") {
		t.Errorf("%s: %d %s, want %s", what, rec.Code, rec.Body, code)
	}
}

// TestRedirectURIAttacks: a redirect URI is one of those registered, byte for byte, except for the port of a loopback address
// (RFC 9700 section 4.1, RFC 8252 section 7.3).
func TestRedirectURIAttacks(t *testing.T) {
	w := newWorld(t, "")
	id := w.register("http://127.0.0.1:5000/callback", "https://app.example.com/cb?tenant=1", "com.example.notes:/cb")
	for name, redirect := range map[string]string{
		"another host":                 "https://evil.example/cb?tenant=1",
		"a longer host":                "https://app.example.com.evil.example/cb?tenant=1",
		"a user that looks like it":    "https://app.example.com@evil.example/cb?tenant=1",
		"a backslash":                  `https://app.example.com\@evil.example/cb?tenant=1`,
		"another path":                 "https://app.example.com/open?to=evil",
		"a path below":                 "https://app.example.com/cb/x?tenant=1",
		"a path that climbs":           "https://app.example.com/cb/../open?tenant=1",
		"an encoded path that climbs":  "https://app.example.com/cb/%2e%2e/open?tenant=1",
		"another query":                "https://app.example.com/cb?tenant=1&next=//evil.example",
		"no query":                     "https://app.example.com/cb",
		"a fragment":                   "https://app.example.com/cb?tenant=1#x",
		"upper case":                   "https://APP.example.com/cb?tenant=1",
		"a port of https":              "https://app.example.com:8443/cb?tenant=1",
		"plain http":                   "http://app.example.com/cb?tenant=1",
		"another name of this machine": "http://localhost:5000/callback",
		"a host that begins as it":     "http://127.0.0.1.evil.example:5000/callback",
		"a user of loopback":           "http://127.0.0.1:5000@evil.example/callback",
		"a decimal address":            "http://2130706433:5000/callback",
		"any address":                  "http://0.0.0.0:5000/callback",
		"a mapped address":             "http://[::ffff:127.0.0.1]:5000/callback",
		"https on loopback":            "https://127.0.0.1:5000/callback",
		"another path on loopback":     "http://127.0.0.1:5000/other",
		"another scheme":               "com.example.note:/cb",
		"a longer scheme":              "com.example.notes.evil:/cb",
		"script":                       "javascript:alert(1)",
		"a line break":                 "http://127.0.0.1:5000/callback\r\nX: y",
	} {
		refusedPage(t, name, w.browser().get(authorizeURL(id, url.Values{"redirect_uri": {redirect}})))
	}
	twice := authorizeURL(id, nil) + "&redirect_uri=" + url.QueryEscape("https://evil.example/")
	refusedPage(t, "two redirect URIs", w.browser().get(twice))
	refusedPage(t, "no redirect URI", w.browser().get(authorizeURL(id, url.Values{"redirect_uri": {""}})))
	if page := w.browser().get(authorizeURL(id, url.Values{"redirect_uri": {"http://127.0.0.1:61234/callback"}})); field(page) == "" {
		t.Errorf("another port of loopback: %d %s", page.Code, page.Body)
	}
}

// TestRegistrationAttacks: nobody registers where scripts run or where others read along, and not more than a client ID can hold.
func TestRegistrationAttacks(t *testing.T) {
	w := newWorld(t, "")
	for name, body := range map[string]string{
		"script":                 `{"redirect_uris":["javascript:alert(1)"]}`,
		"data":                   `{"redirect_uris":["data:text/html,x"]}`,
		"plain http":             `{"redirect_uris":["http://app.example.com/cb"]}`,
		"a private address":      `{"redirect_uris":["http://10.0.0.1/cb"]}`,
		"a policy in the host":   `{"redirect_uris":["https://a.example;form-action *"]}`,
		"a user":                 `{"redirect_uris":["https://a@b.example/"]}`,
		"a fragment":             `{"redirect_uris":["https://app.example.com/#x"]}`,
		"none":                   `{"redirect_uris":[]}`,
		"members twice":          `{"redirect_uris":["https://a.example/"],"redirect_uris":["https://b.example/"]}`,
		"too many":               `{"redirect_uris":["https://a.example/` + strings.Repeat(`","https://a.example/`, 16) + `"]}`,
		"too long":               `{"redirect_uris":["https://a.example/` + strings.Repeat("a", 2000) + `","https://a.example/` + strings.Repeat("b", 100) + `"]}`,
		"too large":              `{"redirect_uris":["https://a.example/"],"x":"` + strings.Repeat("a", 64<<10) + `"}`,
		"no code":                `{"redirect_uris":["https://a.example/"],"grant_types":["client_credentials"]}`,
		"a text for a list":      `{"redirect_uris":"https://a.example/"}`,
		"implicit tokens":        `{"redirect_uris":["https://a.example/"],"response_types":["token"]}`,
		"a scope with a newline": `{"redirect_uris":["https://a.example/"],"scope":"a\nb"}`,
	} {
		if rec := w.post(w.Server, registerPath, "application/json", body); rec.Code != http.StatusBadRequest || errorOf(rec) == "" {
			t.Errorf("%s: %d %s", name, rec.Code, rec.Body)
		}
	}
	if rec := w.post(w.Server, registerPath, "text/plain", `{"redirect_uris":["https://a.example/"]}`); rec.Code != http.StatusBadRequest {
		t.Errorf("a form of another site: %d", rec.Code) // text/plain needs no preflight
	}
}

// TestRedirectHosts: redirect_hosts restricts where https redirect URIs lead, also those that were registered before.
func TestRedirectHosts(t *testing.T) {
	w := newWorld(t, "")
	id := w.register("https://evil.example/cb")
	w.config = w.load(", redirect_hosts: [app.example.com]")
	refusedPage(t, "registered before", w.browser().get(authorizeURL(id, url.Values{"redirect_uri": {"https://evil.example/cb"}})))
	for redirect, want := range map[string]int{
		"https://evil.example/cb": 400, "https://x.app.example.com/cb": 400, "https://app.example.com/cb": 201, "http://localhost:1/cb": 201, "com.example.notes:/cb": 201,
	} {
		if rec := w.post(w.Server, registerPath, "application/json", `{"redirect_uris":["`+redirect+`"]}`); rec.Code != want {
			t.Errorf("%s: %d %s", redirect, rec.Code, rec.Body)
		}
	}
}

// TestOpenRedirector: no request makes the gateway send a browser anywhere before the user has decided (RFC 9700 section 4.11.2).
func TestOpenRedirector(t *testing.T) {
	w := newWorld(t, "")
	id := w.register(appRedirect)
	for name, change := range map[string]url.Values{
		"an invalid scope":            {"scope": {`a"b`}},
		"another response type":       {"response_type": {"token"}},
		"no response type":            {"response_type": {""}},
		"another response mode":       {"response_mode": {"fragment"}},
		"a request object":            {"request": {"e30.e30."}},
		"a reference to a request":    {"request_uri": {"https://evil.example/r"}},
		"a foreign resource":          {"resource": {"https://evil.example/mcp"}},
		"two resources":               {"resource": {base + "/mcp", base + "/mcp/shop"}},
		"no page":                     {"prompt": {"none"}},
		"no challenge":                {"code_challenge": {""}},
		"a plain challenge":           {"code_challenge_method": {"plain"}},
		"a challenge without method":  {"code_challenge_method": {""}},
		"a challenge of another form": {"code_challenge": {"short"}},
		"a long state":                {"state": {strings.Repeat("s", 1025)}},
		"a binding to a key":          {"dpop_jkt": {strings.Repeat("a", 43)}},
		"an answer in the query":      {"answer": {"allow"}, "client_id": {""}},
		"an unknown client":           {"client_id": {"AAAA"}},
		"a long client ID":            {"client_id": {strings.Repeat("A", 5000)}},
	} {
		b := w.browser()
		refusedPage(t, name, b.get(authorizeURL(id, change)))
		if len(b.cookies) > 0 {
			t.Errorf("%s: the browser gets %v", name, b.cookies)
		}
	}
	if page := w.browser().get(authorizeURL(id, url.Values{"answer": {"allow"}})); field(page) == "" || page.Header().Get("Refresh") != "" {
		t.Errorf("a GET approves: %v", page.Header())
	}
}

// TestConsentAttacks: only the user approves, on the gateway's own page, in the browser that loaded it (MCP security best practices,
// confused deputy).
func TestConsentAttacks(t *testing.T) {
	w := newWorld(t, "")
	id := w.register(appRedirect)
	victim := w.browser()
	page := victim.get(authorizeURL(id, nil))
	h := page.Header()
	if policy := h.Get("Content-Security-Policy"); !strings.Contains(policy, "frame-ancestors 'none'") || !strings.Contains(policy, "default-src 'none'") ||
		!strings.Contains(policy, "form-action 'self';") || h.Get("X-Frame-Options") != "DENY" || h.Get("Cache-Control") != "no-store" {
		t.Errorf("another page can frame this one: %v", h)
	}
	for name := range victim.cookies {
		if strings.Contains(name, "login") {
			t.Errorf("there is a login before the approval: %s", name)
		}
	}
	set := page.Result().Cookies()[0]
	if set.Name != "__Host-drawbridge_consent" || !set.Secure || !set.HttpOnly || set.SameSite != http.SameSiteLaxMode || set.Path != "/" || set.Domain != "" {
		t.Errorf("the cookie of the page is %v", set)
	}
	for name, header := range map[string]http.Header{
		"another site":        {"Sec-Fetch-Site": {"cross-site"}, "Origin": {"https://evil.example"}},
		"a sibling":           {"Sec-Fetch-Site": {"same-site"}, "Origin": {"https://app.example.com"}},
		"no page":             {"Sec-Fetch-Site": {"none"}},
		"another origin":      {"Origin": {"https://evil.example"}},
		"an opaque origin":    {"Origin": {"null"}},
		"another port":        {"Origin": {base + ":8443"}},
		"a program":           {},
		"a header of its own": {"Origin": {base + ".evil.example"}},
	} {
		refusedPage(t, name, victim.answer(page, "allow", header))
	}
	attacker := w.browser()
	own := attacker.get(authorizeURL(w.register("https://evil.example/cb"), url.Values{"redirect_uri": {"https://evil.example/cb"}}))
	refusedPage(t, "a page of another browser", victim.submit(url.Values{"request": {field(own)}, "answer": {"allow"}}, nil))
	refusedPage(t, "a browser without cookie", w.browser().answer(page, "allow", nil))
	refusedPage(t, "no request", victim.submit(url.Values{"answer": {"allow"}}, nil))
	refusedPage(t, "a client ID as request", victim.submit(url.Values{"request": {id}, "answer": {"allow"}}, nil))
	refusedPage(t, "an altered request", victim.submit(url.Values{"request": {field(page)[:len(field(page))-4] + "AAAA"}, "answer": {"allow"}}, nil))
	if next := victim.answer(page, "allow", nil); next.Header().Get("Refresh") == "" {
		t.Errorf("the page itself: %d %s", next.Code, next.Body)
	}
	w.now = w.now.Add(consentLifetime)
	refusedPage(t, "an old page", victim.answer(page, "allow", nil))
}

// TestNameAttacks: what a client calls itself is text, short, and can't imitate another by characters that are not seen.
func TestNameAttacks(t *testing.T) {
	w := newWorld(t, "")
	rec := w.post(w.Server, registerPath, "application/json",
		`{"redirect_uris":["`+appRedirect+`"],"client_name":"<script>alert(1)</script>\u202e\u200b`+strings.Repeat("x", 500)+`"}`)
	_, rest, _ := strings.Cut(rec.Body.String(), `"client_id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	page := w.browser().get(authorizeURL(id, url.Values{"scope": {"<b>"}})).Body.String()
	if field := strings.Count(page, "<script"); field > 0 || strings.Contains(page, "<b>") || strings.ContainsAny(page, "\u202e\u200b") || strings.Contains(page, strings.Repeat("x", 101)) {
		t.Errorf("the page is %s", page)
	}
}

// TestCallbackAttacks: a response of the provider counts once, in the browser that began the login, and from this provider.
func TestCallbackAttacks(t *testing.T) {
	w := newWorld(t, "")
	id := w.register(appRedirect)
	begin := func() (*browser, string) {
		b := w.browser()
		return b, b.atProvider(b.answer(b.get(authorizeURL(id, nil)), "allow", nil))
	}
	change := func(callback, name, value string) string {
		u, err := url.Parse(callback)
		if err != nil {
			t.Fatal(err)
		}
		q := u.Query()
		q.Set(name, value)
		u.RawQuery = q.Encode()
		return u.String()
	}
	b, callback := begin()
	refusedPage(t, "another browser (login CSRF)", w.browser().get(callback))
	other, _ := begin()
	refusedPage(t, "another login's browser", other.get(callback))
	answerOf(t, b.get(callback))
	refusedPage(t, "a replayed state", b.get(callback))

	b, callback = begin()
	refusedPage(t, "another state", b.get(change(callback, "state", strings.Repeat("a", 43))))
	refusedPage(t, "no state", b.get(change(callback, "state", "")))
	refusedPage(t, "a parameter twice", b.get(callback+"&code=x"))
	answerOf(t, b.get(callback))

	b, callback = begin()
	if got := answerOf(t, b.get(change(callback, "iss", "https://other.example.com"))); got.Get("code") != "" || got.Get("error") != "server_error" {
		t.Errorf("mix-up: the client gets %v", got)
	}
	b, callback = begin()
	if got := answerOf(t, b.get(change(callback, "error", "access_denied"))); got.Get("code") != "" || got.Get("error") != "access_denied" || got.Get("iss") != base || got.Get("state") != "client-state" {
		t.Errorf("an error of the provider: the client gets %v", got)
	}
	b, callback = begin()
	if got := answerOf(t, b.get(change(callback, "error", `x" injected`))); got.Get("error") != "server_error" {
		t.Errorf("an invented error: the client gets %v", got)
	}

	// Code injection: the code of the attacker's login in the victim's, and the other way round, fails at the provider by the gateway's
	// PKCE, and would fail by the nonce.
	_, stolen := begin()
	u, err := url.Parse(stolen)
	if err != nil {
		t.Fatal(err)
	}
	b, callback = begin()
	injected := answerOf(t, b.get(change(callback, "code", u.Query().Get("code"))))
	refusedToken(t, "an injected code", "invalid_grant", w.redeem(w.Server, id, injected.Get("code"), nil))

	b, callback = begin()
	for name, value := range b.cookies {
		b.cookies[name] = value[:len(value)-4] + "AAAA"
	}
	refusedPage(t, "an altered cookie", b.get(callback))
	b, callback = begin()
	b.server = w.replica("")
	refusedPage(t, "a cookie of another key", b.get(callback))
	b, callback = begin()
	w.now = w.now.Add(11 * time.Minute)
	refusedPage(t, "an old login", b.get(callback))
}

// TestCodeAttacks: a code is good once, for its client, redirect URI and verifier.
func TestCodeAttacks(t *testing.T) {
	w := newWorld(t, "")
	id, otherID := w.register(appRedirect), w.register(appRedirect)
	code := w.browser().login(id, nil).Get("code")
	for name, change := range map[string]url.Values{
		"another client":       {"client_id": {otherID}},
		"another redirect URI": {"redirect_uri": {"http://127.0.0.1:5001/callback"}},
		"another verifier":     {"code_verifier": {strings.Repeat("a", 43)}},
		"an altered code":      {"code": {code[:len(code)-4] + "AAAA"}},
		"a cut code":           {"code": {code[:len(code)/2]}},
		"a client ID as code":  {"code": {id}},
	} {
		refusedToken(t, name, "invalid_grant", w.redeem(w.Server, id, code, change))
	}
	for name, change := range map[string]url.Values{
		"no verifier (PKCE downgrade)": {"code_verifier": {""}},
		"a short verifier":             {"code_verifier": {"a"}},
		"no redirect URI":              {"redirect_uri": {""}},
		"the code twice":               {"code": {code, code}},
		"no client":                    {"client_id": {""}},
	} {
		refusedToken(t, name, "invalid_request", w.redeem(w.Server, id, code, change))
	}
	refusedToken(t, "another resource", "invalid_target", w.redeem(w.Server, id, code, url.Values{"resource": {base + "/mcp/shop"}}))
	refusedToken(t, "a client that is unknown", "invalid_client", w.redeem(w.Server, "AAAA", code, nil))
	refusedToken(t, "a secret", "invalid_client", w.redeem(w.Server, id, code, url.Values{"client_secret": {"x"}}))
	refusedToken(t, "another grant", "unsupported_grant_type", w.redeem(w.Server, id, code, url.Values{"grant_type": {"client_credentials"}}))
	refusedToken(t, "another key", "invalid_client", w.redeem(w.replica(""), id, code, nil))
	if rec := w.browser().get(base + tokenPath + "?code=" + code); rec.Code != http.StatusMethodNotAllowed {
		t.Errorf("a code in the query: %d", rec.Code)
	}
	tokensOf(t, w.redeem(w.Server, id, code, nil))
	refusedToken(t, "a code that was used", "invalid_grant", w.redeem(w.Server, id, code, nil))

	old := w.browser().login(id, nil).Get("code")
	w.now = w.now.Add(codeLifetime)
	refusedToken(t, "an old code", "invalid_grant", w.redeem(w.Server, id, old, nil))
}

// generous is a provider that accepts each code and refresh token as often as it gets it.
type generous struct {
	http.RoundTripper
	bodies map[string][]byte
}

// TestReplayAtGenerousProvider: a code or refresh token works once also if the provider would accept it again.
func TestReplayAtGenerousProvider(t *testing.T) {
	w := newWorld(t, "")
	w.client.Transport = &generous{w.client.Transport, map[string][]byte{}}
	id := w.register(appRedirect)
	code := w.browser().login(id, nil).Get("code")
	got := tokensOf(t, w.redeem(w.Server, id, code, nil))
	refusedToken(t, "a code that was used", "invalid_grant", w.redeem(w.Server, id, code, nil))
	tokensOf(t, w.refreshWith(w.Server, id, got.RefreshToken))
	refusedToken(t, "a refresh token that was used", "invalid_grant", w.refreshWith(w.Server, id, got.RefreshToken))
	refusedToken(t, "at another replica that shares what was used", "invalid_grant", w.refreshWith(w.replica(sealKey), id, got.RefreshToken))
	w.spent = unknowing{}
	if rec := w.refreshWith(w.replica(sealKey), id, got.RefreshToken); rec.Code != http.StatusServiceUnavailable {
		t.Errorf("without knowing: %d %s", rec.Code, rec.Body)
	}
}

// TestRefreshTokenAttacks: a refresh token is good for its client, resource and gateway alone.
func TestRefreshTokenAttacks(t *testing.T) {
	w := newWorld(t, "")
	id, otherID := w.register(appRedirect), w.register(appRedirect)
	answer := w.browser().login(id, nil)
	got := tokensOf(t, w.redeem(w.Server, id, answer.Get("code"), nil))
	refusedToken(t, "another client", "invalid_grant", w.refreshWith(w.Server, otherID, got.RefreshToken))
	refusedToken(t, "an altered one", "invalid_grant", w.refreshWith(w.Server, id, got.RefreshToken[:len(got.RefreshToken)-4]+"AAAA"))
	refusedToken(t, "an access token", "invalid_grant", w.refreshWith(w.Server, id, got.AccessToken))
	refusedToken(t, "a code", "invalid_grant", w.refreshWith(w.Server, id, answer.Get("code")))
	refusedToken(t, "none", "invalid_request", w.refreshWith(w.Server, id, ""))
	refusedToken(t, "a stolen one at another gateway", "invalid_client", w.refreshWith(w.replica("another-key-0123456789-0123456789"), id, got.RefreshToken))
	form := url.Values{"grant_type": {"refresh_token"}, "client_id": {id}, "refresh_token": {got.RefreshToken}, "resource": {base + "/mcp/shop"}}
	refusedToken(t, "another resource", "invalid_target", w.post(w.Server, tokenPath, "application/x-www-form-urlencoded", form.Encode()))
	tokensOf(t, w.refreshWith(w.Server, id, got.RefreshToken))
}

// TestForeignTokens: an access token that the gateway does not accept is not given to the client: it may be for another service.
func TestForeignTokens(t *testing.T) {
	w := newWorld(t, "")
	id := w.register(appRedirect)
	w.refuse = errors.New("audience; list it in audiences")
	rec := w.redeem(w.Server, id, w.browser().login(id, nil).Get("code"), nil)
	refusedToken(t, "a token for another service", "server_error", rec)
	if !strings.Contains(w.log.String(), "list it in audiences") || strings.Contains(rec.Body.String(), "audiences") {
		t.Errorf("the client gets %s, the log has %s", rec.Body, w.log)
	}
}

// TestDocumentAttacks: a metadata document is fetched from public addresses only, not through redirects, and must be that of its URL.
func TestDocumentAttacks(t *testing.T) {
	w := newWorld(t, "")
	answer := func(kind, body string, status int) {
		w.document = &http.Client{Transport: roundTrip(func(r *http.Request) *httptest.ResponseRecorder {
			if r.URL.Host != "notes.example.com" {
				t.Errorf("a redirect was followed to %s", r.URL)
			}
			rec := httptest.NewRecorder()
			rec.Header().Set("Content-Type", kind)
			rec.Header().Set("Location", "http://169.254.169.254/latest/meta-data")
			rec.WriteHeader(status)
			_, _ = rec.WriteString(body)
			return rec
		})}
		w.Server = w.replica(sealKey)
	}
	const id = "https://notes.example.com/client.json"
	metadata := func(more string) string {
		return `{"client_id":"` + id + `","redirect_uris":["` + appRedirect + `"]` + more + `}`
	}
	for name, c := range map[string]struct {
		kind, body string
		status     int
	}{
		"a redirect":               {"application/json", metadata(""), http.StatusFound},
		"not found":                {"application/json", metadata(""), http.StatusNotFound},
		"HTML":                     {"text/html", metadata(""), http.StatusOK},
		"another client":           {"application/json", `{"client_id":"https://evil.example/c.json","redirect_uris":["` + appRedirect + `"]}`, http.StatusOK},
		"no client":                {"application/json", `{"redirect_uris":["` + appRedirect + `"]}`, http.StatusOK},
		"a client with a secret":   {"application/json", metadata(`,"token_endpoint_auth_method":"client_secret_basic"`), http.StatusOK},
		"a redirect URI of others": {"application/json", `{"client_id":"` + id + `","redirect_uris":["https://app.example.com/cb"]}`, http.StatusOK},
		"too large":                {"application/json", metadata(`,"x":"` + strings.Repeat("a", 64<<10) + `"`), http.StatusOK},
	} {
		answer(c.kind, c.body, c.status)
		refusedPage(t, name, w.browser().get(authorizeURL(id, nil)))
	}
	w.document = &http.Client{Transport: refusing{}}
	w.Server = w.replica(sealKey)
	for _, id := range []string{"https://10.0.0.1/c.json", "https://127.0.0.1:8443/c.json", "http://notes.example.com/c.json", "https://notes.example.com", "https://a@notes.example.com/c", "https://notes.example.com/a/../c"} {
		refusedPage(t, id, w.browser().get(authorizeURL(id, nil)))
	}
	for _, id := range []string{"https://nоtes.example.com/c.json", "https://notes.example.com%D0%BE/c.json", "https://notes.example.com/\u202ec.json"} { // о is Cyrillic
		if oauthserver.IsMetadataURL(id) {
			t.Errorf("%q may be shown as the host of another client", id)
		}
	}
	w.document = &http.Client{Transport: resolving{}}
	w.Server = w.replica(sealKey)
	page := w.browser().get(authorizeURL("https://wiki.corp.example/c.json", nil))
	if text := page.Body.String(); strings.Contains(text, "10.1.2.3") || !strings.Contains(text, "be read") || !strings.Contains(w.log.String(), "10.1.2.3") {
		t.Errorf("anybody learns the address of a name: %s; the log has %s", text, w.log)
	}
	for range documentRate.Burst {
		w.browser().get(authorizeURL("https://notes.example.com/other.json", nil))
	}
	if rec := w.browser().get(authorizeURL("https://notes.example.com/more.json", nil)); rec.Code != http.StatusServiceUnavailable {
		t.Errorf("documents are fetched without limit: %d", rec.Code)
	}
}

// resolving fails as the client of metadata documents does for a name of the private network.
type resolving struct{}

func (resolving) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("address 10.1.2.3 is not allowed for this host")
}

// TestConsentScopes: the user sees the scopes that the token will have, not those that the client admits to.
func TestConsentScopes(t *testing.T) {
	w := newWorld(t, "")
	id := w.register(appRedirect)
	w.config.Auth.Registration.Scopes = []string{"offline_access", "api://gateway/orders.delete"}
	for forward, want := range map[bool][]string{true: {"<code>mcp.use</code>", "<code>orders.delete</code>"}, false: {"<code>orders.delete</code>"}} {
		w.config.Auth.Registration.ForwardScopes = forward
		page := w.browser().get(authorizeURL(id, nil)).Body.String()
		if strings.Count(page, "<code>") != len(want) || slices.ContainsFunc(want, func(scope string) bool { return !strings.Contains(page, scope) }) {
			t.Errorf("forward_scopes %v: the page is %s, want %q", forward, page, want)
		}
	}
}

// TestRemoteSchemes: a scheme that leads to any host is no way around redirect_hosts, and the page shows where one of an application leads.
func TestRemoteSchemes(t *testing.T) {
	w := newWorld(t, ", redirect_hosts: [app.example.com]")
	for _, uri := range []string{
		"googlechromes://evil.example/cb", "microsoft-edge-https://evil.example/cb", "x-safari-https://evil.example/cb", "firefox://open-url?url=https://evil.example/",
		"smb://evil.example/share/cb", "sftp://evil.example/cb", "intent://evil.example/cb", "MICROSOFT-EDGE:/https://evil.example/",
	} {
		rec := w.post(w.Server, registerPath, "application/json", `{"redirect_uris":["`+uri+`"]}`)
		if errorOf(rec) != oauthserver.InvalidRedirectURI {
			t.Errorf("%s: %d %s", uri, rec.Code, rec.Body)
		}
	}
	const app = "cursor://anysphere.cursor-mcp/oauth/callback"
	page := w.browser().get(authorizeURL(w.register(app), url.Values{"redirect_uri": {app}})).Body.String()
	if !strings.Contains(page, "cursor://anysphere.cursor-mcp") {
		t.Errorf("the page is %s", page)
	}
}

// TestFloods: one address can't register, ask and redeem without limit, and another one still can.
func TestFloods(t *testing.T) {
	w := newWorld(t, "")
	from := func(path, method, address string) int {
		r := httptest.NewRequest(method, base+path, nil)
		r.RemoteAddr = address
		rec := httptest.NewRecorder()
		w.ServeHTTP(rec, r)
		if rec.Code == http.StatusTooManyRequests && rec.Header().Get("Retry-After") == "" {
			t.Errorf("%s has no Retry-After", path)
		}
		return rec.Code
	}
	for path, rate := range rates {
		method := http.MethodGet
		if path == registerPath || path == tokenPath {
			method = http.MethodPost
		}
		for range rate.Burst {
			if from(path, method, "192.0.2.9:1") == http.StatusTooManyRequests {
				t.Errorf("%s is limited early", path)
			}
		}
		if from(path, method, "192.0.2.9:1") != http.StatusTooManyRequests || from(path, method, "192.0.2.10:1") == http.StatusTooManyRequests {
			t.Errorf("%s has no limit for one address", path)
		}
	}
}

func (g *generous) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPost {
		return g.RoundTripper.RoundTrip(r)
	}
	sent, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	rec := httptest.NewRecorder()
	if body, again := g.bodies[string(sent)]; again {
		rec.Header().Set("Content-Type", "application/json")
		_, _ = rec.Write(body)
		return rec.Result(), nil
	}
	own := r.Clone(r.Context())
	own.Body = io.NopCloser(bytes.NewReader(sent))
	resp, err := g.RoundTripper.RoundTrip(own)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	g.bodies[string(sent)] = body
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, err
}

// unknowing can't tell whether something was used.
type unknowing struct{}

func (unknowing) Spend(context.Context, string, string, time.Time) (bool, error) {
	return false, errors.New("unknown")
}

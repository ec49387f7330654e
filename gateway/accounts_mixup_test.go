package gateway_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"drawbridge/auth/authtest"
	"drawbridge/gateway"
	"drawbridge/test/gatewaytest"
)

// withQuery returns a URL with other parameters.
func withQuery(t *testing.T, target string, change func(url.Values)) string {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	change(q)
	u.RawQuery = q.Encode()
	return u.String()
}

// mustRefuse fails if a response leads on, connects an account, or has active content of an attacker.
func mustRefuse(t *testing.T, name string, rec *httptest.ResponseRecorder) {
	t.Helper()
	text := rec.Body.String()
	if rec.Code < 400 || rec.Header().Get("Location") != "" || rec.Header().Get("Refresh") != "" || strings.Contains(text, connected) || strings.Contains(text, "<script") {
		t.Errorf("%s: %d %v %s", name, rec.Code, rec.Header(), text)
	}
}

// TestAccountMixUp: a response of one authorization server is never taken for that of another, neither of the issuer, of the service, nor of a
// service that is the attacker's. No code reaches the attacker's server.
func TestAccountMixUp(t *testing.T) {
	w := newAccountWorld(t, 0)
	evil, err := authtest.Start(authtest.Options{
		AutoConsent: true, User: func(r *http.Request) string { return r.Header.Get(userHeader) }, DefaultResource: "https://evil.example.com",
		Clients: []authtest.Client{{ID: "at-evil", Secret: "evil-secret-0123456789", RedirectURIs: []string{gatewaytest.PublicURL + "/account/callback/evil"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = evil.Close() })
	cfg := w.config(fmt.Sprintf(", state_dir: %q", t.TempDir())) + fmt.Sprintf(`  - name: evil
    spec: $SPEC
    base_url: $BASE
    credential: {type: authorization_code, authorize_url: %q, token_url: %q, client_id: at-evil, client_secret: "${EVIL:-evil-secret-0123456789}", scopes: [offline_access]}
`, evil.Issuer()+"/authorize", evil.Issuer()+"/token")
	g := gatewaytest.Start(t, w.document, cfg, w.service.URL)
	const shopTool, evilTool = "shop_list", "evil_list"
	// begin returns where both servers send the browser of a user who connects an account.
	begin := func(b *accountBrowser, tool string) (atIssuer, atService string) {
		atIssuer = b.atIssuer(w.link(g, "alice", tool))
		return atIssuer, b.atService(atIssuer)
	}
	for _, tt := range []struct {
		name string
		open func(b *accountBrowser) string // the URL that is opened last
	}{
		{"the service's code with the state of the attacker's service", func(b *accountBrowser) string {
			_, atShop := begin(b, shopTool)
			_, atEvil := begin(b, evilTool)
			u, _ := url.Parse(atEvil)
			return withQuery(t, atShop, func(q url.Values) { q.Set("state", u.Query().Get("state")) })
		}},
		{"the service's code at the redirect URI of the attacker's service", func(b *accountBrowser) string {
			_, atShop := begin(b, shopTool)
			return strings.Replace(atShop, "/callback/shop", "/callback/evil", 1)
		}},
		{"the attacker's code at the redirect URI of the service", func(b *accountBrowser) string {
			_, atEvil := begin(b, evilTool)
			return strings.Replace(atEvil, "/callback/evil", "/callback/shop", 1)
		}},
		{"the issuer's response at the redirect URI of the service", func(b *accountBrowser) string {
			u, _ := url.Parse(b.atIssuer(w.link(g, "alice", shopTool)))
			return gatewaytest.PublicURL + "/account/callback/shop?" + u.RawQuery
		}},
		{"the service's response at the redirect URI of the issuer", func(b *accountBrowser) string {
			atIssuer, atShop := begin(b, shopTool)
			u, _ := url.Parse(atShop)
			return withQuery(t, atIssuer, func(q url.Values) { q.Set("code", u.Query().Get("code")); q.Set("state", u.Query().Get("state")) })
		}},
		{"the iss of another server", func(b *accountBrowser) string {
			return withQuery(t, b.atIssuer(w.link(g, "alice", shopTool)), func(q url.Values) { q.Set("iss", evil.Issuer()) })
		}},
		{"no iss, though the issuer sends it", func(b *accountBrowser) string {
			return withQuery(t, b.atIssuer(w.link(g, "alice", shopTool)), func(q url.Values) { q.Del("iss") })
		}},
		{"two iss", func(b *accountBrowser) string {
			return withQuery(t, b.atIssuer(w.link(g, "alice", shopTool)), func(q url.Values) { q.Add("iss", evil.Issuer()) })
		}},
		{"two states", func(b *accountBrowser) string {
			_, atShop := begin(b, shopTool)
			return withQuery(t, atShop, func(q url.Values) { q.Add("state", "x") })
		}},
		{"two codes", func(b *accountBrowser) string {
			_, atShop := begin(b, shopTool)
			return withQuery(t, atShop, func(q url.Values) { q.Add("code", "x") })
		}},
		{"no state", func(b *accountBrowser) string {
			_, atShop := begin(b, shopTool)
			return withQuery(t, atShop, func(q url.Values) { q.Del("state") })
		}},
		{"the states of two links swapped", func(b *accountBrowser) string {
			_, first := begin(b, shopTool)
			_, second := begin(b, shopTool)
			u, _ := url.Parse(second)
			return withQuery(t, first, func(q url.Values) { q.Set("state", u.Query().Get("state")) })
		}},
		{"the issuer's states of two links swapped", func(b *accountBrowser) string {
			first, second := b.atIssuer(w.link(g, "alice", shopTool)), b.atIssuer(w.link(g, "alice", shopTool))
			u, _ := url.Parse(second)
			return withQuery(t, first, func(q url.Values) { q.Set("state", u.Query().Get("state")) })
		}},
		{"a script as the error", func(b *accountBrowser) string {
			_, atShop := begin(b, shopTool)
			return withQuery(t, atShop, func(q url.Values) {
				q.Set("error", "<script>alert(1)</script>")
				q.Set("error_description", "<script>alert(2)</script>")
			})
		}},
		{"an error beside a code", func(b *accountBrowser) string {
			_, atShop := begin(b, shopTool)
			return withQuery(t, atShop, func(q url.Values) { q.Set("error", "access_denied") })
		}},
		{"a challenge of the attacker at the service", func(b *accountBrowser) string {
			rec := b.open(http.MethodGet, b.atIssuer(w.link(g, "alice", shopTool)), nil)
			return b.follow(withQuery(t, rec.Header().Get("Location"), func(q url.Values) { q.Set("code_challenge", strings.Repeat("A", 43)) }), b.account)
		}},
		{"no challenge at the service", func(b *accountBrowser) string {
			rec := b.open(http.MethodGet, b.atIssuer(w.link(g, "alice", shopTool)), nil)
			return b.follow(withQuery(t, rec.Header().Get("Location"), func(q url.Values) { q.Del("code_challenge"); q.Del("code_challenge_method") }), b.account)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := w.browser(g, "alice", "alice@shop")
			before := evil.Requests(authtest.TokenEndpoint)
			last := tt.open(b)
			mustRefuse(t, tt.name, b.open(http.MethodGet, last, nil))
			if evil.Requests(authtest.TokenEndpoint) != before {
				t.Error("the attacker's token endpoint got a request")
			}
			for _, tool := range []string{shopTool, evilTool} {
				w.link(g, "alice", tool) // nothing is connected
			}
		})
	}
}

// TestAccountOfAnotherIssuer: a user with the same subject at another issuer has neither the account nor a use of the link.
func TestAccountOfAnotherIssuer(t *testing.T) {
	w, other := newAccountWorld(t, 0), newAccountWorld(t, 0)
	cfg := strings.Replace(w.config(fmt.Sprintf(", state_dir: %q", t.TempDir())), "issuers: [",
		fmt.Sprintf(`issuers: [{issuer: %q, login: {client_id: gateway, client_secret: "${ISSUER:-issuer-secret-0123456789}"}}, `, other.issuer.Issuer()), 1)
	g := gatewaytest.Start(t, w.document, cfg, w.service.URL)
	link, others := w.link(g, "alice", "list"), other.link(g, "alice", "list")
	// The response of one issuer at the redirect URI of the other, with the login of each.
	b := w.browser(g, "alice", "alice@shop")
	mine, theirs := b.atIssuer(link), b.atIssuer(others)
	a, _ := url.Parse(mine)
	z, _ := url.Parse(theirs)
	mustRefuse(t, "a response at the other issuer", b.open(http.MethodGet, gatewaytest.PublicURL+z.Path+"?"+a.RawQuery, nil))
	w.mustConnect(g, "alice", "list")
	if text := w.call(g, "alice", "list"); !strings.Contains(text, "alice@shop") {
		t.Error(text)
	}
	if text := other.call(g, "alice", "list"); !linkForm.MatchString(text) || strings.Contains(text, "alice@shop") {
		t.Error(text)
	}
}

// TestAccountPagesAreClosed: cookies are bound to the host and HTTPS, no page tells its URL to another origin or can be framed, and what a
// request says about hosts and destinations leads nowhere.
func TestAccountPagesAreClosed(t *testing.T) {
	w, log := newAccountWorld(t, 0), &gatewaytest.Sink{}
	document := strings.Replace(w.document, "title: Shop", `title: "<script>alert(1)</script>"`, 1)
	g, err := gateway.New(gateway.Options{
		Config: gatewaytest.Configure(t, t.TempDir(), document, w.config(fmt.Sprintf(", state_dir: %q", t.TempDir())), w.service.URL), Version: "1",
		Logger: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	b, link := w.browser(g, "alice", "alice@shop"), w.link(g, "alice", "list")
	const evil = "evil.example.com"
	header := http.Header{"X-Forwarded-Host": {evil}, "X-Forwarded-Proto": {"http"}, "Forwarded": {"host=" + evil}, "Referer": {"https://" + evil + "/"}}
	posted := header.Clone()
	for name, values := range sameOrigin {
		posted[name] = values
	}
	secrets := gatewaytest.Canaries{"link": strings.TrimPrefix(link, gatewaytest.PublicURL+"/account/connect/")}
	check := func(name string, rec *httptest.ResponseRecorder) *httptest.ResponseRecorder {
		t.Helper()
		h := rec.Header()
		if policy := h.Get("Referrer-Policy"); policy != "no-referrer" && policy != "same-origin" {
			t.Errorf("%s: Referrer-Policy %q", name, policy)
		}
		if rec.Code != http.StatusFound && (h.Get("X-Frame-Options") != "DENY" || !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'")) {
			t.Errorf("%s: %v", name, h)
		}
		if h.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: Cache-Control %q", name, h.Get("Cache-Control"))
		}
		for _, text := range append(h["Location"], h.Get("Refresh"), rec.Body.String()) {
			if strings.Contains(text, evil) || strings.Contains(text, "<script") {
				t.Errorf("%s: %s", name, text)
			}
		}
		for _, c := range rec.Result().Cookies() {
			if !strings.HasPrefix(c.Name, "__Host-") || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" {
				t.Errorf("%s: %s", name, c.Raw)
			}
		}
		return rec
	}
	onward := "?next=https://" + evil + "&redirect_uri=https://" + evil
	check("page", b.open(http.MethodGet, link+onward, header))
	check("form", b.open(http.MethodPost, link+onward, posted))
	atIssuer := b.atIssuer(link)
	atService := b.follow(check("login", b.open(http.MethodGet, atIssuer+"&next=https://"+evil, header)).Header().Get("Location"), b.account)
	for name, location := range map[string]string{"issuer": atIssuer, "service": atService} {
		u, _ := url.Parse(location)
		secrets["state at the "+name], secrets["code of the "+name] = u.Query().Get("state"), u.Query().Get("code")
	}
	check("callback", b.open(http.MethodGet, atService+"&next=https://"+evil, header))
	check("link again", b.open(http.MethodGet, gatewaytest.PublicURL+"/account/connect/x", header))
	if found := secrets.Found(log.String()); log.String() == "" || len(found) > 0 {
		t.Errorf("the log has %q", found)
	}
}

// TestAccountLinkExpires: after a quarter of an hour a link opens no page, begins no login, and finishes none.
func TestAccountLinkExpires(t *testing.T) {
	w := newAccountWorld(t, 0)
	var late time.Duration
	g, err := gateway.New(gateway.Options{
		Config:  gatewaytest.Configure(t, t.TempDir(), w.document, w.config(fmt.Sprintf(", state_dir: %q", t.TempDir())), w.service.URL),
		Version: "1", Test: gateway.TestOptions{Now: func() time.Time { return time.Now().Add(late) }},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	b, link := w.browser(g, "alice", "alice@shop"), w.link(g, "alice", "list")
	late = 8 * time.Minute // the cookies of logins last for ten minutes
	atIssuer := b.atIssuer(link)
	second := w.browser(g, "alice", "alice@shop")
	atService := second.atService(second.atIssuer(link))
	late = 15*time.Minute + time.Second
	mustRefuse(t, "page", b.open(http.MethodGet, link, nil))
	mustRefuse(t, "form", b.open(http.MethodPost, link, sameOrigin))
	mustRefuse(t, "login", b.open(http.MethodGet, atIssuer, nil))
	mustRefuse(t, "callback", second.open(http.MethodGet, atService, nil))
	late = 0
	w.link(g, "alice", "list")
}

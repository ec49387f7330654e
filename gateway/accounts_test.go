package gateway_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"drawbridge/auth"
	"drawbridge/auth/authtest"
	"drawbridge/config"
	"drawbridge/gateway"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// accountWorld is an issuer, and a service at which each user has an own account.
type accountWorld struct {
	t        *testing.T
	issuer   *authtest.Server
	login    *authtest.Server // of the service
	service  *httptest.Server
	document string
	external *http.Client

	mu       sync.Mutex
	calls    []string        // tokens that the service got
	rejected map[string]bool // tokens that it does not accept
}

// userHeader is how a browser of the test is signed in at a server.
const userHeader = "X-User"

func newAccountWorld(t *testing.T, life time.Duration) *accountWorld {
	t.Helper()
	return newAccountWorldAt(t, life, "")
}

// newAccountWorldAt returns a world whose issuer has a path.
func newAccountWorldAt(t *testing.T, life time.Duration, path string) *accountWorld {
	t.Helper()
	w := &accountWorld{t: t, rejected: map[string]bool{}}
	user := func(r *http.Request) string { return r.Header.Get(userHeader) }
	start := func(o authtest.Options) *authtest.Server {
		o.AutoConsent, o.User = true, user
		s, err := authtest.Start(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	free, err := net.Listen("tcp", "127.0.0.1:0") // the redirect URI at the issuer has its host
	if err != nil {
		t.Fatal(err)
	}
	issuer := free.Addr().String()
	_ = free.Close()
	w.issuer = start(authtest.Options{
		Issuer: "http://" + issuer + path, Address: issuer, DefaultResource: gatewaytest.ResourceURL,
		Clients: []authtest.Client{{ID: "gateway", Secret: "issuer-secret-0123456789", RedirectURIs: []string{gatewaytest.PublicURL + "/account/login/" + issuer + path}}},
	})
	w.login = start(authtest.Options{
		DefaultResource: "https://shop.example.com", AccessLife: life,
		Clients: []authtest.Client{{ID: "at-shop", Secret: "service-secret-0123456789", RedirectURIs: []string{gatewaytest.PublicURL + "/account/callback/shop"}}},
	})
	w.service = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		w.mu.Lock()
		w.calls = append(w.calls, token)
		refused := w.rejected[token] || token == ""
		w.mu.Unlock()
		rw.Header().Set("Content-Type", "application/json")
		if refused {
			rw.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
			rw.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = fmt.Fprintf(rw, `{"user":%q,"scope":%q}`, claim(token, "sub"), claim(token, "scope"))
	}))
	t.Cleanup(w.service.Close)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	w.external = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	w.document = `openapi: 3.1.0
info: {title: Shop, version: "1"}
servers: [{url: /}]
security: [{oauth: [orders.read]}]
paths:
  /orders: {get: {operationId: list, responses: {"200": {description: ok, content: {application/json: {schema: {type: object}}}}}}}
  /orders/add: {get: {operationId: add, security: [{oauth: [orders.write]}], responses: {"200": {description: ok, content: {application/json: {schema: {type: object}}}}}}}
components:
  securitySchemes:
    oauth: {type: oauth2, flows: {authorizationCode: {authorizationUrl: "https://x.example.com/a", tokenUrl: "https://x.example.com/t", scopes: {orders.read: r, orders.write: w}}}}
`
	return w
}

// claim returns a claim of a JWT without verifying it.
func claim(token, name string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return ""
	}
	text, _ := base64.RawURLEncoding.DecodeString(parts[1])
	var claims map[string]any
	_ = json.Unmarshal(text, &claims)
	value, _ := claims[name].(string)
	return value
}

func (w *accountWorld) config(state string) string {
	return fmt.Sprintf(`server: {public_url: %s, seal_keys: ["${KEY:-the-key-of-all-replicas-0123456789}"]%s}
auth:
  issuers: [{issuer: %q, login: {client_id: gateway, client_secret: "${ISSUER:-issuer-secret-0123456789}"}}]
  default_scopes: [mcp:tools]
apis:
  - name: shop
    spec: $SPEC
    base_url: $BASE
    credential: {type: authorization_code, authorize_url: %q, token_url: %q, revoke_url: %q, client_id: at-shop, client_secret: "${SERVICE:-service-secret-0123456789}", scopes: [offline_access]}
`, gatewaytest.PublicURL, state, w.issuer.Issuer(), w.login.Issuer()+"/authorize", w.login.Issuer()+"/token", w.login.Issuer()+"/revoke")
}

// gateway returns a gateway that keeps accounts in a folder.
func (w *accountWorld) gateway(dir string) *gateway.Gateway {
	w.t.Helper()
	return gatewaytest.Start(w.t, w.document, w.config(fmt.Sprintf(", state_dir: %q", dir)), w.service.URL)
}

// token returns an access token of a user for the gateway.
func (w *accountWorld) token(user string) string {
	w.t.Helper()
	token, err := w.issuer.Issue(authtest.Token{Subject: user, Audience: []string{gatewaytest.ResourceURL}, Scopes: []string{"mcp:tools"}})
	if err != nil {
		w.t.Fatal(err)
	}
	return token
}

// call calls a tool as a user and returns the text of the result.
func (w *accountWorld) call(g *gateway.Gateway, user, tool string) string {
	w.t.Helper()
	return gatewaytest.NewClient(w.t, g.Handler(), "2026-07-28", w.token(user)).Call(tool).Body.String()
}

var linkForm = regexp.MustCompile(`https://mcp\.example\.com/account/connect/[A-Za-z0-9_-]+`)

// link calls a tool as a user who has no account, and returns the link.
func (w *accountWorld) link(g *gateway.Gateway, user, tool string) string {
	w.t.Helper()
	text := w.call(g, user, tool)
	found := linkForm.FindString(text)
	if found == "" {
		w.t.Fatalf("no link: %s", text)
	}
	return found
}

// accountBrowser is a browser with its cookies for the gateway, in which a user is signed in at the issuer and the service.
type accountBrowser struct {
	*accountWorld
	h       http.Handler
	user    string // at the issuer
	account string // at the service
	cookies map[string]string
}

func (w *accountWorld) browser(g *gateway.Gateway, user, account string) *accountBrowser {
	return &accountBrowser{w, g.Handler(), user, account, map[string]string{}}
}

// open sends a request to the gateway.
func (b *accountBrowser) open(method, target string, header http.Header) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequest(method, target, nil)
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	for name, values := range header {
		r.Header[name] = values
	}
	rec := httptest.NewRecorder()
	b.h.ServeHTTP(rec, r)
	for _, c := range rec.Result().Cookies() {
		if b.cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	return rec
}

// follow opens a page of a server at which the user is signed in, and returns where it sends the browser.
func (b *accountBrowser) follow(location, user string) string {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, location, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set(userHeader, user)
	resp, err := b.external.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	if !strings.HasPrefix(resp.Header.Get("Location"), gatewaytest.PublicURL) {
		b.t.Fatalf("%s: %d to %q", location, resp.StatusCode, resp.Header.Get("Location"))
	}
	return resp.Header.Get("Location")
}

var sameOrigin = http.Header{"Sec-Fetch-Site": {"same-origin"}, "Origin": {gatewaytest.PublicURL}}

// atIssuer submits the page behind a link, signs in at the issuer, and returns where that sends the browser.
func (b *accountBrowser) atIssuer(link string) string {
	b.t.Helper()
	if page := b.open(http.MethodGet, link, nil); page.Code != http.StatusOK || len(b.cookies) > 0 && page.Header().Get("Set-Cookie") != "" {
		b.t.Fatalf("%d %s", page.Code, page.Body)
	}
	_, location, ok := strings.Cut(b.open(http.MethodPost, link, sameOrigin).Header().Get("Refresh"), "url=")
	if !ok {
		b.t.Fatal("no way to the issuer")
	}
	return b.follow(location, b.user)
}

// atService goes on to the service, signs in there, and returns where that sends the browser.
func (b *accountBrowser) atService(callback string) string {
	b.t.Helper()
	rec := b.open(http.MethodGet, callback, nil)
	if rec.Code != http.StatusFound {
		b.t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	return b.follow(rec.Header().Get("Location"), b.account)
}

// connect connects the account, and returns the last page.
func (b *accountBrowser) connect(link string) *httptest.ResponseRecorder {
	b.t.Helper()
	return b.open(http.MethodGet, b.atService(b.atIssuer(link)), nil)
}

const connected = "Your account is connected"

// mustConnect connects an account of a user.
func (w *accountWorld) mustConnect(g *gateway.Gateway, user, tool string) {
	w.t.Helper()
	if page := w.browser(g, user, user+"@shop").connect(w.link(g, user, tool)); page.Code != http.StatusOK || !strings.Contains(page.Body.String(), connected) {
		w.t.Fatalf("%s: %d %s", user, page.Code, page.Body)
	}
}

// TestAccountsAreConnected: each user connects an account, which calls use, also after a restart.
func TestAccountsAreConnected(t *testing.T) {
	w, dir := newAccountWorld(t, 0), t.TempDir()
	g := w.gateway(dir)
	for _, user := range []string{"alice", "bob"} {
		w.mustConnect(g, user, "list")
	}
	if len(w.calls) > 0 {
		t.Errorf("the service got %d requests before an account was connected", len(w.calls))
	}
	g = w.gateway(dir)
	for _, user := range []string{"alice", "bob"} {
		if text := w.call(g, user, "list"); !strings.Contains(text, `"structuredContent":{"user":"`+user+`@shop","scope":"offline_access orders.read`) {
			t.Errorf("%s: %s", user, text)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "accounts", "*"))
	if err != nil || len(files) != 2 {
		t.Errorf("%v %v", files, err)
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err != nil || strings.Contains(string(text), "alice") || strings.Contains(string(text), w.calls[0]) {
			t.Errorf("%s: %v %s", file, err, text)
		}
	}
}

// TestAccountsNeverMix: two users call in turns at two replicas, whose tokens expire at once, and one replica ends in between.
func TestAccountsNeverMix(t *testing.T) {
	w, m := newAccountWorld(t, time.Second), miniredis.RunT(t) // the tokens are refreshed all the time
	both := replicas(t, m, 2, w.document, w.config("")+"state: {redis: {url: $REDIS, timeout: 1s}}\n", w.service.URL)
	users := []string{"alice", "bob"}
	for i, user := range users {
		w.mustConnect(both[i], user, "list")
	}
	var wg sync.WaitGroup
	for _, user := range users {
		for n, g := range both {
			token := w.token(user)
			wg.Go(func() {
				for i := range 250 {
					if n == 1 && i == 125 { // the rest of its calls go to the other replica
						g = both[0]
					}
					text := gatewaytest.NewClient(t, g.Handler(), "2026-07-28", token).Call("list").Body.String()
					if !strings.Contains(text, `"structuredContent":{"user":"`+user+`@shop"`) {
						t.Errorf("%s: %s", user, text)
						return
					}
				}
			})
		}
	}
	done := make(chan struct{})
	go func() { defer close(done); wg.Wait() }()
	timebox.Wait(t, done)
	if len(w.calls) != 1000 {
		t.Errorf("the service got %d requests", len(w.calls))
	}
}

// TestAccountScopes: an operation that requires another scope asks for it besides those that are connected.
func TestAccountScopes(t *testing.T) {
	w := newAccountWorld(t, 0)
	g := w.gateway(t.TempDir())
	w.mustConnect(g, "alice", "list")
	w.mustConnect(g, "alice", "add")
	for _, tool := range []string{"list", "add"} {
		if text := w.call(g, "alice", tool); !strings.Contains(text, "orders.read") || !strings.Contains(text, "orders.write") {
			t.Errorf("%s: %s", tool, text)
		}
	}
}

// TestAccountRejected: a token that the service rejects is refreshed once; if that does not help, the user is asked again.
func TestAccountRejected(t *testing.T) {
	w := newAccountWorld(t, 0)
	g := w.gateway(t.TempDir())
	w.mustConnect(g, "alice", "list")
	w.call(g, "alice", "list")
	first := w.calls[0]
	w.rejected[first] = true
	if text := w.call(g, "alice", "list"); !strings.Contains(text, `"structuredContent":{"user":"alice@shop"`) || len(w.calls) != 3 {
		t.Errorf("%d requests: %s", len(w.calls), text)
	}
	if err := w.login.Revoke(w.calls[2]); err != nil {
		t.Fatal(err)
	}
	w.rejected[w.calls[2]] = true
	if text := w.call(g, "alice", "list"); !strings.Contains(text, "call again, and the user gets a link") && !strings.Contains(text, "alice@shop") {
		t.Error(text)
	}
	w.mu.Lock()
	for _, token := range w.calls {
		w.rejected[token] = true
	}
	w.mu.Unlock()
	for range 3 {
		w.call(g, "alice", "list")
		w.mu.Lock()
		w.rejected[w.calls[len(w.calls)-1]] = true
		w.mu.Unlock()
	}
	w.link(g, "alice", "list")
}

// TestAccountOfNobody: callers without a subject, of an issuer that logs nobody in, or with a key, whose principal has the name of a user who
// has an account, get no link and no account. Nor does the operator.
func TestAccountOfNobody(t *testing.T) {
	w := newAccountWorld(t, 0)
	i, key := gatewaytest.NewIDP(t), auth.NewAPIKey()
	cfg := strings.NewReplacer("issuers: [", fmt.Sprintf("issuers: [{issuer: %q}, ", i.URL), "  default_scopes:",
		fmt.Sprintf("  keys: [{name: script, principal: alice, hash: %q, scopes: [mcp:tools]}]\n  default_scopes:", config.NewKeyHash(auth.HashAPIKey(key)))).
		Replace(w.config(fmt.Sprintf(", state_dir: %q", t.TempDir())))
	g := gatewaytest.Start(t, w.document, cfg, w.service.URL)
	w.mustConnect(g, "alice", "list")
	for _, test := range []struct{ name, token, want string }{
		{"another issuer", i.Token(t, nil), "it signs in no users of the issuer"},
		{"no subject", i.Token(t, map[string]any{"sub": ""}), "this call has no user"},
		{"a key", key, "this caller has an API key"},
	} {
		text := gatewaytest.NewClient(t, g.Handler(), "2026-07-28", test.token).Call("list").Body.String()
		if linkForm.MatchString(text) || len(w.calls) > 0 || !strings.Contains(text, `"isError":true`) || !strings.Contains(text, test.want) {
			t.Errorf("%s: %s", test.name, text)
		}
	}
	if result, err := gatewaytest.CallAsOperator(t.Context(), g, "list", nil); err != nil || len(w.calls) > 0 || !strings.Contains(string(result), "has no user") {
		t.Errorf("the operator: %v %s", err, result)
	}
}

// TestAccountOfADirectory: users of each directory of an issuer sign in at that directory.
func TestAccountOfADirectory(t *testing.T) {
	const directory = "aaaabbbb-0000-cccc-1111-dddd2222eeee"
	w := newAccountWorldAt(t, 0, "/"+directory)
	cfg := strings.Replace(w.config(fmt.Sprintf(", state_dir: %q", t.TempDir())), directory+`", login`, `{tenantid}", directories: [`+directory+`], login`, 1)
	g := gatewaytest.Start(t, w.document, cfg, w.service.URL)
	token, err := w.issuer.Issue(authtest.Token{
		Subject: "alice", Audience: []string{gatewaytest.ResourceURL}, Scopes: []string{"mcp:tools"}, Claims: map[string]any{"tid": directory},
	})
	if err != nil {
		t.Fatal(err)
	}
	call := func() string {
		return gatewaytest.NewClient(t, g.Handler(), "2026-07-28", token).Call("list").Body.String()
	}
	if page := w.browser(g, "alice", "alice@shop").connect(linkForm.FindString(call())); !strings.Contains(page.Body.String(), connected) {
		t.Fatalf("%d %s", page.Code, page.Body)
	}
	if text := call(); !strings.Contains(text, `"structuredContent":{"user":"alice@shop"`) {
		t.Error(text)
	}
}

// TestAccountsOfServers: a user whose claim selects another server has another account there, with the same redirect URI.
func TestAccountsOfServers(t *testing.T) {
	w := newAccountWorld(t, 0)
	other := httptest.NewServer(w.service.Config.Handler)
	t.Cleanup(other.Close)
	cfg := strings.Replace(w.config(fmt.Sprintf(", state_dir: %q", t.TempDir())), "base_url: $BASE",
		fmt.Sprintf("base_urls: {claim: tenant, allow: {acme: $BASE, other: %q}}", other.URL), 1)
	g := gatewaytest.Start(t, w.document, cfg, w.service.URL)
	call := func(tenant string) string {
		token, err := w.issuer.Issue(authtest.Token{
			Subject: "alice", Audience: []string{gatewaytest.ResourceURL}, Scopes: []string{"mcp:tools"}, Claims: map[string]any{"tenant": tenant},
		})
		if err != nil {
			t.Fatal(err)
		}
		return gatewaytest.NewClient(t, g.Handler(), "2026-07-28", token).Call("list").Body.String()
	}
	for _, tenant := range []string{"acme", "other"} {
		link := linkForm.FindString(call(tenant))
		if link == "" {
			t.Fatalf("%s: no link", tenant)
		}
		if page := w.browser(g, "alice", "alice@"+tenant).connect(link); !strings.Contains(page.Body.String(), connected) {
			t.Fatalf("%s: %d %s", tenant, page.Code, page.Body)
		}
	}
	for _, tenant := range []string{"acme", "other"} {
		if text := call(tenant); !strings.Contains(text, `"structuredContent":{"user":"alice@`+tenant+`"`) {
			t.Errorf("%s: %s", tenant, text)
		}
	}
	if text := call("evil"); linkForm.MatchString(text) || len(w.calls) != 2 {
		t.Errorf("%d requests: %s", len(w.calls), text)
	}
}

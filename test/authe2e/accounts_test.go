package authe2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"drawbridge/test/process"
	"drawbridge/test/timebox"
)

// accountWorld is two replicas of a gateway in front of a service with an authorization server of its own.
type accountWorld struct {
	*world
	login   *foreign // of the service
	service *accountService
	file    string            // configuration of the first replica
	second  *process.Child    // the replica that dies
	other   string            // its endpoint
	tokens  map[string]string // of the callers
}

// The users of the callers' issuer, by the clients that call for them. The browser of the second has no cookie that names it.
var accountUsers = map[string]string{"alice": goSDK, "developer": sdkV1}

const (
	accountCalls = 1000
	accountLife  = 2 * time.Second // of the service's tokens
)

// testAccounts: two users connect their accounts at a service, whose tokens soon expire, and call through two replicas, one of which
// dies. Each call is answered for its user; no refresh token is sent twice; a revoked account ends at the service.
func testAccounts(t *testing.T, s *suite) {
	w := newAccountWorld(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	browsers, links := map[string]*goSession{}, map[string]string{}
	for user, client := range accountUsers {
		s.table.note(t, "accounts at a service", oidcProvider, client)
		links[user] = w.askForAccount(ctx, t, user, client)
		browsers[user] = w.browser(t, user)
	}
	if page := visit(ctx, t, browsers["developer"], links["alice"]); !strings.Contains(page, "signed in as another user") {
		t.Errorf("the link of alice for developer: %s", page)
	}
	for user := range accountUsers {
		if page := visit(ctx, t, browsers[user], links[user]); !strings.Contains(page, "Your account is connected") {
			t.Fatalf("%s: %s", user, page)
		}
	}
	if n, _ := w.service.count(); n != 0 {
		t.Errorf("the service got %d requests before an account was connected", n)
	}
	w.callInTurns(ctx, t)
	w.revoke(ctx, t)
}

// barrier is where all callers wait for each other.
type barrier struct {
	arrived sync.WaitGroup
	open    chan struct{}
}

// callInTurns makes calls for both users at both replicas. In between all wait until the tokens have expired, which both replicas then find
// at once, and later until the second has died.
func (w *accountWorld) callInTurns(ctx context.Context, t *testing.T) {
	t.Helper()
	const each = accountCalls / 4 // of a user at a replica
	expired, killed := &barrier{open: make(chan struct{})}, &barrier{open: make(chan struct{})}
	barriers := map[int]*barrier{each / 4: expired, each / 2: killed}
	var all sync.WaitGroup
	for user := range accountUsers {
		for _, endpoint := range []string{w.endpoint, w.other} {
			expired.arrived.Add(1)
			killed.arrived.Add(1)
			all.Go(func() {
				for i := range each {
					if b := barriers[i]; b != nil {
						b.arrived.Done()
						<-b.open
					}
					at := endpoint
					if i >= each/2 {
						at = w.endpoint
					}
					if text := w.callAs(ctx, t, at, user); !strings.Contains(text, `"structuredContent":{"user":"`+user+`"}`) {
						t.Errorf("%s, call %d: %s", user, i, text)
					}
				}
			})
		}
	}
	timebox.Done(t, expired.arrived.Wait)
	<-time.After(accountLife)
	close(expired.open)
	timebox.Done(t, killed.arrived.Wait) // so that no call is lost with the replica
	if err := syscall.Kill(w.second.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	timebox.Wait(t, w.second.Exited())
	close(killed.open)
	timebox.Done(t, all.Wait)
	var refreshes struct{ Done, Refused int }
	if err := w.login.peer.do(ctx, "refreshes", map[string]any{"issuer": w.login.name}, &refreshes); err != nil {
		t.Fatal(err)
	}
	requests, tokens := w.service.count()
	if refreshes.Refused != 0 || refreshes.Done == 0 || refreshes.Done != tokens-len(accountUsers) {
		t.Errorf("%d refresh tokens were accepted and %d refused; the service got %d tokens", refreshes.Done, refreshes.Refused, tokens)
	}
	if requests < accountCalls {
		t.Errorf("the service got %d requests", requests)
	}
	t.Logf("%d requests with %d tokens, %d refreshes", requests, tokens, refreshes.Done)
}

// revoke revokes the account of alice by the command, which ends it at the service, too.
func (w *accountWorld) revoke(ctx context.Context, t *testing.T) {
	t.Helper()
	w.wantRefreshTokens(ctx, t, "alice", 1)
	out, err := exec.CommandContext(ctx, w.suite.program, "account", "revoke", "--config", w.file, "--subject", "alice").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "is revoked here, also at the service") {
		t.Errorf("account revoke: %v %s", err, out)
	}
	w.wantRefreshTokens(ctx, t, "alice", 0)
	w.wantRefreshTokens(ctx, t, "developer", 1)
	if text := w.callAs(ctx, t, w.endpoint, "alice"); !accountLink.MatchString(text) {
		t.Errorf("alice: %s", text)
	}
	if text := w.callAs(ctx, t, w.endpoint, "developer"); !strings.Contains(text, `{"user":"developer"}`) {
		t.Errorf("developer: %s", text)
	}
}

// wantRefreshTokens holds how many refresh tokens of a user the service accepts.
func (w *accountWorld) wantRefreshTokens(ctx context.Context, t *testing.T, user string, want int) {
	t.Helper()
	var got int
	if err := w.login.peer.do(ctx, "refreshTokens", map[string]any{"issuer": w.login.name, "user": user}, &got); err != nil || got != want {
		t.Errorf("the service accepts %d refresh tokens of %s, want %d: %v", got, user, want, err)
	}
}

var accountLink = regexp.MustCompile(`http://[0-9.:]+/account/connect/[A-Za-z0-9_-]+`)

// askForAccount logs a client in for a user, whose first call gives a link.
func (w *accountWorld) askForAccount(ctx context.Context, t *testing.T, user, client string) (link string) {
	t.Helper()
	s := w.newSession(t, client, choices{refresh: true})
	if g, ok := s.(*goSession); ok {
		w.identify(t, g, user)
	}
	if err := s.connect(ctx); err != nil {
		t.Fatalf("%s: %v", user, err)
	}
	o, err := s.call(ctx, reading.tool, reading.arguments)
	if link = accountLink.FindString(o.text()); err != nil || !o.IsError || link == "" {
		t.Fatalf("%s: %v %+v", user, err, o)
	}
	w.tokens[user] = w.look(ctx, t, s).Access
	return link
}

// browser returns a browser of a user.
func (w *accountWorld) browser(t *testing.T, user string) *goSession {
	t.Helper()
	b, err := newGoSession(w.endpoint, choices{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.transport.CloseIdleConnections)
	w.identify(t, b, user)
	return b
}

// identify has a browser say who its user is.
func (w *accountWorld) identify(t *testing.T, b *goSession, user string) {
	t.Helper()
	u, err := url.Parse(w.endpoint)
	if err != nil {
		t.Fatal(err)
	}
	b.browser.Jar.SetCookies(u, []*http.Cookie{{Name: "user", Value: user, Path: "/"}})
}

// visit opens a link, and returns the last page.
func visit(ctx context.Context, t *testing.T, b *goSession, link string) string {
	t.Helper()
	_, page, err := b.walk(ctx, link)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// callAs calls a tool with the token of a user, and returns the answer.
func (w *accountWorld) callAs(ctx context.Context, t *testing.T, endpoint, user string) string {
	t.Helper()
	r, err := (&world{endpoint: endpoint}).newRawCall(ctx, "Bearer "+w.tokens[user])
	if err != nil {
		t.Fatal(err)
	}
	text, _, err := w.do(r)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// accountService answers each request with the user of its token, as the authorization server of the service says.
type accountService struct {
	login, secret string
	client        *http.Client

	mu     sync.Mutex
	tokens map[string]bool // that it has got
	n      int             // requests
}

// ServeHTTP implements [http.Handler].
func (a *accountService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	user, err := a.introspect(r.Context(), token)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.n++
	a.tokens[token] = true
	if user == "" || err != nil {
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"user":%q}`, user)
}

// introspect returns the user of a token (RFC 7662); "" if it is not active.
func (a *accountService) introspect(ctx context.Context, token string) (user string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.login+"/token/introspection", strings.NewReader(url.Values{"token": {token}}.Encode()))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth("gateway", a.secret)
	resp, err := a.client.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var got struct {
		Active bool   `json:"active"`
		Sub    string `json:"sub"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil || !got.Active {
		return "", err
	}
	return got.Sub, nil
}

// count returns the number of requests, and that of their tokens.
func (a *accountService) count() (requests, tokens int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.n, len(a.tokens)
}

// newAccountWorld starts everything; it ends with the test.
func newAccountWorld(t *testing.T, s *suite) *accountWorld {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	listen, replica, secret := s.address(t), s.address(t), newSecret()
	base := "http://" + listen
	w := &accountWorld{world: &world{suite: s, endpoint: base + "/mcp"}, other: "http://" + replica + "/mcp", tokens: map[string]string{}}
	issuer, err := startForeign(ctx, s.provider, terms{
		resource: w.endpoint, life: 10 * time.Minute, secret: secret, callback: base + "/account/login/{host}", registers: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.issuer = issuer.name
	if w.login, err = startForeign(ctx, s.provider, terms{
		resource: "https://orders.example.com", life: accountLife, opaque: true, secret: secret, callback: base + "/account/callback/orders",
	}); err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	w.service = &accountService{login: w.login.name, secret: secret, client: &http.Client{Transport: transport}, tokens: map[string]bool{}}
	service := httptest.NewServer(w.service)
	t.Cleanup(service.Close)
	redis, err := process.StartRedis(context.WithoutCancel(ctx), t.TempDir())
	if errors.Is(err, process.ErrNoRedis) {
		t.Skipf("not run: accounts: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := redis.Stop(); err != nil {
			t.Error(err)
		}
	})
	dir := t.TempDir()
	keep := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	seal, document := keep("seal", newSecret()+newSecret()), keep("orders.yaml", accountDocument)
	serve := func(name, listen string) (*process.Child, string) {
		admin := s.address(t)
		file := keep(name+".yaml", fmt.Sprintf(accountConfiguration, listen, base, seal, admin, redis.Address, w.issuer, w.endpoint, secret,
			document, service.URL, w.login.name, w.login.name, w.login.name, secret))
		child, err := process.Start(context.WithoutCancel(ctx), s.program, "serve", "--config", file)
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Await(ctx, (&world{suite: s, admin: admin}).ready); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return child, file
	}
	var first *process.Child
	first, w.file = serve("gateway", listen)
	w.second, _ = serve("replica", replica)
	w.secrets.add("a secret of the gateway", secret)
	t.Cleanup(func() {
		if err := first.Stop(); err != nil {
			t.Error(err)
		}
		w.secrets.add("a token of the service", slices.Collect(maps.Keys(w.service.tokens))...)
		for _, child := range []*process.Child{first, w.second} {
			_ = child.Stop() // the second was killed
			for _, found := range w.secrets.find([]byte(child.Log())) {
				t.Errorf("the log holds %s", found)
			}
			if t.Failed() {
				t.Logf("%.20000s", child.Log())
			}
		}
	})
	return w
}

const accountDocument = `openapi: 3.1.0
info: {title: Orders, version: "1"}
paths:
  /orders:
    get:
      operationId: getOrder
      parameters: [{name: order_no, in: query, schema: {type: string}}]
      responses: {"200": {description: The user, content: {application/json: {schema: {type: object}}}}}
`

const accountConfiguration = `server: {listen: %q, public_url: %q, seal_keys: ["${file:%s}"], shutdown_delay: 0s, drain_timeout: 2s}
admin: {listen: %q}
telemetry: {log_level: debug}
state: {redis: {url: "redis://%s", timeout: 1s}}
auth:
  issuers: [{issuer: %q, audiences: [%q], login: {client_id: gateway, client_secret: %q}}]
  default_scopes: [orders:read]
limits: {principal_rate: off, address_rate: off}
apis:
  - name: orders
    spec: %q
    base_url: %q
    credential:
      type: authorization_code
      authorize_url: %s/auth
      token_url: %s/token
      revoke_url: %s/token/revocation
      client_id: gateway
      client_secret: %q
      scopes: [orders:read]
`

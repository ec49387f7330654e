package registration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"encoding/json"

	"go.uber.org/goleak"

	"drawbridge/auth/authtest"
	"drawbridge/auth/oauthserver"
	"drawbridge/config"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	base           = "https://mcp.example.com"
	appRedirect    = "http://127.0.0.1:5000/callback"
	providerSecret = "canary-client-secret-0123456789"
	verifier       = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	sealKey        = "canary-seal-key-0123456789abcdef"
)

// world is an authorization server in front of one that behaves as Entra ID does.
type world struct {
	*Server
	t        *testing.T
	provider *authtest.Server
	config   *config.Config
	spent    state.Once
	refuse   error // of tokens
	log      *lockedBuffer
	now      time.Time
	client   *http.Client // for the provider
	document *http.Client
}

// lockedBuffer is a log that handlers of several goroutines write.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// newWorld returns a world. keys are further keys of auth.registration.
func newWorld(t *testing.T, keys string) *world {
	t.Helper()
	provider, err := authtest.Start(authtest.Options{
		AutoConsent: true, EntraID: true, DefaultResource: "api://gateway", IDTokenClaims: map[string]any{"groups": []string{"staff"}},
		Clients: []authtest.Client{{ID: "gateway", Secret: providerSecret, RedirectURIs: []string{base + callbackPath}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := provider.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &world{t: t, provider: provider, log: &lockedBuffer{}, now: time.Now(), client: &http.Client{Transport: transport}, spent: state.NewLocalOnce(nil)}
	w.document = &http.Client{Transport: refusing{}}
	w.config = w.load(keys)
	w.Server = w.replica(sealKey)
	return w
}

// refusing reaches no address, as the client of metadata documents does with private ones.
type refusing struct{}

func (refusing) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("address not allowed")
}

// load returns a configuration.
func (w *world) load(keys string) *config.Config {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "drawbridge.yaml")
	text := fmt.Sprintf(`server: {public_url: %q, seal_keys: [%s]}
auth:
  issuers: [{issuer: %q, audiences: ["api://gateway"]}]
  default_scopes: [mcp.use]
  registration: {client_id: gateway, client_secret: %s, scopes: [offline_access], scope_prefix: "api://gateway/"%s}
endpoints: [{name: shop, title: Shop, match: {api: shop}}]
apis: [{name: shop, spec: "https://example.com/openapi.json"}]
`, base, sealKey, w.provider.Issuer(), providerSecret, keys)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	c, problems := config.Load(file, os.Getenv)
	if c == nil {
		w.t.Fatal(problems)
	}
	return c
}

// replica returns another server with a key, as after a restart; "" for a key of its own.
func (w *world) replica(key string) *Server {
	w.t.Helper()
	var keys [][]byte
	if key != "" {
		keys = [][]byte{[]byte(key)}
	}
	sealer, err := mcp.NewSealer(keys, "drawbridge registration")
	if err != nil {
		w.t.Fatal(err)
	}
	return New(Options{
		Config:    func() *config.Config { return w.config },
		Provider:  func(*config.Issuer) (*http.Client, error) { return w.client, nil },
		Documents: func(*config.Config) *http.Client { return w.document },
		Verify:    func(context.Context, string, string) error { return w.refuse },
		Sealer:    sealer, Spent: w.spent,
		Address: func(r *http.Request) (netip.Addr, bool) {
			a, err := netip.ParseAddrPort(r.RemoteAddr)
			return a.Addr(), err == nil
		},
		Log: slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})), Now: func() time.Time { return w.now },
	})
}

// browser is a browser with its cookies for the gateway.
type browser struct {
	*world
	server  *Server
	cookies map[string]string
}

func (w *world) browser() *browser { return &browser{w, w.Server, map[string]string{}} }

// do sends a request with the cookies.
func (b *browser) do(r *http.Request) *httptest.ResponseRecorder {
	b.t.Helper()
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	rec := httptest.NewRecorder()
	b.server.ServeHTTP(rec, r)
	for _, c := range rec.Result().Cookies() {
		if b.cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	return rec
}

func (b *browser) get(target string) *httptest.ResponseRecorder {
	b.t.Helper()
	return b.do(httptest.NewRequest(http.MethodGet, target, nil))
}

// answer submits the form of a consent page.
func (b *browser) answer(page *httptest.ResponseRecorder, answer string, header http.Header) *httptest.ResponseRecorder {
	b.t.Helper()
	return b.submit(url.Values{"request": {field(page)}, "answer": {answer}}, header)
}

func (b *browser) submit(form url.Values, header http.Header) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequest(http.MethodPost, base+authorizePath, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if header == nil {
		header = http.Header{"Sec-Fetch-Site": {"same-origin"}, "Origin": {base}}
	}
	maps.Copy(r.Header, header)
	return b.do(r)
}

var fieldForm = regexp.MustCompile(`name="request" value="([^"]*)"`)

// field returns the sealed request of a consent page; "" if the page has none.
func field(page *httptest.ResponseRecorder) string {
	if m := fieldForm.FindStringSubmatch(page.Body.String()); m != nil {
		return m[1]
	}
	return ""
}

// atProvider goes where a page sends the browser, and returns the URL that the provider sends it back to.
func (b *browser) atProvider(page *httptest.ResponseRecorder) string {
	b.t.Helper()
	_, location, ok := strings.Cut(page.Header().Get("Refresh"), "url=")
	if !ok {
		b.t.Fatalf("no way to the provider: %d %s", page.Code, page.Body)
	}
	c := *b.client
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := c.Get(location)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	to := resp.Header.Get("Location")
	if !strings.HasPrefix(to, base+callbackPath) {
		b.t.Fatalf("the provider answers %d %q %s", resp.StatusCode, to, text)
	}
	return to
}

// post sends a request without cookies, as clients do.
func (w *world) post(s *Server, path, kind, body string) *httptest.ResponseRecorder {
	w.t.Helper()
	r := httptest.NewRequest(http.MethodPost, base+path, strings.NewReader(body))
	r.Header.Set("Content-Type", kind)
	rec := httptest.NewRecorder()
	s.ServeHTTP(rec, r)
	return rec
}

// register registers a client and returns its ID.
func (w *world) register(redirects ...string) string {
	w.t.Helper()
	text, err := json.Marshal(oauthserver.ClientMetadata{Name: "Notes", RedirectURIs: redirects, Grants: []string{"authorization_code", "refresh_token"}})
	if err != nil {
		w.t.Fatal(err)
	}
	rec := w.post(w.Server, registerPath, "application/json", string(text))
	var m oauthserver.ClientMetadata
	if err := json.Unmarshal(rec.Body.Bytes(), &m); err != nil || rec.Code != http.StatusCreated || m.ID == "" || m.AuthMethod != "none" {
		w.t.Fatalf("register: %d %s", rec.Code, rec.Body)
	}
	return m.ID
}

// authorizeURL returns an authorization request of a client; change replaces parameters, and removes those that are "".
func authorizeURL(id string, change url.Values) string {
	q := url.Values{
		"client_id": {id}, "redirect_uri": {appRedirect}, "response_type": {"code"}, "state": {"client-state"}, "code_challenge": {oauthserver.Challenge(verifier)},
		"code_challenge_method": {"S256"}, "scope": {"mcp.use"}, "resource": {base + "/mcp"},
	}
	for name, values := range change {
		if q[name] = values; len(values) == 1 && values[0] == "" {
			delete(q, name)
		}
	}
	return base + authorizePath + "?" + q.Encode()
}

// login logs in with a client and returns the parameters that the client gets.
func (b *browser) login(id string, change url.Values) url.Values {
	b.t.Helper()
	page := b.get(authorizeURL(id, change))
	if page.Code != http.StatusOK || field(page) == "" {
		b.t.Fatalf("no consent page: %d %s", page.Code, page.Body)
	}
	done := b.get(b.atProvider(b.answer(page, "allow", nil)))
	return answerOf(b.t, done)
}

// answerOf returns the parameters with which a response goes back to the client.
func answerOf(t *testing.T, rec *httptest.ResponseRecorder) url.Values {
	t.Helper()
	u, err := url.Parse(rec.Header().Get("Location"))
	if err != nil || rec.Code != http.StatusFound {
		t.Fatalf("no redirect: %d %s", rec.Code, rec.Body)
	}
	return u.Query()
}

// redeem redeems a code; change replaces parameters.
func (w *world) redeem(s *Server, id, code string, change url.Values) *httptest.ResponseRecorder {
	form := url.Values{"grant_type": {"authorization_code"}, "client_id": {id}, "redirect_uri": {appRedirect}, "code": {code}, "code_verifier": {verifier}}
	maps.Copy(form, change)
	return w.post(s, tokenPath, "application/x-www-form-urlencoded", form.Encode())
}

func (w *world) refreshWith(s *Server, id, token string) *httptest.ResponseRecorder {
	form := url.Values{"grant_type": {"refresh_token"}, "client_id": {id}, "refresh_token": {token}}
	return w.post(s, tokenPath, "application/x-www-form-urlencoded", form.Encode())
}

// tokensOf returns the tokens of a response.
func tokensOf(t *testing.T, rec *httptest.ResponseRecorder) tokens {
	t.Helper()
	var got tokens
	if err := json.Unmarshal(rec.Body.Bytes(), &got); err != nil || rec.Code != http.StatusOK || got.AccessToken == "" {
		t.Fatalf("no tokens: %d %s", rec.Code, rec.Body)
	}
	return got
}

// errorOf returns the error code of a response; "" if it is none.
func errorOf(rec *httptest.ResponseRecorder) string {
	var p oauthserver.Error
	if rec.Code < 400 || json.Unmarshal(rec.Body.Bytes(), &p) != nil {
		return ""
	}
	return p.Code
}

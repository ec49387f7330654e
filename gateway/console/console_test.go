package console

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/openapi/readiness"
)

// fixed is a gateway in one state.
type fixed struct {
	status admin.Status
	report admin.Report
	done   *[]string // what was changed
}

func (f fixed) Status() admin.Status { return f.status }

func (f fixed) Report(name string) (admin.Report, bool) {
	for _, a := range f.status.APIs {
		if a.Name == name {
			return f.report, true
		}
	}
	return admin.Report{}, false
}

func (fixed) DocumentText(context.Context, string, string, int, int) (*Excerpt, error) {
	return &Excerpt{File: "openapi.yaml", First: 1, Lines: []string{"openapi: 3.1.0", "<script>alert(1)</script>"}}, nil
}

func (fixed) Readiness(context.Context, string) (*readiness.Report, error) {
	f := readiness.Finding{Code: readiness.NearTwin, Weight: 15, Message: "the text of <script>alert(1)</script> begins with the same words", Place: readiness.Place{File: "openapi.yaml", Line: 2, Column: 1}}
	return &readiness.Report{Score: 92.5, Tools: 2, Kinds: []readiness.Kind{{Code: f.Code, Findings: 1, Weight: 15, Title: f.Code.Title()}},
		Operations: []readiness.Operation{{Tool: "a", Method: "GET", Path: "/a", Score: 85, Findings: []readiness.Finding{f}}}}, nil
}

func (f fixed) Reload(context.Context) error { f.did("reload"); return nil }
func (f fixed) Accept(_ context.Context, api, digest string) error {
	f.did("accept " + api + " " + digest)
	return nil
}
func (f fixed) AcceptLoss(_ context.Context, provider string) error {
	f.did("accept the loss of " + provider)
	return nil
}

func (f fixed) did(what string) {
	if f.done != nil {
		*f.done = append(*f.done, what)
	}
}

const (
	operateToken = "operate-0123456789"
	viewToken    = "view-0123456789abcdef"
)

// newTestConsole returns a console with one token for each role. change, if not nil, changes its options.
func newTestConsole(t *testing.T, change func(*Options)) *Console {
	t.Helper()
	file := filepath.Join(t.TempDir(), "drawbridge.yaml")
	text := "admin: {token: " + operateToken + ", console: {tokens: [{name: visitor, token: " + viewToken + "}]}}\napis: [{spec: 'https://example.com/openapi.json'}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, problems := config.Load(file, os.Getenv)
	if c == nil {
		t.Fatal(problems)
	}
	o := Options{
		Config: func() *config.Config { return c }, Log: slog.New(slog.DiscardHandler), Version: "test",
		Gateway: fixed{status: admin.Status{APIs: []admin.API{{Name: "orders", State: admin.Ready, Tools: 1234}}}},
		Tools:   func() ToolSet { return nil },
		Tokens:  func() (tokens, bytes int64) { return 0, 0 },
		Address: func(r *http.Request) (netip.Addr, bool) {
			a, err := netip.ParseAddrPort(r.RemoteAddr)
			return a.Addr(), err == nil
		},
	}
	if change != nil {
		change(&o)
	}
	return New(o)
}

// TestDependencies: the overview shows issuers, the audit log and the shared state, and why the gateway is not ready.
func TestDependencies(t *testing.T) {
	c := newTestConsole(t, func(o *Options) {
		o.Gateway = fixed{status: admin.Status{NotReady: admin.NoAudit, Audit: &admin.Audit{Error: "no space left on device", Refuses: true, Pending: 17}, Shared: &admin.Shared{Up: true, Replicas: 3},
			Issuers: []admin.Issuer{{Issuer: "https://a.example.com", Error: "status 502"}, {Issuer: "https://b.example.com", Able: true, Keys: 2, Stored: true, Error: "<b>"}, {Issuer: "https://c.example.com", Able: true, Keys: 1}}}}
	})
	page := signedIn(t, c, viewToken).get("/console").Body.String()
	for _, want := range []string{
		"the audit log can&#39;t be written, and calls are refused</p>",
		`https://a.example.com</th><td data-label="State"><span class="state failed">failed</span></td><td data-label="Details">no keys: status 502<`,
		`https://b.example.com</th><td data-label="State"><span class="state stale">stale</span></td><td data-label="Details">2 keys by an earlier process: &lt;b&gt;<`,
		`https://c.example.com</th><td data-label="State"><span class="state ready">ready</span></td><td data-label="Details">1 key<`,
		`audit log</th><td data-label="State"><span class="state failed">failed</span></td><td data-label="Details">not writable since `, `calls are refused, 17 records wait: no space left on device<`,
		`shared state</th><td data-label="State"><span class="state ready">ready</span></td><td data-label="Details">up, 3 replicas<`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in %s", want, page)
		}
	}
}

// browser is a browser with a cookie.
type browser struct {
	t       *testing.T
	console http.Handler
	cookie  *http.Cookie
}

func (b *browser) send(r *http.Request) *httptest.ResponseRecorder {
	b.t.Helper()
	if b.cookie != nil {
		r.AddCookie(b.cookie)
	}
	w := httptest.NewRecorder()
	b.console.ServeHTTP(w, r)
	if set := w.Result().Cookies(); len(set) > 0 {
		b.cookie = set[0]
	}
	return w
}

func (b *browser) get(path string) *httptest.ResponseRecorder {
	return b.send(httptest.NewRequest(http.MethodGet, path, nil))
}

// post sends a form from a page of the console itself.
func (b *browser) post(path string, form url.Values) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return b.send(r)
}

// csrf returns the CSRF token of the browser's session, from a page.
func (b *browser) csrf() string {
	_, rest, _ := strings.Cut(b.get("/console").Body.String(), `name="csrf" value="`)
	token, _, _ := strings.Cut(rest, `"`)
	return token
}

// signedIn returns a browser that has signed in with a token.
func signedIn(t *testing.T, c http.Handler, token string) *browser {
	t.Helper()
	b := &browser{t: t, console: c}
	if w := b.post("/console/signin", url.Values{"token": {token}}); w.Code != http.StatusSeeOther {
		t.Fatalf("signing in: %d %s", w.Code, w.Body)
	}
	return b
}

func TestSignInAndOut(t *testing.T) {
	c := newTestConsole(t, nil)
	b := &browser{t: t, console: c}
	if w := b.get("/console"); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/console/signin" {
		t.Errorf("without a session: %d %q", w.Code, w.Header().Get("Location"))
	}
	if w := b.post("/console/signin", url.Values{"token": {"wrong"}}); w.Code != http.StatusUnauthorized || b.cookie != nil {
		t.Errorf("a wrong token: %d, cookie %v", w.Code, b.cookie)
	}
	b = signedIn(t, c, operateToken)
	if !b.cookie.HttpOnly || b.cookie.SameSite != http.SameSiteStrictMode || b.cookie.Path != "/console" {
		t.Errorf("cookie %+v", b.cookie)
	}
	w := b.get("/console")
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "orders") || !strings.Contains(w.Body.String(), "1,234") {
		t.Errorf("overview: %d %s", w.Code, w.Body)
	}
	before := *b.cookie
	if w := b.post("/console/signout", url.Values{"csrf": {b.csrf()}}); w.Code != http.StatusSeeOther {
		t.Errorf("signing out: %d %s", w.Code, w.Body)
	}
	b.cookie = &before
	if w := b.get("/console"); w.Code != http.StatusSeeOther {
		t.Errorf("the session goes on after signing out: %d", w.Code)
	}
}

// TestRoles holds that what changes something takes the role operate and a form of the session.
func TestRoles(t *testing.T) {
	var did []string
	c := newTestConsole(t, func(o *Options) {
		o.Gateway = fixed{status: admin.Status{APIs: []admin.API{{Name: "orders"}}}, done: &did}
	})
	changes := []string{"/console/reload", "/console/apis/orders/accept", "/console/discovery/shop/accept"}
	visitor, operator := signedIn(t, c, viewToken), signedIn(t, c, operateToken)
	for _, path := range changes {
		if w := visitor.post(path, url.Values{"csrf": {visitor.csrf()}, "digest": {"d"}}); w.Code != http.StatusForbidden {
			t.Errorf("%s with the role view: %d", path, w.Code)
		}
		if w := operator.post(path, url.Values{"digest": {"d"}}); w.Code != http.StatusForbidden {
			t.Errorf("%s without a CSRF token: %d", path, w.Code)
		}
		if w := operator.post(path, url.Values{"csrf": {visitor.csrf()}, "digest": {"d"}}); w.Code != http.StatusForbidden {
			t.Errorf("%s with the CSRF token of another session: %d", path, w.Code)
		}
		if w := operator.get(path); w.Code != http.StatusNotFound && w.Code != http.StatusMethodNotAllowed {
			t.Errorf("GET %s: %d", path, w.Code)
		}
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(url.Values{"csrf": {operator.csrf()}, "digest": {"d"}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "https://evil.example.com")
		if w := operator.send(r); w.Code != http.StatusForbidden {
			t.Errorf("%s from another origin: %d", path, w.Code)
		}
	}
	if did != nil {
		t.Fatalf("changed: %q", did)
	}
	for _, path := range changes {
		if w := operator.post(path, url.Values{"csrf": {operator.csrf()}, "digest": {"d"}}); w.Code != http.StatusSeeOther {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if got := strings.Join(did, "; "); got != "reload; accept orders d; accept the loss of shop" {
		t.Errorf("changed: %q", got)
	}
}

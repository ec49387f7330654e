package console

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drawbridge/auth/authtest"
	"drawbridge/config"
)

const (
	consoleURL     = "http://127.0.0.1:9090"
	providerSecret = "canary-client-secret-0123456789"
)

// oidcWorld is a console whose people sign in at an authorization server.
type oidcWorld struct {
	*Console
	t      *testing.T
	issuer *authtest.Server
	log    *bytes.Buffer
	now    time.Time
	config *config.Config
}

// newOIDCWorld returns a console and its provider. claims are further claims of ID tokens, and roles the configuration of
// the roles.
func newOIDCWorld(t *testing.T, claims map[string]any, roles string) *oidcWorld {
	t.Helper()
	issuer, err := authtest.Start(authtest.Options{
		AutoConsent: true, Subject: "u-1001", DefaultResource: "https://mcp.example.com/mcp", IDTokenClaims: claims,
		Clients: []authtest.Client{{ID: "console", Secret: providerSecret, RedirectURIs: []string{consoleURL + "/console/signin/callback"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := &oidcWorld{t: t, issuer: issuer, log: &bytes.Buffer{}, now: time.Now()}
	w.config = w.load(roles)
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := issuer.Close(); err != nil {
			t.Error(err)
		}
	})
	w.Console = newTestConsole(t, func(o *Options) {
		o.Config = func() *config.Config { return w.config }
		o.Now = func() time.Time { return w.now }
		o.Log = slog.New(slog.NewTextHandler(w.log, nil))
		o.Provider = func(*config.ConsoleOIDC) (*http.Client, error) { return &http.Client{Transport: transport}, nil }
	})
	return w
}

// load returns a configuration with the provider.
func (w *oidcWorld) load(roles string) *config.Config {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "drawbridge.yaml")
	text := "admin: {listen: '127.0.0.1:9090', console: {oidc: {issuer: '" + w.issuer.Issuer() + "', client_id: console, client_secret: " + providerSecret +
		", " + roles + "}}}\napis: [{spec: 'https://example.com/openapi.json'}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	c, problems := config.Load(file, os.Getenv)
	if c == nil {
		w.t.Fatal(problems)
	}
	return c
}

// visitor is a browser with all of its cookies for the console.
type visitor struct {
	*oidcWorld
	cookies map[string]string
}

func (w *oidcWorld) visitor() *visitor { return &visitor{w, map[string]string{}} }

// get requests a page of the console, by its path or URL.
func (v *visitor) get(target string) *httptest.ResponseRecorder {
	v.t.Helper()
	if strings.HasPrefix(target, "/") {
		target = consoleURL + target
	}
	r := httptest.NewRequest(http.MethodGet, target, nil)
	for name, value := range v.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	rec := httptest.NewRecorder()
	v.ServeHTTP(rec, r)
	for _, c := range rec.Result().Cookies() {
		if v.cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(v.cookies, c.Name)
		}
	}
	return rec
}

// callback goes to the provider, and returns the URL that it sends the browser back to.
func (v *visitor) callback(next string) string {
	v.t.Helper()
	start := v.get("/console/signin/oidc?" + url.Values{"next": {next}}.Encode())
	to := start.Header().Get("Location")
	if start.Code != http.StatusSeeOther || !strings.HasPrefix(to, v.issuer.Issuer()+"/authorize?") {
		v.t.Fatalf("the flow begins with %d %q %s", start.Code, to, start.Body)
	}
	ctx, cancel := context.WithTimeout(v.t.Context(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, to, nil)
	if err != nil {
		v.t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	resp.Body.Close()
	return resp.Header.Get("Location")
}

const operateRoles = "roles: {view: [staff], operate: [operators]}"

func TestSignInAtProvider(t *testing.T) {
	w := newOIDCWorld(t, map[string]any{"groups": []string{"staff", "operators"}, "preferred_username": "mia"}, operateRoles)
	v := w.visitor()
	if page := v.get("/console/signin?next=/console/apis").Body.String(); !strings.Contains(page, `href="/console/signin/oidc?next=%2Fconsole%2Fapis"`) {
		t.Errorf("no link to the provider: %s", page)
	}
	back := v.callback("/console/apis?fate=held")
	page := v.get(back)
	if page.Code != http.StatusOK || page.Header().Get("Refresh") != "0; url=/console/apis?fate=held" {
		t.Fatalf("%d %q %s", page.Code, page.Header().Get("Refresh"), page.Body)
	}
	overview := v.get("/console")
	if !strings.Contains(overview.Body.String(), "mia (oidc:u-1001) (operate)") {
		t.Errorf("signed in as somebody else: %s", overview.Body)
	}
	if again := w.visitor().get(back); again.Code != http.StatusForbidden {
		t.Errorf("the same response in another browser: %d", again.Code)
	}
	if log := w.log.String(); strings.Contains(log, "canary") || !strings.Contains(log, `name="mia (oidc:u-1001)"`) {
		t.Errorf("log: %s", log)
	}
}

// TestProviderOtherHost: the flow begins at the URL that the provider sends browsers back to.
func TestProviderOtherHost(t *testing.T) {
	w := newOIDCWorld(t, nil, operateRoles)
	got := w.visitor().get("http://localhost:9090/console/signin/oidc?next=/console/tools")
	if to := got.Header().Get("Location"); to != consoleURL+"/console/signin/oidc?moved=1&next=%2Fconsole%2Ftools" {
		t.Errorf("%d %q", got.Code, to)
	}
}

// TestProviderRoles holds which claims have a role.
func TestProviderRoles(t *testing.T) {
	for _, test := range []struct {
		name, roles string
		claims      map[string]any
		want        string // "" if the person is not let in
	}{
		{"list", operateRoles, map[string]any{"groups": []string{"x", "staff"}}, "oidc:u-1001 (view)"},
		{"string", operateRoles, map[string]any{"groups": "x staff operators"}, "oidc:u-1001 (operate)"},
		{"none of the values", operateRoles, map[string]any{"groups": []string{"operators2"}}, ""},
		{"absent", operateRoles, nil, ""},
		{"number", operateRoles, map[string]any{"groups": 7}, ""},
		{"object", operateRoles, map[string]any{"groups": map[string]any{"operators": true}}, ""},
		{"pointer", "roles_claim: /realm_access/roles, " + operateRoles, map[string]any{"realm_access": map[string]any{"roles": []string{"operators"}}}, "oidc:u-1001 (operate)"},
		{"pointer through a string", "roles_claim: /realm_access/roles, " + operateRoles, map[string]any{"realm_access": "operators"}, ""},
		{"subject", "roles_claim: sub, roles: {view: [u-1001]}", nil, "oidc:u-1001 (view)"},
		{"a name that imitates another", operateRoles, map[string]any{"groups": "staff", "preferred_username": "admin (oidc:u-1)\u202e\u200b"}, "adminoidc:u-1 (oidc:u-1001) (view)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := newOIDCWorld(t, test.claims, test.roles).visitor()
			page := v.get(v.callback(""))
			if test.want == "" {
				if page.Code != http.StatusForbidden || len(v.cookies) != 0 || !strings.Contains(page.Body.String(), "is not let in") {
					t.Errorf("%d %v %s", page.Code, v.cookies, page.Body)
				}
				return
			}
			if body := v.get("/console").Body.String(); !strings.Contains(body, "<span>"+test.want+"</span>") {
				t.Errorf("want %q: %s", test.want, body)
			}
		})
	}
}

// TestProviderResponses holds that no other response than that of the flow signs in.
func TestProviderResponses(t *testing.T) {
	claims := map[string]any{"groups": "operators"}
	change := func(name, value string) func(string) string {
		return func(back string) string {
			u, err := url.Parse(back)
			if err != nil {
				t.Fatal(err)
			}
			q := u.Query()
			if q.Del(name); value != "" {
				q.Set(name, value)
			}
			u.RawQuery = q.Encode()
			return u.String()
		}
	}
	same := func(back string) string { return back }
	for _, test := range []struct {
		name   string
		claims map[string]any // that differ
		change func(back string) string
		before func(*oidcWorld, *visitor)
		status int
		want   string
	}{
		{"other state", nil, change("state", "x"), nil, http.StatusForbidden, "was not begun in this browser"},
		{"no state", nil, change("state", ""), nil, http.StatusForbidden, "was not begun in this browser"},
		{"no cookie", nil, same, func(_ *oidcWorld, v *visitor) { clear(v.cookies) }, http.StatusForbidden, "was not begun in this browser"},
		{"cookie changed", nil, same, func(_ *oidcWorld, v *visitor) { v.cookies["drawbridge_console_flow"] += "AA" }, http.StatusForbidden, "was not begun in this browser"},
		{"too late", nil, same, func(w *oidcWorld, _ *visitor) { w.now = w.now.Add(10*time.Minute + 2*time.Second) }, http.StatusForbidden, "was not begun in this browser"},
		{"other issuer", nil, change("iss", "https://evil.example.com"), nil, http.StatusForbidden, "another provider"},
		{"no issuer", nil, change("iss", ""), nil, http.StatusForbidden, "another provider"},
		{"no code", nil, change("code", ""), nil, http.StatusForbidden, "has no code"},
		{"other code", nil, change("code", "x"), nil, http.StatusForbidden, "no longer valid"},
		{"denied", nil, change("error", "access_denied"), nil, http.StatusForbidden, "access_denied"},
		{"error with markup", nil, change("error", "<script>alert(1)</script>"), nil, http.StatusForbidden, "&lt;script&gt;alert(1)&lt;/script&gt;"},
		{"token of another flow", map[string]any{"nonce": "x"}, same, nil, http.StatusForbidden, "for another sign-in"},
		{"token of another client", map[string]any{"aud": "other"}, same, nil, http.StatusBadGateway, "is not valid here"},
		{"token for several, issued to another", map[string]any{"aud": []string{"console", "other"}, "azp": "other"}, same, nil, http.StatusForbidden, "issued to another client"},
		{"token of another issuer", map[string]any{"iss": "https://evil.example.com"}, same, nil, http.StatusBadGateway, "is not valid here"},
		{"token that has expired", map[string]any{"exp": 1000}, same, nil, http.StatusBadGateway, "is not valid here"},
		{"token without a subject", map[string]any{"sub": ""}, same, nil, http.StatusBadGateway, "has no subject"},
		{"keys that can't be fetched", nil, same, func(w *oidcWorld, _ *visitor) { w.issuer.Fail(authtest.KeySet, &authtest.Failure{}) }, http.StatusBadGateway, "is not valid here"},
		{"token endpoint fails", nil, same, func(w *oidcWorld, _ *visitor) { w.issuer.Fail(authtest.TokenEndpoint, &authtest.Failure{}) }, http.StatusBadGateway, "as its client"},
	} {
		t.Run(test.name, func(t *testing.T) {
			all := map[string]any{}
			for _, some := range []map[string]any{claims, test.claims} {
				for name, value := range some {
					all[name] = value
				}
			}
			w := newOIDCWorld(t, all, operateRoles)
			v := w.visitor()
			back := test.change(v.callback(""))
			if test.before != nil {
				test.before(w, v)
			}
			page := v.get(back)
			if page.Code != test.status || !strings.Contains(page.Body.String(), test.want) || strings.Contains(page.Body.String(), "<script>alert") {
				t.Errorf("%d, want %d and %q: %s", page.Code, test.status, test.want, page.Body)
			}
			if v.cookies["drawbridge_console"] != "" || v.get("/console").Code != http.StatusSeeOther {
				t.Error("somebody is signed in")
			}
			if log := w.log.String(); strings.Contains(log, "canary") || !strings.Contains(log, "a sign-in to the console failed") {
				t.Errorf("log: %s", log)
			}
		})
	}
}

// TestProviderDown: without metadata nobody is sent anywhere, and it is asked again only after some seconds.
func TestProviderDown(t *testing.T) {
	w := newOIDCWorld(t, nil, operateRoles)
	w.issuer.Fail(authtest.Metadata, &authtest.Failure{})
	v := w.visitor()
	for range 3 {
		if page := v.get("/console/signin/oidc"); page.Code != http.StatusBadGateway || !strings.Contains(page.Body.String(), "does not answer") {
			t.Errorf("%d %s", page.Code, page.Body)
		}
	}
	asked := w.issuer.Requests(authtest.Metadata)
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	w.issuer.Fail(authtest.Metadata, nil)
	w.now = w.now.Add(5 * time.Second)
	v.callback("")
	w.issuer.Fail(authtest.Metadata, &authtest.Failure{})
	w.now = w.now.Add(2 * time.Hour) // the metadata is old, and better than none
	v.callback("")
}

// TestProviderReload: a session ends with the line of the configuration that gave its role.
func TestProviderReload(t *testing.T) {
	w := newOIDCWorld(t, map[string]any{"groups": "operators staff"}, operateRoles)
	v := w.visitor()
	v.get(v.callback(""))
	w.config = w.load("roles: {operate: [operators], view: [others]}")
	if page := v.get("/console"); page.Code != http.StatusOK {
		t.Errorf("the session ended with a change that does not concern it: %d", page.Code)
	}
	w.config = w.load("roles: {view: [operators]}")
	if page := v.get("/console"); page.Code != http.StatusSeeOther {
		t.Errorf("the session goes on with a role that was taken away: %d", page.Code)
	}
}

// A claim about the person is one text, of which no part is a role: people choose their names, and e-mail addresses that nobody has
// verified.
func TestPersonalClaims(t *testing.T) {
	const roles = ", roles: {operate: [ops@example.com]}"
	for _, c := range []struct {
		claim  string
		claims map[string]any
		in     bool
	}{
		{"preferred_username", map[string]any{"preferred_username": "mallory ops@example.com"}, false},
		{"name", map[string]any{"name": "Mallory ops@example.com Evil"}, false},
		{"email", map[string]any{"email": "mallory@evil.example ops@example.com", "email_verified": true}, false},
		{"email", map[string]any{"email": "ops@example.com"}, false},
		{"email", map[string]any{"email": "ops@example.com", "email_verified": false}, false},
		{"email", map[string]any{"email": "ops@example.com", "email_verified": true}, true},
		{"preferred_username", map[string]any{"preferred_username": "ops@example.com"}, true},
		{"scope", map[string]any{"scope": "staff ops@example.com"}, true},
	} {
		w := newOIDCWorld(t, c.claims, "roles_claim: "+c.claim+roles)
		v := w.visitor()
		if page := v.get(v.callback("/console")); (v.cookies["drawbridge_console"] != "") != c.in {
			t.Errorf("%s, %v: let in: %v, want %v: %d", c.claim, c.claims, !c.in, c.in, page.Code)
		}
	}
}

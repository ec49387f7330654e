package relyingparty

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"drawbridge/auth/authtest"
	"drawbridge/gateway/mcp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newParty returns a party at a provider of development.
func newParty(t *testing.T, cookie Cookie) *Party {
	t.Helper()
	issuer, err := authtest.Start(authtest.Options{
		AutoConsent: true, DefaultResource: "https://mcp.example.com/mcp", Clients: []authtest.Client{{ID: "party", RedirectURIs: []string{"https://mcp.example.com/cb"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := issuer.Close(); err != nil {
			t.Error(err)
		}
	})
	sealer, err := mcp.NewSealer(nil, "test")
	if err != nil {
		t.Fatal(err)
	}
	return New(Options{
		Client: Client{Issuer: issuer.Issuer(), ID: "party", RedirectURI: "https://mcp.example.com/cb", Parameters: map[string]string{"login_hint": "mia"}, HTTP: &http.Client{
			Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}},
		Sealer: sealer, Cookie: cookie, Now: time.Now,
	})
}

// begin begins a login and returns its cookie and the callback to which the provider sends the browser.
func begin(t *testing.T, p *Party, data string, scopes ...string) (*http.Cookie, string) {
	t.Helper()
	rec := httptest.NewRecorder()
	location, err := p.Begin(rec, httptest.NewRequest(http.MethodGet, "/", nil), json.RawMessage(data), scopes...)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := p.o.Client.HTTP.Get(location)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return rec.Result().Cookies()[0], resp.Header.Get("Location")
}

func callback(p *Party, target string, cookies ...*http.Cookie) (*Login, error) {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	for _, c := range cookies {
		r.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value})
	}
	return p.Callback(httptest.NewRecorder(), r)
}

// TestCookies: over HTTPS a login's cookie has a name that no other host can set; over plain HTTP it has the path of the party. Parallel
// logins have cookies of their own.
func TestCookies(t *testing.T) {
	for _, o := range []Cookie{{Name: "login", Path: "/p"}, {Name: "login", Path: "/p", Secure: true}, {Name: "login", Path: "/p", Secure: true, Parallel: true}} {
		p := newParty(t, o)
		c, target := begin(t, p, `"x"`)
		name, path := "login", "/p"
		if o.Secure {
			name, path = "__Host-login", "/"
		}
		if (c.Name == name) == o.Parallel || !strings.HasPrefix(c.Name, name) || c.Path != path || c.Secure != o.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Domain != "" {
			t.Errorf("%+v: %v", o, c)
		}
		second, _ := begin(t, p, `"y"`)
		if (second.Name == c.Name) == o.Parallel {
			t.Errorf("%+v: a second login has the cookie %s", o, second.Name)
		}
		l, err := callback(p, target, c)
		if err != nil || string(l.Data) != `"x"` {
			t.Fatalf("%+v: %v, %v", o, l, err)
		}
		got, err := p.Redeem(t.Context(), l)
		if err != nil || got.Claims["sub"] != "developer" || got.AccessToken == "" {
			t.Errorf("%+v: %+v, %v", o, got, err)
		}
	}
}

// TestNonce: a code with an ID token for another login is not accepted, even with the right verifier.
func TestNonce(t *testing.T) {
	p := newParty(t, Cookie{Name: "login", Path: "/"})
	c, target := begin(t, p, `{}`)
	l, err := callback(p, target, c)
	if err != nil {
		t.Fatal(err)
	}
	l.Nonce = "another"
	if got, err := p.Redeem(t.Context(), l); err == nil {
		t.Errorf("accepted: %+v", got)
	}
}

// TestTooLong: data that don't fit into a cookie are an error when the login begins.
func TestTooLong(t *testing.T) {
	p := newParty(t, Cookie{Name: "login", Path: "/"})
	_, err := p.Begin(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil), json.RawMessage(`"`+strings.Repeat("a", 4000)+`"`))
	if err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("%v", err)
	}
}

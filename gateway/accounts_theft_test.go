package gateway_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"drawbridge/auth/authtest"
	"drawbridge/gateway"
	"drawbridge/gateway/account"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// accountFile returns the name and text of the one file of a folder that is not among others.
func accountFile(t *testing.T, dir string, others ...string) (name, text string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "accounts", "*.account"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if len(others) == 0 || file != others[0] {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			return file, string(b)
		}
	}
	t.Fatal("no file")
	return "", ""
}

// TestAccountFilesAreBound: what is kept of an account is of use neither for another user, with other keys, as a link or cookie, nor damaged.
func TestAccountFilesAreBound(t *testing.T) {
	w, dir := newAccountWorld(t, 0), t.TempDir()
	g := w.gateway(dir)
	w.mustConnect(g, "alice", "list")
	alice, hers := accountFile(t, dir)
	w.mustConnect(g, "bob", "list")
	bob, his := accountFile(t, dir, alice)
	for _, path := range []string{alice, filepath.Dir(alice)} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v %v", path, info, err)
		}
	}
	const nameLength = 64
	for name, value := range map[string]string{
		"of another user":                    hers,
		"of another user under his own name": his[:nameLength] + hers[nameLength:],
		"damaged":                            his[:len(his)-3] + "AAA",
		"cut":                                his[:nameLength+10],
		"empty":                              "",
		"unsealed":                           his[:nameLength] + `{"issuer":"x","subject":"bob","access":"token"}`,
		"huge":                               his + strings.Repeat("A", 1<<20),
	} {
		if err := os.WriteFile(bob, []byte(value), 0o600); err != nil {
			t.Fatal(err)
		}
		if text := w.call(g, "bob", "list"); !linkForm.MatchString(text) || strings.Contains(text, "@shop") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if err := os.Remove(bob); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(alice, bob); err != nil {
		t.Fatal(err)
	}
	if text := w.call(g, "bob", "list"); strings.Contains(text, "@shop") {
		t.Errorf("a symbolic link: %s", text)
	}
	if text := w.call(g, "alice", "list"); !strings.Contains(text, `"user":"alice@shop"`) {
		t.Error(text)
	}
	mustRefuse(t, "an account as a link", w.browser(g, "alice", "alice@shop").open(http.MethodGet, gatewaytest.PublicURL+"/account/connect/"+hers[nameLength:], nil))
	// Other keys, another client at the service, another service.
	link := w.link(g, "alice", "add")
	for name, change := range map[string][2]string{
		"keys":          {"the-key-of-all-replicas", "the-other-keys-of-replicas"},
		"client":        {"client_id: at-shop", "client_id: at-shop-again"},
		"token_url":     {w.login.Issuer() + "/token", w.login.Issuer() + "/token2"},
		"authorize_url": {w.login.Issuer() + "/authorize", w.login.Issuer() + "/authorize2"},
		"name":          {"name: shop", "name: other"},
		"base_url":      {"base_url: $BASE", "base_url: https://evil.example.com"},
	} {
		cfg := strings.Replace(w.config(fmt.Sprintf(", state_dir: %q", dir)), change[0], change[1], 1)
		other := gatewaytest.Start(t, w.document, cfg, w.service.URL)
		calls := len(w.calls)
		if text := w.call(other, "alice", "list"); !linkForm.MatchString(text) || len(w.calls) != calls {
			t.Errorf("other %s: %s", name, text)
		}
		mustRefuse(t, "a link of the gateway with another "+name, w.browser(other, "alice", "alice@shop").open(http.MethodGet, link, nil))
	}
}

// TestAccountSubjects: users whose subjects resemble each other, or are paths or markup, have accounts of their own.
func TestAccountSubjects(t *testing.T) {
	w, dir := newAccountWorld(t, 0), t.TempDir()
	g := w.gateway(dir)
	subjects := []string{"alice", "Alice", "al|ice", w.issuer.Issuer() + "|alice", "../alice", "/", "%61lice", `"><script>alert(1)</script>`, "älice", "a\u0308lice", "*", "alice,bob", `["alice"]`}
	for i, user := range subjects {
		if page := w.browser(g, user, fmt.Sprintf("user%d@shop", i)).connect(w.link(g, user, "list")); !strings.Contains(page.Body.String(), connected) {
			t.Errorf("%q: %d %s", user, page.Code, page.Body)
		}
	}
	for i, user := range subjects {
		if text := w.call(g, user, "list"); !strings.Contains(text, fmt.Sprintf(`"user":"user%d@shop"`, i)) {
			t.Errorf("%q: %s", user, text)
		}
	}
	if files, err := filepath.Glob(filepath.Join(dir, "accounts", "*.account")); err != nil || len(files) != len(subjects) {
		t.Errorf("%d files, %v", len(files), err)
	}
}

// TestAccountTokenEndpoint: a token endpoint that answers nonsense connects nothing, shows nothing of its response, and sends neither code nor
// secret elsewhere.
func TestAccountTokenEndpoint(t *testing.T) {
	w := newAccountWorld(t, 0)
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		elsewhere.Add(1)
		rw.Header().Set("Content-Type", "application/json")
		_, _ = rw.Write([]byte(`{"access_token":"theirs","token_type":"Bearer"}`))
	}))
	t.Cleanup(other.Close)
	g := w.gateway(t.TempDir())
	for name, f := range map[string]authtest.Failure{
		"307 to another origin":  {Status: http.StatusTemporaryRedirect, Header: http.Header{"Location": {other.URL}}},
		"308 to another origin":  {Status: http.StatusPermanentRedirect, Header: http.Header{"Location": {other.URL}}},
		"302 to another origin":  {Status: http.StatusFound, Header: http.Header{"Location": {other.URL}}},
		"another type of tokens": {Status: http.StatusOK, Body: `{"access_token":"evil-token","token_type":"mac"}`},
		"DPoP":                   {Status: http.StatusOK, Body: `{"access_token":"evil-token","token_type":"DPoP"}`},
		"a line end":             {Status: http.StatusOK, Body: `{"access_token":"evil-token\r\nX-Admin: 1","token_type":"Bearer"}`},
		"a space":                {Status: http.StatusOK, Body: `{"access_token":"evil-token, Basic x","token_type":"Bearer"}`},
		"no token":               {Status: http.StatusOK, Body: `{"token_type":"Bearer","evil-token":1}`},
		"a long token":           {Status: http.StatusOK, Body: `{"access_token":"evil-token` + strings.Repeat("A", 20<<10) + `","token_type":"Bearer"}`},
		"markup":                 {Status: http.StatusOK, Body: `<script>evil-token</script>`},
		"markup as the error":    {Status: http.StatusBadRequest, Body: `{"error":"<script>evil-token</script>","error_description":"<script>evil-token</script>","error_uri":"https://evil-token"}`},
		"too much":               {Status: http.StatusOK, Body: `{"access_token":"` + strings.Repeat("A", 4<<20)},
	} {
		t.Run(name, func(t *testing.T) {
			b := w.browser(g, "alice", "alice@shop")
			last := b.atService(b.atIssuer(w.link(g, "alice", "list")))
			f.Times = 1
			w.login.Fail(authtest.TokenEndpoint, &f)
			rec := b.open(http.MethodGet, last, nil)
			w.login.Fail(authtest.TokenEndpoint, nil)
			mustRefuse(t, name, rec)
			if strings.Contains(rec.Body.String(), "evil-token") {
				t.Errorf("%s", rec.Body)
			}
			w.link(g, "alice", "list")
		})
	}
	if elsewhere.Load() > 0 || len(w.calls) > 0 {
		t.Errorf("another origin got %d requests, the service %d", elsewhere.Load(), len(w.calls))
	}
}

// TestAccountLinkInTwoBrowsers: of two browsers in which the caller follows one link, at the same time, one connects an account.
func TestAccountLinkInTwoBrowsers(t *testing.T) {
	w := newAccountWorld(t, 0)
	g := w.gateway(t.TempDir())
	link := w.link(g, "alice", "list")
	var last [2]string
	browsers := [2]*accountBrowser{w.browser(g, "alice", "first@shop"), w.browser(g, "alice", "second@shop")}
	for i, b := range browsers {
		last[i] = b.atService(b.atIssuer(link))
	}
	var n atomic.Int32
	var wg sync.WaitGroup
	for i, b := range browsers {
		wg.Go(func() {
			if strings.Contains(b.open(http.MethodGet, last[i], nil).Body.String(), connected) {
				n.Add(1)
			}
		})
	}
	timebox.Done(t, wg.Wait)
	if n.Load() != 1 {
		t.Errorf("%d accounts were connected", n.Load())
	}
}

// heldTokenEndpoint is a token endpoint before that of the service which holds its response to the next refresh.
type heldTokenEndpoint struct {
	*httptest.Server
	armed           atomic.Bool
	arrived, resume chan struct{}
}

func newHeldTokenEndpoint(t *testing.T, s *authtest.Server) *heldTokenEndpoint {
	t.Helper()
	to, err := url.Parse(s.Issuer())
	if err != nil {
		t.Fatal(err)
	}
	h := &heldTokenEndpoint{arrived: make(chan struct{}), resume: make(chan struct{})}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) },
		ModifyResponse: func(*http.Response) error {
			if h.armed.CompareAndSwap(true, false) {
				close(h.arrived)
				timebox.Wait(t, h.resume)
			}
			return nil
		},
	}
	h.Server = httptest.NewServer(proxy)
	t.Cleanup(h.Close)
	return h
}

// TestAccountRevokedDuringRefresh: a refresh that is under way does not bring an account back that is revoked meanwhile, and its tokens end at
// the service, too. It does not replace an account that the user connects meanwhile either.
func TestAccountRevokedDuringRefresh(t *testing.T) {
	for _, store := range []string{"redis", "files"} {
		for _, meanwhile := range []string{"revoked", "connected"} {
			t.Run(store+" "+meanwhile, func(t *testing.T) {
				w := newAccountWorld(t, 0)
				held := newHeldTokenEndpoint(t, w.login)
				at := strings.NewReplacer(w.login.Issuer()+"/token", held.URL+"/token")
				var g *gateway.Gateway
				if store == "redis" {
					g = replicas(t, miniredis.RunT(t), 1, w.document, at.Replace(w.config(""))+"state: {redis: {url: $REDIS, timeout: 1s}}\n", w.service.URL)[0]
				} else {
					g = gatewaytest.Start(t, w.document, at.Replace(w.config(fmt.Sprintf(", state_dir: %q", t.TempDir()))), w.service.URL)
				}
				w.mustConnect(g, "alice", "list")
				w.call(g, "alice", "list")
				w.rejected[w.calls[0]] = true
				b := w.browser(g, "alice", "other@shop")
				last := b.atService(b.atIssuer(w.link(g, "alice", "add")))
				held.armed.Store(true)
				called := make(chan struct{})
				client := gatewaytest.NewClient(t, g.Handler(), "2026-07-28", w.token("alice"))
				go func() { defer close(called); client.Call("list") }()
				timebox.Wait(t, held.arrived)
				if meanwhile == "revoked" {
					if done, err := openedAccounts(t, g).Revoke(t.Context(), func(*account.Account) bool { return true }); err != nil || len(done) != 1 {
						t.Error(done, err)
					}
				} else if page := b.open(http.MethodGet, last, nil); !strings.Contains(page.Body.String(), connected) {
					t.Errorf("%d %s", page.Code, page.Body)
				}
				close(held.resume)
				timebox.Wait(t, called)
				if meanwhile == "revoked" {
					w.link(g, "alice", "list")
					if n := w.login.Requests(authtest.Revocation); n != 2 {
						t.Errorf("%d revocations at the service", n)
					}
				} else if text := w.call(g, "alice", "list"); !strings.Contains(text, `"user":"other@shop"`) {
					t.Error(text)
				}
			})
		}
	}
}

// TestAccountRevokedElsewhere: no replica goes on to use an account that is revoked.
func TestAccountRevokedElsewhere(t *testing.T) {
	w, m := newAccountWorld(t, 0), miniredis.RunT(t)
	all := replicas(t, m, 2, w.document, w.config("")+"state: {redis: {url: $REDIS, timeout: 1s}}\n", w.service.URL)
	w.mustConnect(all[0], "alice", "list")
	for _, g := range all {
		if text := w.call(g, "alice", "list"); !strings.Contains(text, "alice@shop") {
			t.Fatal(text)
		}
	}
	if done, err := openedAccounts(t, all[0]).Revoke(t.Context(), func(*account.Account) bool { return true }); err != nil || len(done) != 1 {
		t.Fatal(done, err)
	}
	for _, g := range all {
		w.link(g, "alice", "list")
	}
	if len(w.calls) != 2 {
		t.Errorf("the service got %d requests", len(w.calls))
	}
}

// openedAccounts returns the accounts of a gateway as commands open them.
func openedAccounts(t *testing.T, g *gateway.Gateway) *gateway.Accounts {
	t.Helper()
	accounts, err := gateway.OpenAccounts(g.Config(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := accounts.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return accounts
}

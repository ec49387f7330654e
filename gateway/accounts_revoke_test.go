package gateway_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drawbridge/auth/authtest"
	"drawbridge/gateway"
	"drawbridge/gateway/account"
	"drawbridge/test/gatewaytest"
)

// accepts reports whether the service still accepts a token (RFC 7662).
func (w *accountWorld) accepts(token string) bool {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.login.Issuer()+"/introspect", strings.NewReader(url.Values{"token": {token}}.Encode()))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth("at-shop", "service-secret-0123456789")
	resp, err := w.external.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct{ Active bool }
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || resp.StatusCode != http.StatusOK {
		w.t.Fatalf("introspection: %d %v", resp.StatusCode, err)
	}
	return answer.Active
}

// TestAccountsAreRevoked: an account that is revoked beside the running gateway ends here and at the service (RFC 7009), and no other one
// does, even that of the same user at another server.
func TestAccountsAreRevoked(t *testing.T) {
	w, dir := newAccountWorld(t, 0), t.TempDir()
	other := httptest.NewServer(w.service.Config.Handler)
	t.Cleanup(other.Close)
	cfg := strings.Replace(w.config(fmt.Sprintf(", state_dir: %q", dir)), "base_url: $BASE",
		fmt.Sprintf("base_urls: {claim: tenant, allow: {acme: $BASE, other: %q}}", other.URL), 1)
	g := gatewaytest.Start(t, w.document, cfg, w.service.URL)
	call := func(user, tenant string) string {
		token, err := w.issuer.Issue(authtest.Token{
			Subject: user, Audience: []string{gatewaytest.ResourceURL}, Scopes: []string{"mcp:tools"}, Claims: map[string]any{"tenant": tenant},
		})
		if err != nil {
			t.Fatal(err)
		}
		return gatewaytest.NewClient(t, g.Handler(), "2026-07-28", token).Call("list").Body.String()
	}
	everyone := [][2]string{{"alice", "acme"}, {"alice", "other"}, {"bob", "acme"}}
	for _, one := range everyone {
		if page := w.browser(g, one[0], one[0]+"@"+one[1]).connect(linkForm.FindString(call(one[0], one[1]))); !strings.Contains(page.Body.String(), connected) {
			t.Fatalf("%s: %d %s", one, page.Code, page.Body)
		}
		call(one[0], one[1])
	}
	tokens := slices.Clone(w.calls) // in the order of everyone
	accounts := openedAccounts(t, g)
	all, err := accounts.List(t.Context())
	if err != nil || len(all) != 3 {
		t.Fatalf("%v %+v", err, all)
	}
	var id string
	for i, want := range [][2]string{{`"acme"`, "alice"}, {`"acme"`, "bob"}, {`"other"`, "alice"}} {
		if all[i].Server != want[0] || all[i].Subject != want[1] || all[i].Issuer != w.issuer.Issuer() || all[i].API != "shop" {
			t.Errorf("%+v, want %v", all[i], want)
		}
	}
	id = all[0].ID
	done, err := accounts.Revoke(t.Context(), func(a *account.Account) bool { return a.ID == id })
	if err != nil || len(done) != 1 || !done[0].AtService || done[0].Err != nil || w.login.Requests(authtest.Revocation) != 1 {
		t.Errorf("%v %+v, %d requests", err, done, w.login.Requests(authtest.Revocation))
	}
	for i, one := range everyone {
		if got, want := w.accepts(tokens[i]), i > 0; got != want {
			t.Errorf("%s: the service accepts the token: %t, want %t", one, got, want)
		}
		text, revoked := call(one[0], one[1]), one == everyone[0]
		if revoked != linkForm.MatchString(text) || revoked == strings.Contains(text, one[0]+"@"+one[1]) {
			t.Errorf("%s: %s", one, text)
		}
	}
	// Without its revocation endpoint the account ends here, and the operator learns that it does not there.
	w.login.Fail(authtest.Revocation, &authtest.Failure{Status: http.StatusServiceUnavailable})
	done, err = accounts.Revoke(t.Context(), func(a *account.Account) bool { return a.Subject == "bob" })
	if err != nil || len(done) != 1 || done[0].AtService || done[0].Err == nil {
		t.Errorf("%v %+v", err, done)
	}
	if text := call("bob", "acme"); !linkForm.MatchString(text) {
		t.Error(text)
	}
}

// TestAccountSecretsStayHere: no token, code or secret of a client is in the log, the metrics, what clients and users see, or, unsealed, in the
// files, whether logins work or fail.
func TestAccountSecretsStayHere(t *testing.T) {
	w, dir, log := newAccountWorld(t, 0), t.TempDir(), &gatewaytest.Sink{}
	g, err := gateway.New(gateway.Options{
		Config: gatewaytest.Configure(t, t.TempDir(), w.document, w.config(fmt.Sprintf(", state_dir: %q", dir)), w.service.URL), Version: "1",
		Logger: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	var seen strings.Builder
	secrets := gatewaytest.Canaries{"secret at the issuer": "issuer-secret-0123456789", "secret at the service": "service-secret-0123456789", "seal key": "the-key-of-all-replicas-0123456789"}
	b := w.browser(g, "alice", "alice@shop")
	link := w.link(g, "alice", "list")
	atIssuer := b.atIssuer(link)
	atService := b.atService(atIssuer)
	for name, location := range map[string]string{"code of the issuer": atIssuer, "code of the service": atService} {
		_, code, _ := strings.Cut(location, "code=")
		secrets[name], _, _ = strings.Cut(code, "&")
	}
	w.login.Fail(authtest.TokenEndpoint, &authtest.Failure{Status: http.StatusBadGateway})
	seen.WriteString(b.open(http.MethodGet, atService, nil).Body.String())
	w.login.Fail(authtest.TokenEndpoint, nil)
	seen.WriteString(b.connect(w.link(g, "alice", "list")).Body.String())
	seen.WriteString(w.call(g, "alice", "list"))
	w.rejected[w.calls[0]] = true
	seen.WriteString(w.call(g, "alice", "list")) // refreshed
	for i, token := range w.calls {
		_, claims, _ := strings.Cut(token, ".") // a header is the same in all tokens
		secrets[fmt.Sprintf("token %d", i)] = claims
	}
	if len(w.calls) != 3 || len(secrets) != 8 {
		t.Fatalf("%d requests, %d secrets", len(w.calls), len(secrets))
	}
	rec := httptest.NewRecorder()
	g.Admin().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	sinks := map[string]string{"log": log.String(), "metrics": rec.Body.String(), "answers and pages": seen.String()}
	files, err := filepath.Glob(filepath.Join(dir, "accounts", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sinks["file"] = string(text)
	}
	for name, text := range sinks {
		if found := secrets.Found(text); len(text) == 0 || len(found) > 0 {
			t.Errorf("the %s has %q", name, found)
		}
	}
}

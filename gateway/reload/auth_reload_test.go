package reload_test

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/test/gatewaytest"
)

// TestReloadOfAuth changes who is trusted while clients are connected: a token that was good, and is in the cache,
// stops with its issuer.
func TestReloadOfAuth(t *testing.T) {
	stays, goes, service := gatewaytest.NewIDP(t), gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	cfg := func(scope string, list ...*gatewaytest.IDP) string {
		text := fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(list...))
		return strings.NewReplacer("$SPEC", "a.yaml", "$BASE", service.URL, "[mcp:tools]", "["+scope+"]").Replace(text)
	}
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": cfg("mcp:tools", stays, goes), "a.yaml": gatewaytest.Document("A", "list", "purge")})
	r.Served()
	for _, revision := range gatewaytest.Eras {
		kept := gatewaytest.NewClient(t, r.Handler(), revision, stays.Token(t, nil))
		lost := gatewaytest.NewClient(t, r.Handler(), revision, goes.Token(t, nil))
		change := func(text string) {
			t.Helper()
			r.Write(map[string]string{"drawbridge.yaml": text})
			if err := r.Reload(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		change(cfg("mcp:tools", stays, goes))
		for _, c := range []*gatewaytest.Client{kept, lost} {
			if w := c.Call("list"); !gatewaytest.Succeeded(w) {
				t.Fatalf("before: %d %s", w.Code, w.Body)
			}
		}
		change(cfg("mcp:tools", stays))
		if w := kept.Call("list"); !gatewaytest.Succeeded(w) {
			t.Errorf("the issuer that stays: %d %s", w.Code, w.Body)
		}
		if w := lost.Call("list"); w.Code != 401 {
			t.Errorf("the issuer that was removed: %d %s", w.Code, w.Body)
		}
		if w := gatewaytest.Do(r.Handler(), http.MethodGet, "/.well-known/oauth-protected-resource", nil); strings.Contains(w.Body.String(), goes.URL) {
			t.Errorf("the metadata still name the issuer that was removed: %s", w.Body)
		}
		change(cfg("other", stays))
		if w := kept.Call("list"); w.Code != 403 {
			t.Errorf("after the default scope has changed: %d %s", w.Code, w.Body)
		}
		// A configuration that is refused changes nothing.
		r.Write(map[string]string{"drawbridge.yaml": cfg("", stays, goes)})
		if err := r.Reload(t.Context()); err == nil {
			t.Error("no default scopes are accepted")
		}
		if w := lost.Call("list"); w.Code != 401 {
			t.Errorf("after a configuration that was refused: %d %s", w.Code, w.Body)
		}
	}
}

// TestReloadDuringAnOutage: a change of the rules for tokens leaves what is known of the issuers. When one of them is down, the tokens of
// its known keys go on (T12), and one that is trusted no longer, or to be fetched by way of another authority, is another issuer.
func TestReloadDuringAnOutage(t *testing.T) {
	down, goes, service := gatewaytest.NewIDP(t), gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	cfg := func(implies string, list ...string) string {
		text := fmt.Sprintf(gatewaytest.ProtectedConfig, strings.Join(list, ", "))
		return strings.NewReplacer("$SPEC", "a.yaml", "$BASE", service.URL, "implies: {", "implies: {"+implies).Replace(text)
	}
	other := httptest.NewTLSServer(nil)
	other.Close()
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": cfg("", gatewaytest.Issuers(down, goes)), "a.yaml": gatewaytest.Document("A", "list", "purge"),
		"ca.pem": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: other.Certificate().Raw}))})
	r.Served()
	call := func(what string, i *gatewaytest.IDP, token string, want int) {
		t.Helper()
		if w := gatewaytest.NewClient(t, r.Handler(), gatewaytest.Eras[0], token).Call("list"); w.Code != want {
			t.Errorf("%s: %d %s, want %d", what, w.Code, w.Body, want)
		}
	}
	cached, removed := down.Token(t, nil), goes.Token(t, nil)
	call("before", down, cached, 200)
	call("before", goes, removed, 200)
	down.Close()
	change := func(text string) {
		t.Helper()
		r.Write(map[string]string{"drawbridge.yaml": text})
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, implies := range []string{`"a": ["b"], `, `"a": ["c"], `} {
		change(cfg(implies, gatewaytest.Issuers(down)))
		call("a token that was seen", down, cached, 200)
		call("another one of the known key", down, down.Token(t, map[string]any{"sub": "bob"}), 200)
		call("an unknown key", down, down.Token(t, map[string]any{"kid": "k2"}), 503)
		call("the issuer that was removed", goes, removed, 401)
	}
	change(cfg("", fmt.Sprintf("{issuer: %q, ca_file: ca.pem}", down.URL)))
	call("another authority", down, cached, 503)
}

package gateway

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"drawbridge/test/timebox"
)

// TestReloadOfAuth changes who is trusted while clients are connected: a token that was good, and is in the cache,
// stops with its issuer.
func TestReloadOfAuth(t *testing.T) {
	stays, goes, service := newIDP(t), newIDP(t), newRecordingService(t)
	cfg := func(scope string, list ...*idp) string {
		text := fmt.Sprintf(protectedConfig, issuers(list...))
		return strings.NewReplacer("$SPEC", "a.yaml", "$BASE", service.URL, "[mcp:tools]", "["+scope+"]").Replace(text)
	}
	r := run(t, map[string]string{"drawbridge.yaml": cfg("mcp:tools", stays, goes), "a.yaml": document("A", "list", "purge")})
	r.served()
	for _, revision := range eras {
		kept := newClient(t, r.Handler(), revision, stays.token(t, nil))
		lost := newClient(t, r.Handler(), revision, goes.token(t, nil))
		change := func(text string) {
			t.Helper()
			r.write(map[string]string{"drawbridge.yaml": text})
			if err := r.Reload(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		change(cfg("mcp:tools", stays, goes))
		for _, c := range []*client{kept, lost} {
			if w := c.call("list"); !succeeded(w) {
				t.Fatalf("before: %d %s", w.Code, w.Body)
			}
		}
		change(cfg("mcp:tools", stays))
		if w := kept.call("list"); !succeeded(w) {
			t.Errorf("the issuer that stays: %d %s", w.Code, w.Body)
		}
		if w := lost.call("list"); w.Code != 401 {
			t.Errorf("the issuer that was removed: %d %s", w.Code, w.Body)
		}
		if w := do(r.Handler(), http.MethodGet, "/.well-known/oauth-protected-resource", nil); strings.Contains(w.Body.String(), goes.URL) {
			t.Errorf("the metadata still name the issuer that was removed: %s", w.Body)
		}
		change(cfg("other", stays))
		if w := kept.call("list"); w.Code != 403 {
			t.Errorf("after the default scope has changed: %d %s", w.Code, w.Body)
		}
		// A configuration that is refused changes nothing.
		r.write(map[string]string{"drawbridge.yaml": cfg("", stays, goes)})
		if err := r.Reload(t.Context()); err == nil {
			t.Error("no default scopes are accepted")
		}
		if w := lost.call("list"); w.Code != 401 {
			t.Errorf("after a configuration that was refused: %d %s", w.Code, w.Body)
		}
	}
}

// TestReloadDuringAnOutage: a change of the rules for tokens leaves what is known of the issuers. When one of them is down, the tokens of
// its known keys go on (T12), and one that is trusted no longer, or to be fetched by way of another authority, is another issuer.
func TestReloadDuringAnOutage(t *testing.T) {
	down, goes, service := newIDP(t), newIDP(t), newRecordingService(t)
	cfg := func(implies string, list ...string) string {
		text := fmt.Sprintf(protectedConfig, strings.Join(list, ", "))
		return strings.NewReplacer("$SPEC", "a.yaml", "$BASE", service.URL, "implies: {", "implies: {"+implies).Replace(text)
	}
	other := httptest.NewTLSServer(nil)
	other.Close()
	r := run(t, map[string]string{"drawbridge.yaml": cfg("", issuers(down, goes)), "a.yaml": document("A", "list", "purge"),
		"ca.pem": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: other.Certificate().Raw}))})
	r.served()
	call := func(what string, i *idp, token string, want int) {
		t.Helper()
		if w := newClient(t, r.Handler(), eras[0], token).call("list"); w.Code != want {
			t.Errorf("%s: %d %s, want %d", what, w.Code, w.Body, want)
		}
	}
	cached, removed := down.token(t, nil), goes.token(t, nil)
	call("before", down, cached, 200)
	call("before", goes, removed, 200)
	down.Close()
	change := func(text string) {
		t.Helper()
		r.write(map[string]string{"drawbridge.yaml": text})
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, implies := range []string{`"a": ["b"], `, `"a": ["c"], `} {
		change(cfg(implies, issuers(down)))
		call("a token that was seen", down, cached, 200)
		call("another one of the known key", down, down.token(t, map[string]any{"sub": "bob"}), 200)
		call("an unknown key", down, down.token(t, map[string]any{"kid": "k2"}), 503)
		call("the issuer that was removed", goes, removed, 401)
	}
	change(cfg("", fmt.Sprintf("{issuer: %q, ca_file: ca.pem}", down.URL)))
	call("another authority", down, cached, 503)
}

// TestStreamAfterAReloadOfAuth: a request whose token was good when its head came, and that asks for a stream when the issuer has been removed, gets
// none: no reload would end it.
func TestStreamAfterAReloadOfAuth(t *testing.T) {
	stays, goes := newIDP(t), newIDP(t)
	cfg := func(list ...*idp) map[string]string {
		text := fmt.Sprintf(protectedConfig, issuers(list...))
		return map[string]string{"drawbridge.yaml": strings.NewReplacer("$SPEC", "a.yaml", "$BASE", "http://127.0.0.1:1").Replace(text)}
	}
	for _, tt := range []struct{ method, body string }{
		{"subscriptions/listen", listenBody},
		{"resources/subscribe", `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"http://127.0.0.1:1/list"}}`},
	} {
		t.Run(tt.method, func(t *testing.T) {
			files := cfg(stays, goes)
			files["a.yaml"] = document("A", "list", "purge")
			r := run(t, files)
			r.served()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			body := &lateBody{Reader: strings.NewReader(tt.body), begun: make(chan struct{}), end: make(chan struct{})}
			q := httptest.NewRequestWithContext(ctx, http.MethodPost, resourceURL, body)
			q.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
				"Authorization": {"Bearer " + goes.token(t, nil)}, "Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {tt.method}}
			if tt.method == "resources/subscribe" {
				c := newClient(t, r.Handler(), "2025-11-25", goes.token(t, nil))
				c.send("ping", "", "") // after which it has a session
				q.Header.Set("Mcp-Protocol-Version", "2025-11-25")
				q.Header.Set("Mcp-Session-Id", c.session)
				q.Header.Del("Mcp-Method")
			}
			w, ended := httptest.NewRecorder(), make(chan struct{})
			go func() {
				defer close(ended)
				r.Handler().ServeHTTP(w, q)
			}()
			timebox.Wait(t, body.begun)
			r.write(cfg(stays))
			if err := r.Reload(t.Context()); err != nil {
				t.Error(err)
			}
			close(body.end)
			timebox.Wait(t, ended)
			if ctx.Err() != nil || w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
				t.Errorf("%v, %d %v %s", ctx.Err(), w.Code, w.Header(), w.Body)
			}
			if n := r.mcpHandlers.Streams(); n != 0 {
				t.Errorf("%d streams are open", n)
			}
		})
	}
}

// lateBody is a body that comes when it is told to.
type lateBody struct {
	io.Reader
	begun, end chan struct{}
	once       sync.Once
}

func (b *lateBody) Read(p []byte) (int, error) {
	b.once.Do(func() { close(b.begun) })
	<-b.end
	return b.Reader.Read(p)
}

package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// TestStreamAfterAReloadOfAuth: a request whose token was good when its head came, and that asks for a stream when the issuer has been removed, gets
// none: no reload would end it.
func TestStreamAfterAReloadOfAuth(t *testing.T) {
	stays, goes := gatewaytest.NewIDP(t), gatewaytest.NewIDP(t)
	cfg := func(list ...*gatewaytest.IDP) map[string]string {
		text := fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(list...))
		return map[string]string{"drawbridge.yaml": strings.NewReplacer("$SPEC", "a.yaml", "$BASE", "http://127.0.0.1:1").Replace(text)}
	}
	for _, tt := range []struct{ method, body string }{
		{"subscriptions/listen", listenBody},
		{"resources/subscribe", `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"http://127.0.0.1:1/list"}}`},
	} {
		t.Run(tt.method, func(t *testing.T) {
			files := cfg(stays, goes)
			files["a.yaml"] = gatewaytest.Document("A", "list", "purge")
			r := gatewaytest.Run(t, files)
			r.Served()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			body := &lateBody{Reader: strings.NewReader(tt.body), begun: make(chan struct{}), end: make(chan struct{})}
			q := httptest.NewRequestWithContext(ctx, http.MethodPost, gatewaytest.ResourceURL, body)
			q.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
				"Authorization": {"Bearer " + goes.Token(t, nil)}, "Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {tt.method}}
			if tt.method == "resources/subscribe" {
				c := gatewaytest.NewClient(t, r.Handler(), "2025-11-25", goes.Token(t, nil))
				c.Send("ping", "", "") // after which it has a session
				q.Header.Set("Mcp-Protocol-Version", "2025-11-25")
				q.Header.Set("Mcp-Session-Id", c.Session)
				q.Header.Del("Mcp-Method")
			}
			w, ended := httptest.NewRecorder(), make(chan struct{})
			go func() {
				defer close(ended)
				r.Handler().ServeHTTP(w, q)
			}()
			timebox.Wait(t, body.begun)
			r.Write(cfg(stays))
			if err := r.Reload(t.Context()); err != nil {
				t.Error(err)
			}
			close(body.end)
			timebox.Wait(t, ended)
			if ctx.Err() != nil || w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
				t.Errorf("%v, %d %v %s", ctx.Err(), w.Code, w.Header(), w.Body)
			}
			if n := r.MCPHandlers().Streams(); n != 0 {
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

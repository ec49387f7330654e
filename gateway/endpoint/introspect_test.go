package endpoint_test

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// TestIntrospectionAsksAgain: a question that was sent over a connection which the endpoint was about to close is asked again, so that a good token is not
// refused for that. To ask twice does no harm.
func TestIntrospectionAsksAgain(t *testing.T) {
	type served struct{}
	for name, protocol := range map[string]string{"a connection that is closed": "http/1.1", "a connection that goes away": "h2"} {
		t.Run(name, func(t *testing.T) {
			var asked, closed atomic.Int64
			issuer := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				n := asked.Add(1)
				if protocol == "h2" {
					if n%10 == 0 { // more often, and one question is met by it time and again, between which net/http waits for seconds
						w.Header().Set("Connection", "close") // which net/http makes GOAWAY of
					}
				} else if r.Context().Value(served{}).(*atomic.Int64).Add(1) == 2 {
					closed.Add(1)
					panic(http.ErrAbortHandler)
				}
				_, _ = fmt.Fprintf(w, `{"active":true,"sub":"alice","client_id":"app","aud":%q,"scope":"mcp:tools","exp":%d}`, gatewaytest.ResourceURL, time.Now().Add(time.Hour).Unix())
			}))
			issuer.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
				return context.WithValue(ctx, served{}, &atomic.Int64{})
			}
			issuer.EnableHTTP2 = protocol == "h2"
			issuer.TLS = &tls.Config{NextProtos: []string{protocol}, MinVersion: tls.VersionTLS12}
			issuer.StartTLS()
			defer issuer.Close()
			file := filepath.Join(t.TempDir(), "ca.pem")
			if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: issuer.Certificate().Raw}), 0o600); err != nil {
				t.Fatal(err)
			}
			item := fmt.Sprintf("{issuer: %q, tokens: opaque, ca_file: %q, introspection: {endpoint: %q}}", issuer.URL, file, issuer.URL+"/ask")
			g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), fmt.Sprintf(gatewaytest.ProtectedConfig, item), "http://127.0.0.1:1")
			ask := func(token string) {
				if w := gatewaytest.NewClient(t, g.Handler(), "2026-07-28", token).Send("server/discover", "", ""); w.Code != http.StatusOK {
					t.Errorf("token %s: %d", token, w.Code)
				}
			}
			if protocol != "h2" {
				ask("opaque-first")
				ask("opaque-second")
				if asked.Load() != 3 || closed.Load() != 1 {
					t.Errorf("%d questions, %d of them over a connection that was closed", asked.Load(), closed.Load())
				}
				return
			}
			var all sync.WaitGroup
			for k := range 4 {
				all.Go(func() {
					for n := range 25 {
						ask(fmt.Sprintf("opaque-%d-%d", k, n))
					}
				})
			}
			timebox.Done(t, all.Wait)
		})
	}
}

package gateway

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestManifestPace: a large manifest may come as slowly as other answers, 10 s for each 256 KiB, and no slower (H7).
func TestManifestPace(t *testing.T) {
	var operations strings.Builder
	for n := range 600 {
		fmt.Fprintf(&operations, "  /more/%d: {get: {operationId: more%d, summary: %q, responses: {'200': {description: ok}}}}\n", n, n, strings.Repeat("Much is said of it. ", 50))
	}
	g := start(t, document("Shop")+operations.String(), "server: {manifest: true}\napis: [{name: shop, spec: $SPEC}]\n", "")
	for pause, whole := range map[time.Duration]bool{25 * time.Second: true, 2 * time.Minute: false} {
		synctest.Test(t, func(t *testing.T) {
			inner := &accepted{conns: make(chan net.Conn, 1)}
			s := &http.Server{Handler: g.Handler(), WriteTimeout: 12 * time.Second}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_ = s.Serve(inner) // which says that the test has ended it
			}()
			client := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
				server, client := net.Pipe()
				inner.conns <- remote{Conn: server, address: "127.0.0.1:1"}
				return client, nil
			}}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/manifest", nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := client.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != http.StatusOK || resp.ContentLength < 512<<10 || resp.ContentLength > 1<<20 {
				t.Errorf("%s, %d bytes", resp.Status, resp.ContentLength)
			}
			body := bufio.NewReader(resp.Body)
			_, _ = body.Peek(1)
			time.Sleep(pause)
			n, err := io.Copy(io.Discard, body)
			if got := err == nil && n == resp.ContentLength; got != whole {
				t.Errorf("after %v there are %d of %d bytes, %v", pause, n, resp.ContentLength, err)
			}
			client.CloseIdleConnections()
			close(inner.conns)
			_ = s.Close()
			<-ended
		})
	}
}

package gateway_test

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"

	"drawbridge/gateway/endpoint"
	"drawbridge/test/gatewaytest"
)

// TestPanicOfHandler: a panic costs the connection of its request, and is counted.
func TestPanicOfHandler(t *testing.T) {
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), "auth: {anonymous: true}\napis: [{name: shop, spec: $SPEC}]\n", "")
	*g.Public() = endpoint.RecoverPanic(g.Recoverer().Report)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/panic" {
			panic("so")
		}
		panic(http.ErrAbortHandler) // which is none
	}))
	synctest.Test(t, func(t *testing.T) {
		dial, stop := gatewaytest.AttachedServer(t, g)
		for _, path := range []string{"/panic", "/abort"} {
			client := dial()
			_, _ = io.WriteString(client, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n")
			if got, err := io.ReadAll(client); err != nil || len(got) > 0 {
				t.Errorf("%s: %q, %v", path, got, err)
			}
			_ = client.Close()
		}
		stop()
	})
	if got := gatewaytest.MetricLines(g, "drawbridge_panics_total 1"); len(got) != 1 {
		t.Errorf("counted %q", gatewaytest.MetricLines(g, "drawbridge_panics_total"))
	}
}

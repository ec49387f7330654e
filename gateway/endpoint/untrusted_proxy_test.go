package endpoint_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"drawbridge/gateway"
	"drawbridge/test/gatewaytest"
)

// TestUnlistedProxyIsTold goes the whole way: a request by such a peer is counted and told, and a reload arms the log again.
func TestUnlistedProxyIsTold(t *testing.T) {
	var log gatewaytest.Sink
	r := gatewaytest.RunWith(t, map[string]string{"a.yaml": gatewaytest.Document("Shop", "list"),
		"drawbridge.yaml": "server: {trusted_proxies: [10.0.0.0/8]}\nauth: {anonymous: true}\napis: [{spec: a.yaml, base_url: 'http://127.0.0.1:1'}]\n"},
		gateway.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	r.Served()
	c := gatewaytest.NewClient(t, gatewaytest.From(r.Handler(), "192.168.2.9:1"), gatewaytest.Eras[0], "")
	c.Header.Set("Forwarded", "for=198.51.100.77")
	for n, want := range []int{1, 1, 2} {
		if n == 2 {
			if err := r.Reload(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if w := c.Send("tools/list", "", ""); w.Code != http.StatusOK {
			t.Fatal(w.Code, w.Body)
		}
		if got := strings.Count(log.String(), "a peer that is not in server.trusted_proxies"); got != want {
			t.Errorf("after request %d it was told %d times, want %d: %s", n+1, got, want, log.String())
		}
	}
	if got := gatewaytest.MetricLines(r.Gateway, `drawbridge_unlisted_proxy_requests_total{peer="private"} 3`); len(got) != 1 {
		t.Errorf("it is not counted: %q", gatewaytest.MetricLines(r.Gateway, "drawbridge_unlisted"))
	}
}

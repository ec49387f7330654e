package admin

import (
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// A page that has rebound its own name to the operator's machine is of the same origin as the listener to the browser: it
// reads every answer that is not refused for its Host.
func TestHost(t *testing.T) {
	handler := func(loopback bool) func(host, target string) int {
		a := NewAccess("", []string{"ops.internal", "Prometheus:9090", "[fd00::9]:9090"}, loopback)
		h := Handler(Options{Status: status(true, false), Metrics: prometheus.NewRegistry(), Access: func() *Access { return a },
			Report: func(string) (Report, bool) { return Report{}, true }})
		return func(host, target string) int {
			r := httptest.NewRequest("GET", target, nil)
			r.Host = host
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: no security headers", host)
			}
			return w.Code
		}
	}
	local, open := handler(true), handler(false)
	for host, want := range map[string][2]int{ // on a loopback address, on another one
		"localhost": {200, 200}, "localhost:9090": {200, 200}, "LOCALHOST:1": {200, 200}, "127.0.0.1": {200, 200}, "127.0.0.1:9090": {200, 200}, "127.9.9.9:9090": {200, 200}, "[::1]": {200, 200}, "[::1]:9090": {200, 200},
		"":               {200, 200}, // HTTP/1.0: a probe, never a browser
		"10.244.1.7":     {403, 200}, // a probe of Kubernetes asks for the address of the pod
		"10.0.0.1:9090":  {403, 200},
		"[fd00::7]:9090": {403, 200}, "[fd00::7]": {403, 200}, "0.0.0.0:9090": {403, 200}, "[::]:9090": {403, 200},
		"ops.internal": {200, 200}, "OPS.internal:8000": {200, 200}, "prometheus:9090": {200, 200}, "[fd00::9]:9090": {200, 200},
		"prometheus": {403, 403}, "prometheus:9091": {403, 403}, "ops.internal.": {403, 403}, "a.ops.internal": {403, 403},
		"evil.example": {403, 403}, "evil.example:9090": {403, 403}, "localhost.evil.example": {403, 403}, "127.0.0.1.evil.example:9090": {403, 403}, "localhost.": {403, 403}, "a.localhost": {403, 403},
		"127.1": {403, 403}, "2130706433": {403, 403}, "[::1%25lo]": {403, 403}, "[::1": {403, 403}, "127.0.0.1:9090:1": {403, 403}, "evil.example@127.0.0.1": {403, 403},
	} {
		for _, target := range []string{"/apis", "/apis/orders", "/metrics", "/readyz?verbose"} {
			if got := local(host, target); got != want[0] {
				t.Errorf("on loopback, Host %q, %s: %d, want %d", host, target, got, want[0])
			}
			if got := open(host, target); got != want[1] {
				t.Errorf("on another address, Host %q, %s: %d, want %d", host, target, got, want[1])
			}
		}
	}
	r := httptest.NewRequest("POST", "/reload", nil)
	r.Host = "evil.example"
	w := httptest.NewRecorder()
	Handler(Options{Metrics: prometheus.NewRegistry(), Access: func() *Access { return NewAccess("0123456789abcdef", nil, true) }}).ServeHTTP(w, r)
	const want = "the Host of this request is not served here: admin.listen is a loopback address, which is asked for as localhost, by its number, or by a name in admin.allowed_hosts\n"
	if w.Code != 403 || w.Body.String() != want {
		t.Errorf("POST /reload: %d %q", w.Code, w.Body)
	}
}

package call_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"drawbridge/gateway"
	"drawbridge/gateway/admin"
	"drawbridge/test/gatewaytest"
)

// TestUncallableAPIs: an API that is served, and whose calls can't be made, has a state of its own and one WARN line, which isn't repeated until
// the reason is another; the tools of another API of which a part can't be called are counted once.
func TestUncallableAPIs(t *testing.T) {
	log := &strings.Builder{}
	const withKey = "openapi: 3.1.0\ninfo: {title: B, version: '1'}\nservers: [{url: 'http://127.0.0.1:1'}]\n" +
		"components: {securitySchemes: {key: {type: apiKey, in: header, name: X-Key}}}\npaths:\n" +
		"  /open: {get: {operationId: open, responses: {}}}\n  /a: {get: {operationId: a, security: [{key: []}], responses: {}}}\n  /b: {get: {operationId: b, security: [{key: []}], responses: {}}}\n"
	const without = "openapi: 3.1.0\ninfo: {title: A, version: '1'}\npaths:\n  /one: {get: {operationId: one, responses: {}}}\n"
	r := gatewaytest.RunWith(t, map[string]string{"a.yaml": without, "b.yaml": withKey, "drawbridge.yaml": "apis: [{spec: a.yaml, name: shop}, {spec: b.yaml, name: part}]\n"},
		gateway.Options{Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))})
	r.Served()
	r.Eventually("both are read", func() bool { return r.Status().Tools == 4 })
	if s := r.State(0); s.State != admin.Uncallable || len(s.Faults) != 1 || s.Tools != 1 {
		t.Errorf("%+v", s)
	}
	if s := r.State(1); s.State != admin.Ready || len(s.Faults) != 0 || len(s.Notes) != 1 {
		t.Errorf("%+v", s)
	}
	if got := gatewaytest.MetricLines(r.Gateway, `drawbridge_api_state{api="shop",state="uncallable"} 1`); len(got) != 1 {
		t.Errorf("series %q", gatewaytest.MetricLines(r.Gateway, "drawbridge_api_state"))
	}
	if body := gatewaytest.Do(r.Admin(), http.MethodGet, "/apis", nil).Body.String(); !strings.Contains(body, `"state": "uncallable"`) {
		t.Errorf("/apis: %s", body)
	}
	if !r.Status().Ready {
		t.Error("not ready: its tools are listed")
	}
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.Write(map[string]string{"drawbridge.yaml": "apis: [{spec: a.yaml, name: shop, base_url: 'http://127.0.0.1:1'}, {spec: b.yaml, name: part}]\n"})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := r.State(0); s.State != admin.Ready || len(s.Faults) != 0 {
		t.Errorf("with base_url: %+v", s)
	}
	text := log.String()
	if n := strings.Count(text, "calls of an API can't be made"); n != 1 || !strings.Contains(text, `api=shop reason="no call can be made: the document names no server; a configuration file with spec and base_url has to name it"`) {
		t.Errorf("%d lines in %s", n, text)
	}
	if n := strings.Count(text, "calls of some tools can't be made"); n != 1 || !strings.Contains(text, `api=part reason="2 of 3 tools can't be called: the document requires key, but no credential is configured"`) {
		t.Errorf("%d lines in %s", n, text)
	}
}

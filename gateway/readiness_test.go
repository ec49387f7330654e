package gateway

import (
	"strings"
	"testing"
)

// TestReadyMetric: the metric says what /readyz says, before an API is served, while one is, and while the gateway drains.
func TestReadyMetric(t *testing.T) {
	want := func(g *Gateway, line string) {
		t.Helper()
		if got := metricLines(g, "drawbridge_ready "); len(got) == 0 || got[len(got)-1] != line {
			t.Errorf("%q, want %q", got, line)
		}
	}
	o := newChanging(t, "")
	r := run(t, map[string]string{"drawbridge.yaml": "apis: [{spec: " + o.URL + "/a.yaml, name: a, refresh: 0s}]\n"})
	want(r.Gateway, "drawbridge_ready 0")
	o.set(document("A", "list"))
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(r.Gateway, "drawbridge_ready 1")
	r.Drain()
	want(r.Gateway, "drawbridge_ready 0")
}

// TestIssuerMetrics: an issuer that is asked at an address of the configuration has no time of a fetch, since nothing is fetched of it:
// its age would be an alert that never ends. One whose keys could not be had has 0.
func TestIssuerMetrics(t *testing.T) {
	r := run(t, map[string]string{"drawbridge.yaml": `
apis: [{spec: a.yaml, name: a}]
server: {public_url: "http://localhost"}
auth:
  default_scopes: [a]
  issuers:
    - {issuer: "http://localhost:1/opaque", tokens: opaque, introspection: {endpoint: "http://localhost:1/ask"}}
    - issuer: http://localhost:1/jwt
`, "a.yaml": document("A", "list")})
	r.served()
	var got []string
	for _, line := range metricLines(r.Gateway, "drawbridge_issuer_") {
		if !strings.HasPrefix(line, "#") {
			got = append(got, line)
		}
	}
	want := `drawbridge_issuer_fetched_timestamp_seconds{issuer="http://localhost:1/jwt"} 0
drawbridge_issuer_keys{issuer="http://localhost:1/jwt"} 0
drawbridge_issuer_keys{issuer="http://localhost:1/opaque"} 0`
	if strings.Join(got, "\n") != want {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}

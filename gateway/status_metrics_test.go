package gateway_test

import (
	"math"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"drawbridge/gateway"
	"drawbridge/test/gatewaytest"
)

// TestToldMetrics: readiness before an API is served, while one is, and while the gateway drains; a configuration that was refused, until
// another is good; and memory against its limit.
func TestToldMetrics(t *testing.T) {
	want := func(g *gateway.Gateway, line string) {
		t.Helper()
		name, _, _ := strings.Cut(line, " ")
		if got := gatewaytest.MetricLines(g, name+" "); len(got) == 0 || got[len(got)-1] != line {
			t.Errorf("%q, want %q", got, line)
		}
	}
	o := gatewaytest.NewChanging(t, "")
	good := "apis: [{spec: " + o.URL + "/a.yaml, name: a, refresh: 0s}]\n"
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": good})
	want(r.Gateway, "drawbridge_ready 0")
	o.Set(gatewaytest.Document("A", "list"))
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(r.Gateway, "drawbridge_ready 1")
	want(r.Gateway, "drawbridge_config_refused 0")
	r.Write(map[string]string{"drawbridge.yaml": "apis: []"})
	if err := r.Reload(t.Context()); err == nil {
		t.Fatal("a bad configuration is in use")
	}
	want(r.Gateway, "drawbridge_config_refused 1")
	r.Write(map[string]string{"drawbridge.yaml": good})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(r.Gateway, "drawbridge_config_refused 0")
	hash := func() string {
		return strings.Join(gatewaytest.MetricLines(r.Gateway, "drawbridge_config_hash "), "\n")
	}
	first := hash()
	for text, same := range map[string]bool{good: true, good + "limits: {max_calls: 7}\n": false} {
		r.Write(map[string]string{"drawbridge.yaml": text})
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := hash(); (got == first) != same {
			t.Errorf("%s after %s with\n%s", got, first, text)
		}
	}

	before := debug.SetMemoryLimit(math.MaxInt64)
	defer debug.SetMemoryLimit(before)
	want(r.Gateway, "drawbridge_memory_used_ratio 0")
	debug.SetMemoryLimit(1 << 20)
	got := gatewaytest.MetricLines(r.Gateway, "drawbridge_memory_used_ratio ")
	if n, err := strconv.ParseFloat(strings.Fields(got[len(got)-1])[1], 64); err != nil || n < 1 {
		t.Errorf("%q with a limit of 1 MiB", got)
	}

	r.Drain()
	want(r.Gateway, "drawbridge_ready 0")
}

// TestIssuerMetrics: an issuer that is asked at an address of the configuration has no time of a fetch, since nothing is fetched of it:
// its age would be an alert that never ends. One whose keys could not be had has 0.
func TestIssuerMetrics(t *testing.T) {
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": `
apis: [{spec: a.yaml, name: a}]
server: {public_url: "http://localhost"}
auth:
  default_scopes: [a]
  issuers:
    - {issuer: "http://localhost:1/opaque", tokens: opaque, introspection: {endpoint: "http://localhost:1/ask"}}
    - issuer: http://localhost:1/jwt
`, "a.yaml": gatewaytest.Document("A", "list")})
	r.Served()
	var got []string
	for _, line := range gatewaytest.MetricLines(r.Gateway, "drawbridge_issuer_") {
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

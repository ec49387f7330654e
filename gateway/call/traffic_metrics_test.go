package call_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"drawbridge/gateway"
	"drawbridge/test/gatewaytest"
)

// series counts the series of all metrics of the gateway.
func series(t *testing.T, r *prometheus.Registry) (n int) {
	t.Helper()
	all, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range all {
		n += len(family.GetMetric())
	}
	return n
}

// TestSeriesAreBounded floods the gateway with all that a client or a service can make up: tools, methods, hosts, endpoints, tokens,
// statuses. None of it becomes a label.
func TestSeriesAreBounded(t *testing.T) {
	var n int
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(200 + n%800) // also those that nobody has registered
	}))
	defer service.Close()
	i, registry := gatewaytest.NewIDP(t), prometheus.NewRegistry()
	r := gatewaytest.RunWith(t, map[string]string{"a.yaml": gatewaytest.Document("A", "one"), "drawbridge.yaml": fmt.Sprintf(`
server: {public_url: %s}
auth: {issuers: [%s], default_scopes: [mcp:tools]}
apis: [{name: shop, spec: a.yaml, base_url: %q, breaker: off, retries: off}]
limits: {address_rate: off, principal_rate: off}
`, gatewaytest.PublicURL, gatewaytest.Issuers(i), service.URL)}, gateway.Options{Metrics: registry})
	r.Eventually("all is served", func() bool { return r.Status().Tools == 1 })
	good := i.Token(t, nil)
	flood := func(from, to int) {
		for n = from; n < to; n++ {
			word := fmt.Sprintf("made_up_%d", n)
			for _, revision := range gatewaytest.Eras {
				c := gatewaytest.NewClient(t, r.Handler(), revision, good)
				c.Call("one")
				c.Call(word)
				c.Send(word, "", "")
				c.Header.Set("Host", word)
				gatewaytest.NewClient(t, r.Handler(), revision, word+".e30."+word).Call("one")
				gatewaytest.NewClient(t, r.Handler(), revision, i.Token(t, map[string]any{"aud": word, "kid": word})).Call("one")
			}
			for _, target := range []string{"/mcp/" + word, "/" + word, "/.well-known/" + word} {
				gatewaytest.Do(r.Handler(), word, target, http.Header{"Host": {word}, "Origin": {"https://" + word}, "Authorization": {"Bearer " + good}})
			}
		}
	}
	flood(0, 800) // once each status
	before := series(t, registry)
	flood(800, 1000)
	// A word of a closed set may come up for the first time, such as a reason for a refusal that depends on time. Names that were made
	// up would be hundreds.
	if after := series(t, registry); after > before+10 || after > 1500 {
		t.Errorf("%d series, and %d after more of the same", before, after)
	}
	for _, want := range []string{`drawbridge_service_responses_total{api="shop",status="other"}`, `drawbridge_tokens_refused_total{reason="audience"}`, `drawbridge_http_answers_total{status="404"}`,
		`drawbridge_issuer_keys{issuer="` + i.URL + `"} 1`, `drawbridge_document_loaded_timestamp_seconds{api="shop"}`, `drawbridge_service_wait_seconds_count{api="shop"}`} {
		if !strings.Contains(gatewaytest.Do(r.Admin(), http.MethodGet, "/metrics", nil).Body.String(), want) {
			t.Errorf("no %s", want)
		}
	}
}

// TestBytesAndExemplars counts what a service is sent and what it sends, and names the trace of a call that is kept.
func TestBytesAndExemplars(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"done":true}`)
	}))
	defer service.Close()
	g, err := gateway.New(gateway.Options{Config: gatewaytest.Configure(t, t.TempDir(), gatewaytest.CanaryDocument, "", service.URL), TracerProvider: sdktrace.NewTracerProvider()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	gatewaytest.TracedCall(t, g, http.Header{"Traceparent": {gatewaytest.ParentHeader}}, "", `{"id":"x","note":"n"}`)
	text := gatewaytest.Do(g.Admin(), http.MethodGet, "/metrics", http.Header{"Accept": {"application/openmetrics-text; version=1.0.0"}}).Body.String()
	for _, want := range []string{`drawbridge_service_sent_bytes_total{api="shop"} 12.0`, `drawbridge_service_received_bytes_total{api="shop"} 13.0`, `drawbridge_result_tokens_total{api="shop"} 5.0`, `drawbridge_service_responses_total{api="shop",status="200"} 1.0`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	for _, name := range []string{"drawbridge_tool_call_duration_seconds_bucket", "drawbridge_service_wait_seconds_bucket"} {
		found := false
		for line := range strings.Lines(text) {
			found = found || strings.HasPrefix(line, name) && strings.Contains(line, `# {trace_id="`+gatewaytest.TraceOfHeader+`"}`)
		}
		if !found {
			t.Errorf("no bucket of %s names the trace", name)
		}
	}
}

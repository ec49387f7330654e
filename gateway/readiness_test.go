package gateway

import "testing"

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

package telemetry

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"drawbridge/gateway/tokenizer"
)

// resultTokens returns the values of the metrics of results by name and API.
func resultTokens(t *testing.T, r *prometheus.Registry) map[string]int {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]int{}
	for _, f := range families {
		if name, ok := strings.CutPrefix(f.GetName(), "drawbridge_result_tokens_"); ok {
			for _, m := range f.GetMetric() {
				values[name+" "+m.GetLabel()[0].GetValue()] = int(m.GetCounter().GetValue())
			}
		}
	}
	return values
}

// Tools of an API share its series, which goes with the API.
func TestResultTokens(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := NewMetrics(registry, "test")
	text := []byte(`{"orders":[{"id":"A-100","state":"open"},{"id":"A-101","state":"sent"}]}`)
	n := tokenizer.Count(text)
	list, read, bill := m.Call("shop", "list"), m.Call("shop", "read"), m.Call("billing", "bill")
	list.Results.Delivered(text)
	read.Results.Delivered(text)
	bill.Results.Projected(text, len(text)/2)
	want := map[string]int{"total shop": 2 * n, "saved_total shop": 0, "total billing": 0, "saved_total billing": (n + 1) / 2}
	got := resultTokens(t, registry)
	for name, w := range want {
		if got[name] != w {
			t.Errorf("%s: %d, want %d", name, got[name], w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d series, want %d", len(got), len(want))
	}
	m.ForgetAPI("shop")
	list.Results.Delivered(text) // of a call that still runs
	if got := resultTokens(t, registry); len(got) != 2 {
		t.Errorf("an API that is gone left series: %v", got)
	}
}

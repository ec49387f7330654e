package call_test

import (
	"fmt"
	"testing"

	"drawbridge/gateway/telemetry"
	"drawbridge/test/gatewaytest"
)

// TestOtherTools: tools beyond the bound of labels share one, which stays when one of them goes: the others count on.
func TestOtherTools(t *testing.T) {
	var names []string
	for n := range telemetry.MaxToolLabels + 2 {
		names = append(names, fmt.Sprintf("t%04d", n))
	}
	service := gatewaytest.NewRecordingService(t)
	r := gatewaytest.Run(t, map[string]string{
		"drawbridge.yaml": "apis: [{spec: a.yaml, name: a, base_url: '" + service.URL + "'}]\n", "a.yaml": gatewaytest.Document("A", names...),
	})
	r.Served()
	call := func(tool string) {
		t.Helper()
		if w := gatewaytest.NewClient(t, r.Handler(), gatewaytest.Eras[0], "").Call(tool); !gatewaytest.Succeeded(w) {
			t.Fatalf("%s: %d %s", tool, w.Code, w.Body)
		}
	}
	const own = telemetry.MaxToolLabels - 1
	call(names[own])
	call(names[own+1])
	call(names[own+2])
	r.Write(map[string]string{"a.yaml": gatewaytest.Document("A", names[1:own+2]...)}) // of both kinds one goes, so that one gets a label of its own
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	call(names[own+1])
	r.Write(map[string]string{"a.yaml": gatewaytest.Document("A", names[1:]...)})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	call(names[own+2])
	for tool, n := range map[string]int{names[own]: 1, names[own+1]: 1, "other": 3} {
		want := fmt.Sprintf(`drawbridge_tool_calls_total{api="a",outcome="ok",tool=%q} %d`, tool, n)
		if got := gatewaytest.MetricLines(r.Gateway, "drawbridge_tool_calls_total", `"ok"`, fmt.Sprintf("tool=%q", tool)); len(got) != 1 || got[0] != want {
			t.Errorf("%q, want %s", got, want)
		}
	}
	if got := gatewaytest.MetricLines(r.Gateway, names[0]); len(got) != 0 {
		t.Errorf("of a tool that has gone: %q", got)
	}
}

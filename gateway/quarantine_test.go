package gateway_test

import (
	"fmt"
	"strings"
	"testing"

	"drawbridge/gateway/admin"
	"drawbridge/test/gatewaytest"
)

// TestHoldOfTagsSurvivesARestart: operations that are there, but that nothing selects any more, are as lost for the next process as for
// the one that runs.
func TestHoldOfTagsSurvivesARestart(t *testing.T) {
	untagged := gatewaytest.Document("A", gatewaytest.Operations(10)...)
	tagged := strings.ReplaceAll(untagged, "get: {operationId", "get: {tags: [public], operationId")
	cfg := "server: {state_dir: " + t.TempDir() + "}\napis: [{spec: '%s/a.yaml', name: a, refresh: 0s, tools: {include: [{tag: public}]}}]\n"
	o := gatewaytest.NewChanging(t, tagged)
	for _, tt := range []struct {
		text  string
		state admin.State
		tools int
	}{
		{tagged, admin.Ready, 10},
		{untagged, admin.Held, 10},
		{untagged, admin.Held, 10},
		{tagged, admin.Ready, 10},
	} {
		o.Set(tt.text)
		p := started(t, fmt.Sprintf(cfg, o.URL))
		p.Eventually("it is read", func() bool {
			return len(p.Status().APIs) == 1 && (p.State(0).State == admin.Ready || p.State(0).State == admin.Held)
		})
		if s := p.State(0); s.State != tt.state || len(p.Tools()) != tt.tools {
			t.Errorf("%s with %d tools, want %s with %d", s.State, len(p.Tools()), tt.state, tt.tools)
		}
		p.end()
	}
}

package gateway_test

import (
	"slices"
	"strings"
	"testing"

	"drawbridge/gateway/admin"
	"drawbridge/test/gatewaytest"
)

// TestRestrictionsAfterARestart holds that a document which would undo a restriction does not come into use by a restart, though the
// restriction still matches something: it is compared with the document that was kept on disk. (pains row 101)
func TestRestrictionsAfterARestart(t *testing.T) {
	const list = "GET /list list public"
	before := []string{"GET /order/purge purge admin", "GET /order/drop drop admin", list}
	for name, tt := range map[string]struct {
		match, title string
		after        []string
		held         string // "": the document comes into use
	}{
		"lost tag":            {"tag: admin", "A", []string{"GET /order/purge purge public", before[1], list}, "matches GET /order/purge no more"},
		"another operationId": {"operation: [purge, drop]", "A", []string{"GET /order/purge purgeAll admin", before[1], list}, "matches GET /order/purge no more"},
		"another title":       {"api: a", "B", before, "matches GET /list, GET /order/drop, GET /order/purge no more"},
		"more operations":     {"tag: admin", "A", append([]string{"GET /new new public"}, before...), ""},
		"the same":            {"tag: admin", "A", before, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := gatewaytest.NewChanging(t, gatewaytest.Tagged("A", before...))
			cfg := "server: {state_dir: " + t.TempDir() + "}\napis: [{spec: " + o.URL + "/a.yaml, refresh: 0s}]\nrules:\n  - {match: {" + tt.match + "}, set: {confirm: true}}\n"
			first := started(t, cfg)
			first.Served()
			first.end()
			o.Set(gatewaytest.Tagged(tt.title, tt.after...))
			second := started(t, cfg)
			second.Served()
			second.Eventually("the document is read", func() bool {
				return second.State(0).State == admin.Held || len(gatewaytest.MetricLines(second.Gateway, `drawbridge_api_loads_total{api="a",outcome="changed"} 1`)) == 1
			})
			s := second.State(0)
			switch {
			case tt.held == "":
				if s.Held != nil || len(second.Tools()) != len(tt.after) {
					t.Errorf("held: %+v, tools %q", s.Held, second.Tools())
				}
			case s.Held == nil || len(s.Held.Restrictions) == 0 || !strings.Contains(s.Held.Restrictions[0], tt.held):
				t.Errorf("state %s, held %+v", s.State, s.Held)
			case !slices.Equal(second.Tools(), []string{"drop", "list", "purge"}) || !second.Plan("purge").Consent.Needed:
				t.Errorf("tools %q", second.Tools())
			}
		})
	}
}

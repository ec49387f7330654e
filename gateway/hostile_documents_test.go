package gateway_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"drawbridge/gateway"
	"drawbridge/gateway/admin"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/hostile"
	"drawbridge/test/timebox"
)

// overBudget is a document whose budget is used up.
func overBudget(t *testing.T) string {
	t.Helper()
	for _, k := range hostile.Kinds() {
		if k.Name == "all-of-ring" {
			return k.Make(10 * k.N)
		}
	}
	t.Fatal("there is no such kind")
	return ""
}

// TestHostileDocuments: documents that cost as much as they can keep neither a good one beside them waiting nor a reload. They fail with the
// place, and one that was good before is served on.
func TestHostileDocuments(t *testing.T) {
	bad := gatewaytest.NewChanging(t, overBudget(t))
	good, changed := gatewaytest.NewChanging(t, numbered("Good", 3)), gatewaytest.NewChanging(t, numbered("Changed", 4))
	const count = 8
	cfg := "limits: {max_loss: 100}\napis:\n"
	for i := range count {
		cfg += fmt.Sprintf("  - {name: bad%d, spec: '%s/a%[1]d.json', refresh: 0s}\n", i, bad.URL)
	}
	cfg += fmt.Sprintf("  - {name: good, spec: '%s/good.yaml', refresh: 0s}\n  - {name: changed, spec: '%s/changed.yaml', refresh: 0s}\n", good.URL, changed.URL)
	p := starting(t, cfg, func(*gateway.Gateway) {})
	failed := func() (n int) {
		for _, s := range p.Status().APIs[:count] {
			if s.State == admin.Failed {
				n++
			}
		}
		return n
	}
	// What is measured is work: on a machine that others use the clock says little.
	timebox.Processor(t, 2*time.Second, func() {
		p.Within(2*time.Minute, "the good ones are served", func() bool { return p.Status().Tools == 7 })
	})
	if n := failed(); n == count {
		t.Errorf("%d of %d hostile documents were read before the good ones", n, count)
	}
	timebox.Processor(t, count*3*time.Second, func() {
		p.Within(2*time.Minute, "the hostile ones failed", func() bool { return failed() == count })
	})
	if got := p.State(0).Error; !strings.Contains(got, "/paths/~1a/post: reading the document takes more than ") {
		t.Errorf("%q names no place", got)
	}

	changed.Set(overBudget(t))
	good.Set(numbered("Good", 5))
	if err := p.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.Within(2*time.Minute, "the good one is newer, the changed one as it was", func() bool { return p.Status().Tools == 9 && p.State(count+1).State == admin.Stale })
	if got := p.State(count + 1).Error; !strings.Contains(got, "takes more than ") {
		t.Errorf("%q", got)
	}
}

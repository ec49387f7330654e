package gateway

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/widening"
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
			o := newChanging(t, tagged("A", before...))
			cfg := "server: {state_dir: " + t.TempDir() + "}\napis: [{spec: " + o.URL + "/a.yaml, refresh: 0s}]\nrules:\n  - {match: {" + tt.match + "}, set: {confirm: true}}\n"
			first := started(t, cfg)
			first.served()
			first.end()
			o.set(tagged(tt.title, tt.after...))
			second := started(t, cfg)
			second.served()
			second.eventually("the document is read", func() bool {
				return second.state(0).State == admin.Held || len(metricLines(second.Gateway, `drawbridge_api_loads_total{api="a",outcome="changed"} 1`)) == 1
			})
			s := second.state(0)
			switch {
			case tt.held == "":
				if s.Held != nil || len(second.tools()) != len(tt.after) {
					t.Errorf("held: %+v, tools %q", s.Held, second.tools())
				}
			case s.Held == nil || len(s.Held.Restrictions) == 0 || !strings.Contains(s.Held.Restrictions[0], tt.held):
				t.Errorf("state %s, held %+v", s.State, s.Held)
			case !slices.Equal(second.tools(), []string{"drop", "list", "purge"}) || !second.Plan("purge").Consent.Needed:
				t.Errorf("tools %q", second.tools())
			}
		})
	}
}

// TestRestrictionsOfANewSource holds that a document which would undo a restriction does not come into use by a reload that gives its
// API other settings: the configuration is refused until an operator has accepted the document. (pains row 101)
func TestRestrictionsOfANewSource(t *testing.T) {
	const list = "GET /list list public"
	o := newChanging(t, tagged("A", "GET /order/purge purge admin", "GET /order/drop drop admin", list))
	cfg := "apis: [{spec: " + o.URL + "/a.yaml, refresh: 0s%}]\nrules:\n  - {match: {tag: admin}, set: {confirm: true}}\n"
	r := run(t, map[string]string{"drawbridge.yaml": strings.Replace(cfg, "%", "", 1)})
	r.served()
	o.set(tagged("A", "GET /order/purge purge public", "GET /order/drop drop admin", list))
	r.write(map[string]string{"drawbridge.yaml": strings.Replace(cfg, "%", ", base_url: 'http://127.0.0.1:2'", 1)})
	err := r.Reload(t.Context())
	if err == nil || !strings.Contains(err.Error(), "matches GET /order/purge no more") || !strings.Contains(err.Error(), "POST /apis/a/accept") {
		t.Fatalf("Reload = %v", err)
	}
	if p := r.Plan("purge"); p == nil || !p.Consent.Needed {
		t.Errorf("tools %q", r.tools())
	}
	r.eventually("the API in use holds the document", func() bool { return r.state(0).State == admin.Held })
	if err := r.Accept(t.Context(), "a", ""); err != nil {
		t.Fatal(err)
	}
	if err := r.Reload(t.Context()); err != nil {
		t.Errorf("after it was accepted: %v", err)
	}
	if r.Plan("purge").Consent.Needed {
		t.Error("what was accepted is not in use")
	}
}

// TestRecordOfARefusedStart holds that a configuration which a restriction that matches nothing keeps from being used is not recorded as
// the last one that ran: the next start would be compared with it.
func TestRecordOfARefusedStart(t *testing.T) {
	dir := t.TempDir()
	r := &running{t: t, dir: dir}
	r.write(map[string]string{
		"a.yaml":          tagged("A", "GET /orders listOrders orders"),
		"drawbridge.yaml": "server: {state_dir: state}\napis: [{spec: a.yaml, name: a}]\nrules:\n  - {match: {path: /order}, set: {confirm: true}}\n",
	})
	file := filepath.Join(dir, "drawbridge.yaml")
	c, problems := config.Load(file, func(string) string { return "" })
	if c == nil {
		t.Fatal(problems)
	}
	g, err := New(Options{Config: c, ConfigFile: file})
	if err != nil {
		t.Fatal(err)
	}
	var refusal *config.Refusal
	if err := g.Run(t.Context()); !errors.As(err, &refusal) {
		t.Fatalf("Run = %v", err)
	}
	if s, err := widening.ReadRecord(widening.RecordFile(c.Server.StateDir.String(), file)); err == nil {
		t.Errorf("recorded: %+v", s)
	}
}

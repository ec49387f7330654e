package gateway

import (
	"net/http"
	"strings"
	"testing"

	"drawbridge/test/timebox"
)

// TestHeldConfiguration: a change of the file alone that opens access is held, and told everywhere, until somebody asks for it; rules that say the same in other
// words are no change of access. (pains row 104)
func TestHeldConfiguration(t *testing.T) {
	const rules = "rules:\n  - {match: {operation: one}, set: {confirm: true}}\n  - {match: {operation: two}, set: {confirm: true}}\n"
	r := run(t, map[string]string{"drawbridge.yaml": "apis: [{spec: a.yaml, name: a}]\n" + rules, "a.yaml": document("A", "one", "two")})
	r.served()
	change := func(text string) error {
		r.write(map[string]string{"drawbridge.yaml": "apis: [{spec: a.yaml, name: a}]\n" + text})
		done := make(chan error, 1)
		r.reloads <- reload{done: []chan<- error{done}} // as a change of the file
		return timebox.Receive(t, done)
	}
	if err := change("rules:\n  - {match: {path: ['/one', '/two']}, set: {confirm: true}}\n"); err != nil {
		t.Errorf("the same rule in other words: %v", err)
	}
	const want = "apis: a: no consent is needed for calls of GET /two"
	if err := change("rules:\n  - {match: {path: /one}, set: {confirm: true}}\n"); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("one operation less: %v", err)
	}
	if opens := r.Status().Config.Opens; len(opens) != 1 || opens[0] != want {
		t.Errorf("status: %q", opens)
	}
	if w := do(r.Admin(), http.MethodGet, "/readyz?verbose", nil); w.Code != 200 || !strings.Contains(w.Body.String(), "held until SIGHUP, POST /reload or a restart with --accept, since it would open access: "+want) {
		t.Errorf("/readyz?verbose = %d %s", w.Code, w.Body)
	}
	metrics := func() string { return do(r.Admin(), http.MethodGet, "/metrics", nil).Body.String() }
	if got := metrics(); !strings.Contains(got, "\ndrawbridge_config_held 1\n") || !strings.Contains(got, `drawbridge_config_reloads_total{outcome="held"}`) {
		t.Error("metrics do not tell")
	}
	if !r.current.Load().whole.plans["two"].consent.needed {
		t.Error("the configuration that is held is in use")
	}
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r.current.Load().whole.plans["two"].consent.needed || len(r.Status().Config.Opens) > 0 || !strings.Contains(metrics(), "\ndrawbridge_config_held 0\n") {
		t.Error("the configuration that was accepted is not in use")
	}
}

package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// TestHeldConfiguration: a change of the file alone that opens access is held, and told everywhere, until somebody asks for it; rules that say the same in other
// words are no change of access. (pains row 104)
func TestHeldConfiguration(t *testing.T) {
	const rules = "rules:\n  - {match: {operation: one}, set: {confirm: true}}\n  - {match: {operation: two}, set: {confirm: true}}\n"
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": "apis: [{spec: a.yaml, name: a}]\n" + rules, "a.yaml": gatewaytest.Document("A", "one", "two")})
	r.Served()
	change := func(text string) error {
		r.Write(map[string]string{"drawbridge.yaml": "apis: [{spec: a.yaml, name: a}]\n" + text})
		done := submit(r, false) // as a change of the file
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
	if w := gatewaytest.Do(r.Admin(), http.MethodGet, "/readyz?verbose", nil); w.Code != 200 || !strings.Contains(w.Body.String(), "held until SIGHUP, POST /reload or a restart with --accept, since it would open access: "+want) {
		t.Errorf("/readyz?verbose = %d %s", w.Code, w.Body)
	}
	metrics := func() string { return gatewaytest.Do(r.Admin(), http.MethodGet, "/metrics", nil).Body.String() }
	if got := metrics(); !strings.Contains(got, "\ndrawbridge_config_held 1\n") || !strings.Contains(got, `drawbridge_config_reloads_total{outcome="held"}`) {
		t.Error("metrics do not tell")
	}
	if !r.Current().Main.Plan("two").Consent.Needed {
		t.Error("the configuration that is held is in use")
	}
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r.Current().Main.Plan("two").Consent.Needed || len(r.Status().Config.Opens) > 0 || !strings.Contains(metrics(), "\ndrawbridge_config_held 0\n") {
		t.Error("the configuration that was accepted is not in use")
	}
}

// TestHeldWithoutOperations: what restricts no operation of the document that is in use restricts those of the next one, and of the one that is held.
func TestHeldWithoutOperations(t *testing.T) {
	const (
		api      = "admin: {token: 0123456789abcdef}\napis:\n  - {spec: a.yaml, name: a%s}\n"
		excludes = ", tools: {exclude: [{path: '/admin*', optional: true}]}"
		confirms = "rules:\n  - {match: {operation: '*op*'}, set: {confirm: true}}\n  - {match: {operation: op11}, set: {confirm: false}}\n"
	)
	few := gatewaytest.Operations(4)
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": fmt.Sprintf(api, excludes), "a.yaml": gatewaytest.Document("A", append([]string{"admin"}, few...)...)})
	r.Served()
	reload := func(files map[string]string, asked bool) error {
		r.Write(files)
		done := submit(r, asked)
		return timebox.Receive(t, done)
	}
	// For a moment, the document lacks what is excluded.
	if err := reload(map[string]string{"a.yaml": gatewaytest.Document("A", few...)}, false); err != nil {
		t.Fatal(err)
	}
	const want = `apis: a: tools.include and tools.exclude let calls through of operations that match {path: "/admin*"}`
	if err := reload(map[string]string{"drawbridge.yaml": fmt.Sprintf(api, "")}, false); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("without the exclusion: %v", err)
	}
	if err := reload(map[string]string{"drawbridge.yaml": fmt.Sprintf(api, strings.Replace(excludes, "'/admin*'", "['/admin*', /secret]", 1))}, false); err != nil {
		t.Errorf("with one more exclusion: %v", err)
	}
	if err := reload(map[string]string{"drawbridge.yaml": fmt.Sprintf(api, excludes) + confirms, "a.yaml": gatewaytest.Document("A", gatewaytest.Operations(12)...)}, true); err != nil {
		t.Fatal(err)
	}
	// A document that lost most of its operations is held, with one that is new.
	if err := reload(map[string]string{"a.yaml": gatewaytest.Document("A", "op00", "stop11")}, false); err != nil || r.State(0).State != admin.Held {
		t.Fatalf("%v, %+v", err, r.State(0))
	}
	err := reload(map[string]string{"drawbridge.yaml": fmt.Sprintf(api, excludes) + strings.Replace(confirms, "op11}", "'*op11'}", 1)}, false)
	if err == nil || !strings.Contains(err.Error(), "apis: a: no consent is needed for calls of GET /stop11") {
		t.Errorf("an operation of the document that is held: %v", err)
	}
}

// TestHeldTwins: of entries that have one document, each is compared with the one that it was, also under another name.
func TestHeldTwins(t *testing.T) {
	const twins = "apis:\n  - {spec: a.yaml, name: open}\n  - {spec: a.yaml, name: %s, tools: {exclude: [{operation: one}%s]}}\n"
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": fmt.Sprintf(twins, "closed", ", {operation: two}"), "a.yaml": gatewaytest.Document("A", "one", "two", "three")})
	r.Eventually("both are served", func() bool { return len(r.Tools()) == 4 })
	for _, tt := range []struct {
		name, text, want string
	}{
		{"the second one opens an operation under another name", fmt.Sprintf(twins, "other", ""), "let calls through of GET /two"},
		{"the second one has another name", fmt.Sprintf(twins, "other", ", {operation: two}"), ""},
		{"the first one goes", "apis: [{spec: a.yaml, name: other, tools: {exclude: [{operation: one}, {operation: two}]}}]\n", ""},
	} {
		r.Write(map[string]string{"drawbridge.yaml": tt.text})
		done := submit(r, false)
		if err := timebox.Receive(t, done); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// TestAuditIsHeldAtTheStart: a change of the audit log takes effect at the next start, so that a reload neither holds it nor takes it for
// what is in use: the start compares it with what was accepted.
func TestAuditIsHeldAtTheStart(t *testing.T) {
	const apis = "apis: [{spec: a.yaml, name: a}]\n"
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": apis + "audit: {subject: hash}\n", "a.yaml": gatewaytest.Document("A", "one")})
	r.Served()
	r.Write(map[string]string{"drawbridge.yaml": apis + "audit: {subject: plain}\n"})
	done := submit(r, false) // as a change of the file
	if err := timebox.Receive(t, done); err != nil {
		t.Errorf("the reload: %v", err)
	}
	if audit := r.Current().Config.Audit; audit == nil || audit.Subject != config.SubjectHash {
		t.Errorf("in use is %+v", audit)
	}
}

// TestAnotherServiceOfADocument: a further API with the document of another one is new if its calls go to another service, and else has
// to be restricted like that one.
func TestAnotherServiceOfADocument(t *testing.T) {
	const cfg = "apis:\n  - {spec: a.yaml, name: a%s}\n%srules: [{match: {api: a}, set: {confirm: true}}]\n"
	for _, tt := range []struct {
		name, base, further, want string
	}{
		{"another base URL", ", base_url: 'http://127.0.0.1:1/eu'", "  - {spec: a.yaml, name: b, base_url: 'http://127.0.0.1:1/us'}\n", ""},
		{"the same base URL", ", base_url: 'http://127.0.0.1:1/eu'", "  - {spec: a.yaml, name: b, base_url: 'http://127.0.0.1:1/eu'}\n", "no consent is needed"},
		{"no base URL", ", base_url: 'http://127.0.0.1:1/eu'", "  - {spec: a.yaml, name: b}\n", "no consent is needed"},
		{"another origin than the servers", "", "  - {spec: a.yaml, name: b, base_url: 'http://127.0.0.1:2'}\n", ""},
		{"the origin of the servers", "", "  - {spec: a.yaml, name: b, base_url: 'http://127.0.0.1:1/v2'}\n", "no consent is needed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": fmt.Sprintf(cfg, tt.base, ""), "a.yaml": gatewaytest.Tagged("A", "GET /orders listOrders orders")})
			r.Served()
			r.Write(map[string]string{"drawbridge.yaml": fmt.Sprintf(cfg, tt.base, tt.further)})
			done := submit(r, false)
			if err := timebox.Receive(t, done); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

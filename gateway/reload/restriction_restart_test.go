package reload_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"drawbridge/config"
	"drawbridge/gateway"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/widening"
	"drawbridge/test/gatewaytest"
)

// TestRestrictionsOfANewSource holds that a document which would undo a restriction does not come into use by a reload that gives its
// API other settings: the configuration is refused until an operator has accepted the document. (pains row 101)
func TestRestrictionsOfANewSource(t *testing.T) {
	const list = "GET /list list public"
	o := gatewaytest.NewChanging(t, gatewaytest.Tagged("A", "GET /order/purge purge admin", "GET /order/drop drop admin", list))
	cfg := "apis: [{spec: " + o.URL + "/a.yaml, refresh: 0s%}]\nrules:\n  - {match: {tag: admin}, set: {confirm: true}}\n"
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": strings.Replace(cfg, "%", "", 1)})
	r.Served()
	o.Set(gatewaytest.Tagged("A", "GET /order/purge purge public", "GET /order/drop drop admin", list))
	r.Write(map[string]string{"drawbridge.yaml": strings.Replace(cfg, "%", ", base_url: 'http://127.0.0.1:2'", 1)})
	err := r.Reload(t.Context())
	if err == nil || !strings.Contains(err.Error(), "matches GET /order/purge no more") || !strings.Contains(err.Error(), "POST /apis/a/accept") {
		t.Fatalf("Reload = %v", err)
	}
	if p := r.Plan("purge"); p == nil || !p.Consent.Needed {
		t.Errorf("tools %q", r.Tools())
	}
	r.Eventually("the API in use holds the document", func() bool { return r.State(0).State == admin.Held })
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
	r := &gatewaytest.Running{T: t, Dir: dir}
	r.Write(map[string]string{
		"a.yaml":          gatewaytest.Tagged("A", "GET /orders listOrders orders"),
		"drawbridge.yaml": "server: {state_dir: state}\napis: [{spec: a.yaml, name: a}]\nrules:\n  - {match: {path: /order}, set: {confirm: true}}\n",
	})
	file := filepath.Join(dir, "drawbridge.yaml")
	c, problems := config.Load(file, func(string) string { return "" })
	if c == nil {
		t.Fatal(problems)
	}
	g, err := gateway.New(gateway.Options{Config: c, ConfigFile: file})
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

package gateway

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// The tests of this file are named after advisories about other products, and hold what would have gone wrong there
// against the whole gateway. docs/advisories.md lists them, with those that stand elsewhere; `make cve` runs them.

// A scope was asked for in the newest revision of the protocol alone.
func TestCVE_2026_11719_OlderRevisions(t *testing.T) {
	g, i, service := protected(t)
	token := i.token(t, nil) // without orders:admin, which purge needs
	for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
		w := newClient(t, g.Handler(), revision, token).call("purge")
		if w.Code != http.StatusForbidden || !strings.Contains(w.Header().Get("WWW-Authenticate"), `error="insufficient_scope"`) {
			t.Errorf("%s: %d %q", revision, w.Code, w.Header().Get("WWW-Authenticate"))
		}
	}
	c := newClient(t, g.Handler(), "2025-03-26", token)
	c.send("ping", "", "")
	header := http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Session-Id": {c.session}}
	batch := `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"purge","arguments":{}}}]`
	if w := post(g.Handler(), header, batch); w.Code != http.StatusForbidden {
		t.Errorf("batch: %d %s", w.Code, w.Body)
	}
	if n := len(service.taken()); n != 0 {
		t.Errorf("%d calls were executed", n)
	}
}

// A page whose name leads to the machine of the gateway (DNS rebinding) is of the same origin as the gateway to the
// browser, so that Host and Origin agree.
func TestCVE_2026_9739_ReboundName(t *testing.T) {
	service := newRecordingService(t)
	g := start(t, document("Shop", "list"), "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\n", service.URL)
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","arguments":{}}}`
	for _, host := range []string{"evil.example", "evil.example:8080", "127.0.0.1.evil.example:8080", "localhost.evil.example", "a.localhost:8080"} {
		for _, origin := range []string{"", "http://" + host} {
			header := http.Header{"Host": {host}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
			if origin != "" {
				header.Set("Origin", origin)
			}
			r := do(g.Handler(), http.MethodGet, "/mcp", header)
			if r.Code != http.StatusForbidden {
				t.Errorf("GET of %s: %d", host, r.Code)
			}
			if w := post(hosted(g.Handler(), host), header, call); w.Code != http.StatusForbidden {
				t.Errorf("POST to %s: %d %s", host, w.Code, w.Body)
			}
		}
	}
	if n := len(service.taken()); n != 0 {
		t.Errorf("%d calls were executed", n)
	}
}

// hosted has requests arrive with another Host.
func hosted(h http.Handler, host string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host = host
		h.ServeHTTP(w, r)
	})
}

// A page of another site can send what needs no preflight: a POST of plain text or of a form, without reading the answer.
func TestCVE_2026_33252_CallOfAnotherSite(t *testing.T) {
	service := newRecordingService(t)
	g := start(t, document("Shop", "list"), "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\n", service.URL)
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","arguments":{}}}`
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/json", ""} {
		for _, origin := range []string{"https://evil.example", "null", "http://127.0.0.1.evil.example"} {
			header := http.Header{"Origin": {origin}, "Accept": {"*/*"}}
			if kind != "" {
				header.Set("Content-Type", kind)
			}
			if w := post(g.Handler(), header, call); w.Code != http.StatusForbidden || w.Header().Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s from %s: %d %v", kind, origin, w.Code, w.Header())
			}
		}
		// Old browsers leave Origin away; what they can send so is no JSON.
		if kind == "application/json" {
			continue
		}
		header := http.Header{"Accept": {"application/json, text/event-stream"}}
		if kind != "" {
			header.Set("Content-Type", kind)
		}
		if w := post(g.Handler(), header, call); w.Code != http.StatusUnsupportedMediaType {
			t.Errorf("%q without Origin: %d %s", kind, w.Code, w.Body)
		}
	}
	if n := len(service.taken()); n != 0 {
		t.Errorf("%d calls were executed", n)
	}
}

// A reader of JSON that folds names, or takes the first of two, sees another message than the one before it.
func TestGHSA_4gph_2hhr_5mwg_OneReading(t *testing.T) {
	g, i, service := protected(t)
	token := i.token(t, nil)
	c := newClient(t, g.Handler(), "2025-06-18", token)
	c.send("ping", "", "")
	header := http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {"2025-06-18"}, "Mcp-Session-Id": {c.session}}
	if w := post(g.Handler(), header.Clone(), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","arguments":{}}}`); len(service.taken()) != 1 || !succeeded(w) {
		t.Fatalf("a plain call: %d %s", w.Code, w.Body)
	}
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call","params":{"name":"list","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":1,"METHOD":"tools/call","params":{"name":"list","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"ping","params":{"name":"list","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"list","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"purge","name":"list","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"Name":"list","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method\u0000":"tools/call","params":{"name":"list","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":1,"m\u0065thod":"ping","method":"tools/call","params":{"name":"list","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","arguments":{}}}{"jsonrpc":"2.0","id":2,"method":"ping"}`,
		"\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","arguments":{}}}`,
	} {
		w := post(g.Handler(), header.Clone(), body)
		if n := len(service.taken()); n != 0 || strings.Contains(w.Body.String(), `"done":true`) {
			t.Errorf("%d calls by %s\n%d %s", n, body, w.Code, w.Body)
		}
	}
}

// Completion for what does not exist, or of a kind that nobody knows, made a server dereference nothing.
func TestCVE_2026_47427_CompletionOfNothing(t *testing.T) {
	g, i, _ := protected(t)
	token := i.token(t, nil)
	for _, params := range []string{
		`{}`, `{"ref":null}`, `{"ref":{}}`, `{"ref":{"type":"ref/prompt"}}`, `{"ref":{"type":"ref/prompt","name":"x"}}`, `{"ref":{"type":"ref/resource"}}`,
		`{"ref":{"type":"ref/resource","uri":"a://{b}"},"argument":null}`, `{"ref":{"type":"ref/other"},"argument":{"name":"a","value":"b"}}`,
		`{"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"a"},"context":null}`, `{"ref":[],"argument":[],"context":[]}`, `{"ref":"x","argument":"y"}`,
	} {
		for _, revision := range eras {
			c := newClient(t, g.Handler(), revision, token)
			c.send("ping", "", "")
			header := http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
				"Mcp-Protocol-Version": {revision}, "Mcp-Method": {"completion/complete"}}
			if c.session != "" {
				header.Set("Mcp-Session-Id", c.session)
			}
			if revision >= "2026" {
				params = strings.Replace(params, "{", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"`+revision+`","io.modelcontextprotocol/clientCapabilities":{}},`, 1)
				params = strings.Replace(params, ",}", "}", 1)
			}
			w := post(g.Handler(), header, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":%s}`, params))
			if w.Code == http.StatusInternalServerError || strings.Contains(w.Body.String(), "-32603") {
				t.Errorf("%s, %s: %d %s", revision, params, w.Code, w.Body)
			}
		}
	}
	if lines := metricLines(g, "drawbridge_panics_total 0"); len(lines) != 1 {
		t.Errorf("panics: %v", metricLines(g, "drawbridge_panics_total"))
	}
}

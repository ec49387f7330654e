package call_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"drawbridge/test/gatewaytest"
)

// The tests of this file are named after advisories about other products, and hold what would have gone wrong there
// against the whole gateway. docs/contributing/advisories.md lists them, with those that stand elsewhere; `make cve` runs them.

// A scope was asked for in the newest revision of the protocol alone.
func TestCVE_2026_11719_OlderRevisions(t *testing.T) {
	g, i, service := gatewaytest.Protected(t)
	token := i.Token(t, nil) // without orders:admin, which purge needs
	for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
		w := gatewaytest.NewClient(t, g.Handler(), revision, token).Call("purge")
		if w.Code != http.StatusForbidden || !strings.Contains(w.Header().Get("WWW-Authenticate"), `error="insufficient_scope"`) {
			t.Errorf("%s: %d %q", revision, w.Code, w.Header().Get("WWW-Authenticate"))
		}
	}
	c := gatewaytest.NewClient(t, g.Handler(), "2025-03-26", token)
	c.Send("ping", "", "")
	header := http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Session-Id": {c.Session}}
	batch := `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"purge","arguments":{}}}]`
	if w := gatewaytest.Post(g.Handler(), header, batch); w.Code != http.StatusForbidden {
		t.Errorf("batch: %d %s", w.Code, w.Body)
	}
	if n := len(service.Taken()); n != 0 {
		t.Errorf("%d calls were executed", n)
	}
}

// A page whose name leads to the machine of the gateway (DNS rebinding) is of the same origin as the gateway to the
// browser, so that Host and Origin agree.
func TestCVE_2026_9739_ReboundName(t *testing.T) {
	service := gatewaytest.NewRecordingService(t)
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\n", service.URL)
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","arguments":{}}}`
	for _, host := range []string{"evil.example", "evil.example:8080", "127.0.0.1.evil.example:8080", "localhost.evil.example", "a.localhost:8080"} {
		for _, origin := range []string{"", "http://" + host} {
			header := http.Header{"Host": {host}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
			if origin != "" {
				header.Set("Origin", origin)
			}
			r := gatewaytest.Do(g.Handler(), http.MethodGet, "/mcp", header)
			if r.Code != http.StatusForbidden {
				t.Errorf("GET of %s: %d", host, r.Code)
			}
			if w := gatewaytest.Post(hosted(g.Handler(), host), header, call); w.Code != http.StatusForbidden {
				t.Errorf("POST to %s: %d %s", host, w.Code, w.Body)
			}
		}
	}
	if n := len(service.Taken()); n != 0 {
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
	service := gatewaytest.NewRecordingService(t)
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\n", service.URL)
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","arguments":{}}}`
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/json", ""} {
		for _, origin := range []string{"https://evil.example", "null", "http://127.0.0.1.evil.example"} {
			header := http.Header{"Origin": {origin}, "Accept": {"*/*"}}
			if kind != "" {
				header.Set("Content-Type", kind)
			}
			if w := gatewaytest.Post(g.Handler(), header, call); w.Code != http.StatusForbidden || w.Header().Get("Access-Control-Allow-Origin") != "" {
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
		if w := gatewaytest.Post(g.Handler(), header, call); w.Code != http.StatusUnsupportedMediaType {
			t.Errorf("%q without Origin: %d %s", kind, w.Code, w.Body)
		}
	}
	if n := len(service.Taken()); n != 0 {
		t.Errorf("%d calls were executed", n)
	}
}

// A reader of JSON that folds names, or takes the first of two, sees another message than the one before it.
func TestGHSA_4gph_2hhr_5mwg_OneReading(t *testing.T) {
	g, i, service := gatewaytest.Protected(t)
	token := i.Token(t, nil)
	c := gatewaytest.NewClient(t, g.Handler(), "2025-06-18", token)
	c.Send("ping", "", "")
	header := http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {"2025-06-18"}, "Mcp-Session-Id": {c.Session}}
	if w := gatewaytest.Post(g.Handler(), header.Clone(), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","arguments":{}}}`); len(service.Taken()) != 1 || !gatewaytest.Succeeded(w) {
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
		w := gatewaytest.Post(g.Handler(), header.Clone(), body)
		if n := len(service.Taken()); n != 0 || strings.Contains(w.Body.String(), `"done":true`) {
			t.Errorf("%d calls by %s\n%d %s", n, body, w.Code, w.Body)
		}
	}
}

// Completion for what does not exist, or of a kind that nobody knows, made a server dereference nothing.
func TestCVE_2026_47427_CompletionOfNothing(t *testing.T) {
	g, i, _ := gatewaytest.Protected(t)
	token := i.Token(t, nil)
	for _, params := range []string{
		`{}`, `{"ref":null}`, `{"ref":{}}`, `{"ref":{"type":"ref/prompt"}}`, `{"ref":{"type":"ref/prompt","name":"x"}}`, `{"ref":{"type":"ref/resource"}}`,
		`{"ref":{"type":"ref/resource","uri":"a://{b}"},"argument":null}`, `{"ref":{"type":"ref/other"},"argument":{"name":"a","value":"b"}}`,
		`{"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"a"},"context":null}`, `{"ref":[],"argument":[],"context":[]}`, `{"ref":"x","argument":"y"}`,
	} {
		for _, revision := range gatewaytest.Eras {
			c := gatewaytest.NewClient(t, g.Handler(), revision, token)
			c.Send("ping", "", "")
			header := http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
				"Mcp-Protocol-Version": {revision}, "Mcp-Method": {"completion/complete"}}
			if c.Session != "" {
				header.Set("Mcp-Session-Id", c.Session)
			}
			if revision >= "2026" {
				params = strings.Replace(params, "{", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"`+revision+`","io.modelcontextprotocol/clientCapabilities":{}},`, 1)
				params = strings.Replace(params, ",}", "}", 1)
			}
			w := gatewaytest.Post(g.Handler(), header, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":%s}`, params))
			if w.Code == http.StatusInternalServerError || strings.Contains(w.Body.String(), "-32603") {
				t.Errorf("%s, %s: %d %s", revision, params, w.Code, w.Body)
			}
		}
	}
	if lines := gatewaytest.MetricLines(g, "drawbridge_panics_total 0"); len(lines) != 1 {
		t.Errorf("panics: %v", gatewaytest.MetricLines(g, "drawbridge_panics_total"))
	}
}

// A header of the caller said where the call went, and what it was. Each call here is made, by somebody who may make it, from a proxy
// that is trusted; what arrives is what arrives without these headers.
func TestCVE_2026_34476_HeadersOfTheCaller(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	var connections atomic.Int32
	other := httptest.NewUnstartedServer(http.NotFoundHandler())
	other.Config.ConnState = func(net.Conn, http.ConnState) { connections.Add(1) }
	other.Start()
	t.Cleanup(other.Close)
	defer func() {
		if connections.Load() > 0 {
			t.Error("the other server got a connection")
		}
	}()
	host := other.Listener.Addr().String()
	hostile := map[string]string{
		"SW-URL": other.URL + "/purge", "X-Original-URL": "/purge", "X-Rewrite-URL": other.URL + "/purge", "Destination": other.URL + "/purge", "Referer": other.URL + "/purge",
		"X-Original-Uri": "/purge", "X-Forwarded-Uri": "/purge", "X-Forwarded-Path": "/purge", "X-Forwarded-Prefix": "/purge",
		"Forwarded": `for=192.0.2.1;host="` + host + `";proto=https`, "X-Forwarded-For": "192.0.2.1", "X-Forwarded-Host": host, "X-Forwarded-Server": host, "X-Forwarded-Proto": "https", "X-Forwarded-Port": "1",
		"Mcp-Init-Host": host, "X-Host": host, "X-Original-Host": host, "X-Http-Host-Override": host, "X-Real-Host": host, "X-Upstream": other.URL, "X-Target-Url": other.URL, "X_Forwarded_Host": host, "Host_": host,
		"X-HTTP-Method-Override": "DELETE", "X-HTTP-Method": "DELETE", "X-Method-Override": "DELETE", "Router-Key": "purge",
	}
	const anonymous = "server: {trusted_proxies: [127.0.0.1]}\nauth: {anonymous: true}\napis: [{name: shop, spec: $SPEC, base_url: $BASE, pass_headers: [X-Tenant]}]\n"
	guarded := fmt.Sprintf(strings.NewReplacer("server: {", "server: {trusted_proxies: [127.0.0.1], ", "base_url: $BASE,", "base_url: $BASE, pass_headers: [X-Tenant],").Replace(gatewaytest.ProtectedConfig), gatewaytest.Issuers(i))
	for _, tt := range []struct{ name, config, token string }{{"anonymous", anonymous, ""}, {"token", guarded, i.Token(t, nil)}} {
		g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "purge"), tt.config, service.URL)
		for _, revision := range gatewaytest.Eras {
			arrived := func(headers map[string]string) *http.Request {
				t.Helper()
				c := gatewaytest.NewClient(t, g.Handler(), revision, tt.token)
				c.Header.Set("X-Tenant", "t1")
				for name, value := range headers {
					c.Header[name] = []string{value} // in this spelling
				}
				w := c.Call("list")
				taken := service.Taken()
				if !gatewaytest.Succeeded(w) || len(taken) != 1 {
					t.Fatalf("%s, %s: %d requests, %d %s", tt.name, revision, len(taken), w.Code, w.Body)
				}
				return taken[0]
			}
			plain, got := arrived(nil), arrived(hostile)
			if want := strings.TrimPrefix(service.URL, "http://"); got.Method != http.MethodGet || got.RequestURI != "/list" || got.Host != want {
				t.Errorf("%s, %s: %s %s of %s", tt.name, revision, got.Method, got.RequestURI, got.Host)
			}
			if got.Header.Get("X-Tenant") != "t1" {
				t.Errorf("%s, %s: no header of the caller arrives, not even the one that is to be passed on", tt.name, revision)
			}
			if diff := cmp.Diff(plain.Header, got.Header); diff != "" {
				t.Errorf("%s, %s: the headers made a difference:\n%s", tt.name, revision, diff)
			}
			for name := range hostile {
				if values := got.Header.Values(name); values != nil {
					t.Errorf("%s, %s: %s: %q went on", tt.name, revision, name, values)
				}
			}
		}
	}
}

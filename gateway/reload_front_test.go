package gateway_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"drawbridge/test/gatewaytest"
)

// TestReloadOfTheFront: what stands before the tools changes with a reload as the tools do (O3): hosts, origins, keys, limits,
// what the gateway says of itself, and who may order what on the admin listener.
func TestReloadOfTheFront(t *testing.T) {
	const first, second = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"
	r := gatewaytest.Run(t, map[string]string{"a.yaml": gatewaytest.Document("A", "one"), "drawbridge.yaml": `
server: {seal_keys: [` + first + `], instructions: Before., allowed_hosts: [old.internal], allowed_origins: ["https://old.example.com"]}
admin: {token: 0123456789abcdef}
limits: {max_body: 4KiB}
apis: [{spec: a.yaml}]
`})
	r.Served()
	post := func(header http.Header, body string) (int, string, http.Header) {
		t.Helper()
		header.Set("Content-Type", "application/json")
		header.Set("Accept", "application/json, text/event-stream")
		req := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:8080/mcp", strings.NewReader(body))
		if req.Header = header; header.Get("Host") != "" {
			req.Host = header.Get("Host")
		}
		w := httptest.NewRecorder()
		r.Handler().ServeHTTP(w, req)
		answer, err := io.ReadAll(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		return w.Code, string(answer), w.Header()
	}
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	at := func(header, value string) http.Header { return http.Header{header: {value}} }
	begin := func(header http.Header) (status int, session, answer string) {
		t.Helper()
		status, answer, h := post(header, initialize)
		return status, h.Get("Mcp-Session-Id"), answer
	}
	lists := func(session string) int {
		t.Helper()
		status, _, _ := post(http.Header{"Mcp-Session-Id": {session}, "Mcp-Protocol-Version": {"2025-11-25"}}, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
		return status
	}
	reload := func(config string) {
		t.Helper()
		r.Write(map[string]string{"drawbridge.yaml": config})
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	large := strings.Replace(initialize, `"c"`, `"`+strings.Repeat("c", 8<<10)+`"`, 1)

	status, session, answer := begin(at("Origin", "https://old.example.com"))
	if status != 200 || !strings.Contains(answer, "Before.") || lists(session) != 200 {
		t.Fatalf("initialize = %d %s", status, answer)
	}
	if status, _, _ := post(http.Header{}, large); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a large body = %d", status)
	}

	reload(`
server: {seal_keys: [` + second + `, ` + first + `], instructions: After., allowed_hosts: [new.internal], allowed_origins: ["https://new.example.com"], public_url: "https://mcp.example.com"}
auth: {anonymous: true}
admin: {token: fedcba9876543210, allowed_hosts: [ops.internal]}
limits: {max_body: 64KiB}
apis: [{spec: a.yaml}]
`)
	if got := lists(session); got != 200 {
		t.Errorf("a session that was sealed with the key before = %d, want 200", got)
	}
	status, renewed, answer := begin(at("Origin", "https://new.example.com"))
	if status != 200 || !strings.Contains(answer, "After.") {
		t.Errorf("initialize = %d %s", status, answer)
	}
	if status, _, _ := post(http.Header{}, large); status != 200 {
		t.Errorf("a body within the new limit = %d", status)
	}
	for _, tt := range []struct {
		header, value string
		want          int
	}{
		{"Origin", "https://old.example.com", 403}, {"Origin", "https://mcp.example.com", 200},
		{"Host", "old.internal", 403}, {"Host", "new.internal", 200}, {"Host", "mcp.example.com", 200},
	} {
		if status, _, _ := begin(at(tt.header, tt.value)); status != tt.want {
			t.Errorf("%s %s = %d, want %d", tt.header, tt.value, status, tt.want)
		}
	}
	for token, want := range map[string]int{"0123456789abcdef": 401, "fedcba9876543210": 200} {
		if w := gatewaytest.Do(r.Admin(), http.MethodPost, "/reload", http.Header{"Authorization": {"Bearer " + token}, "Host": {"ops.internal"}}); w.Code != want {
			t.Errorf("POST /reload with %s = %d %s, want %d", token, w.Code, w.Body, want)
		}
	}

	reload("server: {seal_keys: [" + second + "]}\nauth: {anonymous: true}\napis: [{spec: a.yaml}]\n")
	if lists(session) != 404 || lists(renewed) != 200 {
		t.Errorf("with the first key gone: %d and %d, want 404 and 200", lists(session), lists(renewed))
	}
	if w := gatewaytest.Do(r.Admin(), http.MethodPost, "/reload", http.Header{"Authorization": {"Bearer fedcba9876543210"}}); w.Code != 403 {
		t.Errorf("POST /reload without a token configured = %d", w.Code)
	}

	// A configuration that is refused changes none of it.
	r.Write(map[string]string{"drawbridge.yaml": "server: {seal_keys: [" + first + "], allowed_hosts: [evil.internal]}\napis: [{spec: ''}]\n"})
	if err := r.Reload(t.Context()); err == nil {
		t.Fatal("a bad configuration was accepted")
	}
	if status, _, _ := begin(at("Host", "evil.internal")); status != 403 || lists(renewed) != 200 {
		t.Errorf("after a configuration that was refused: %d, %d", status, lists(renewed))
	}
}

// TestOwnKeysGoOn: handles of a process without keys go on to open when the configuration brings keys.
func TestOwnKeysGoOn(t *testing.T) {
	r := gatewaytest.Run(t, map[string]string{"a.yaml": gatewaytest.Document("A", "one"), "drawbridge.yaml": "- a.yaml\n"})
	r.Served()
	sealed := r.Links().Seal([]byte("x"), time.Now().Add(time.Minute))
	r.Write(map[string]string{"drawbridge.yaml": "server: {seal_keys: [0123456789abcdef0123456789abcdef]}\napis: [{spec: a.yaml}]\n"})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Links().Open(sealed, time.Now()); err != nil {
		t.Error(err)
	}
}

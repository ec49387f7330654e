package gateway_test

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"drawbridge/gateway/audit"
	"drawbridge/test/gatewaytest"
)

// TestRefusalsAreAccounted: who is refused before it is known what he wants has a line with what is known of him, in both eras; nothing
// that he has sent is in it.
func TestRefusalsAreAccounted(t *testing.T) {
	a := gatewaytest.Accounted(t, audit.Options{Subject: audit.PlainSubject}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	text := func(limits string) map[string]string {
		return map[string]string{"drawbridge.yaml": fmt.Sprintf(`
server: {public_url: %s, trusted_proxies: [192.0.2.1]}
auth: {issuers: [%s], default_scopes: [mcp:tools]}
apis: [{name: shop, spec: a.yaml, base_url: "http://127.0.0.1:1"}]
rules: [{match: {operation: secret}, set: {scopes: [admin]}}]
prompts: [{name: status, messages: [{tool: secret}]}]
endpoints: [{name: part, match: {operation: stock}}]
limits: {%s}
`, gatewaytest.PublicURL, gatewaytest.Issuers(a.I), limits)}
	}
	reload := func(limits string) {
		t.Helper()
		a.Write(text(limits))
		if err := a.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	reload("")
	n := 0
	for _, tt := range []struct {
		name    string
		limits  string
		served  int // requests before the one that is refused
		claims  map[string]any
		header  http.Header
		host    string
		path    string
		method  string
		status  int
		address string // as the proxy tells it; "": another one each time
		want    map[string]any
	}{
		{name: "no token", status: 401, want: map[string]any{"outcome": "unauthenticated", "reason": "no_token"}},
		{name: "no token at an endpoint", path: "/mcp/part", status: 401, want: map[string]any{"outcome": "unauthenticated", "reason": "no_token", "endpoint": "part"}},
		{name: "no endpoint at all", path: "/mcp/none", status: 404},
		{name: "an expired token", claims: map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}, status: 401, want: map[string]any{"outcome": "unauthenticated", "reason": "expired"}},
		{name: "a token for another", claims: map[string]any{"aud": "https://other.example.com"}, status: 401, want: map[string]any{"outcome": "unauthenticated", "reason": "audience"}},
		{name: "two tokens", header: http.Header{"Authorization": {"Bearer a", "Bearer b"}}, status: 400, want: map[string]any{"outcome": "unauthenticated", "reason": "not_exactly_one_token"}},
		{name: "a foreign host", host: "evil.example.com", status: 403, want: map[string]any{"outcome": "foreign_host"}},
		{name: "a foreign origin", header: http.Header{"Origin": {"https://evil.example.com"}}, status: 403, want: map[string]any{"outcome": "foreign_origin"}},
		{name: "a prompt without its scope", claims: map[string]any{"sub": "bob"}, method: "prompts/get", status: 403, want: map[string]any{"outcome": "insufficient_scope", "subject": "bob"}},
		{name: "the rate of a caller", limits: "principal_rate: {rate: 1/h, burst: 1}", served: 1, claims: map[string]any{"sub": "carol"}, status: 429,
			want: map[string]any{"outcome": "principal_rate", "rpc": "tools/list", "subject": "carol"}},
		{name: "the rate of an address", limits: "address_rate: {rate: 1/h, burst: 1}", served: 1, claims: map[string]any{"sub": "dave"}, status: 429, address: "198.51.100.200",
			want: map[string]any{"outcome": "address_rate"}},
		{name: "another bad one", limits: "address_rate: {rate: 1/h, burst: 1}", header: http.Header{"Authorization": {"Bearer x.y.z"}}, status: 401, address: "2001:db8::7",
			want: map[string]any{"outcome": "unauthenticated", "reason": "not_base_url"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.limits != "" {
				reload(tt.limits)
			}
			if n++; tt.address == "" {
				tt.address = fmt.Sprintf("198.51.100.%d", n)
			}
			header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "X-Forwarded-For": {tt.address}, "Mcp-Protocol-Version": {gatewaytest.Eras[0]}}
			if tt.claims != nil {
				header.Set("Authorization", "Bearer "+a.I.Token(t, tt.claims))
			}
			method, params := "tools/list", ""
			if tt.method != "" {
				method, params = tt.method, `"name":"status",`
				header.Set("Mcp-Name", "status")
			}
			header.Set("Mcp-Method", method)
			for name, values := range tt.header {
				header[name] = values
			}
			var w *httptest.ResponseRecorder
			for k := range tt.served + 1 {
				r := httptest.NewRequest(http.MethodPost, gatewaytest.PublicURL+cmp.Or(tt.path, "/mcp"), strings.NewReader(`{"jsonrpc":"2.0","id":"canary","method":"`+method+
					`","params":{`+params+`"_meta":{"io.modelcontextprotocol/protocolVersion":"`+gatewaytest.Eras[0]+`","io.modelcontextprotocol/clientCapabilities":{}}}}`))
				r.Header, r.RemoteAddr, r.Host = header.Clone(), "192.0.2.1:99", cmp.Or(tt.host, "mcp.example.com")
				w = httptest.NewRecorder()
				a.Handler().ServeHTTP(w, r)
				if want := tt.status; k == tt.served && w.Code != want || k < tt.served && w.Code != 200 {
					t.Fatalf("request %d: %d %s", k, w.Code, w.Body)
				}
			}
			if tt.want == nil {
				return
			}
			got := a.Lines(1)
			if len(got) != 1 {
				t.Fatalf("%d lines: %v", len(got), got)
			}
			if id, _ := got[0]["request"].(string); len(id) != 16 || id != w.Header().Get("X-Request-Id") { // who reports it knows it (P7)
				t.Errorf("request %q, and %q in the answer", id, w.Header().Get("X-Request-Id"))
			}
			delete(got[0], "request")
			want := merged(map[string]any{"decision": "refused", "address": tt.address, "answered": float64(tt.status)}, tt.want)
			if want["subject"] != nil {
				want = merged(want, map[string]any{"credential": "jwt", "issuer": a.I.URL, "client": "app", "scopes": []any{"mcp:tools"}})
			}
			if tt.method != "" {
				want["rpc"] = tt.method
			}
			if diff := gocmp.Diff(want, got[0]); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	for _, secret := range []string{"canary", "evil.example.com", "x.y.z"} {
		if strings.Contains(a.Out.String(), secret) {
			t.Errorf("%q is in the log:\n%s", secret, a.Out)
		}
	}
}

// TestRefusedInABatch: a request of a batch that is too many has its line too.
func TestRefusedInABatch(t *testing.T) {
	out := &gatewaytest.Sink{}
	log, err := audit.New(audit.Options{Output: out})
	if err != nil {
		t.Fatal(err)
	}
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i))+"limits: {principal_rate: {rate: 1/h, burst: 2}}\n", service.URL)
	g.SetAudit(log)
	c := gatewaytest.NewClient(t, g.Handler(), "2025-03-26", i.Token(t, nil))
	c.Send("tools/list", "", "")
	header := c.Header.Clone()
	header.Set("Content-Type", "application/json")
	header.Set("Accept", "application/json, text/event-stream")
	header.Set("Mcp-Session-Id", c.Session)
	const list = `{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`
	w := gatewaytest.Post(g.Handler(), header, "["+fmt.Sprintf(list, 1)+","+fmt.Sprintf(list, 2)+","+fmt.Sprintf(list, 3)+"]")
	if got := strings.Count(w.Body.String(), "too many requests of this caller"); got != 2 {
		t.Fatalf("%d are refused: %s", got, w.Body)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := log.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, `"rpc":"tools/list"`) || !strings.Contains(got, `"outcome":"principal_rate","answered":429,"more":1`) {
		t.Errorf("the log has\n%s", got)
	}
}

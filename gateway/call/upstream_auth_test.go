package call_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"drawbridge/config"
	"drawbridge/gateway"
	"drawbridge/test/gatewaytest"
)

// BenchmarkCredentials is a whole call with each kind of credential, to a service on loopback. What tells is the number of
// allocations.
func BenchmarkCredentials(b *testing.B) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodPost {
			_, _ = fmt.Fprintf(w, `{"access_token":"%s","token_type":"Bearer","expires_in":3600}`, strings.Repeat("t", 800))
			return
		}
		_, _ = io.WriteString(w, `{"done":true}`)
	}))
	defer service.Close()
	const bearer = `{type: bearer, token: "${T:-ttttttttttttttttttttttttttttttttt}"}`
	for _, tt := range []struct{ name, keys string }{
		{"none", ""}, {"default", ", credential: " + bearer}, {"scheme", ", credentials: {user: " + bearer + "}"},
		{"token", `, credential: {type: client_credentials, token_url: "` + service.URL + `", client_id: gw, client_secret: "${T:-ssssssssss}"}`},
		{"passed", ", pass_headers: [X-Request-ID]"},
	} {
		b.Run(tt.name, func(b *testing.B) {
			dir := b.TempDir()
			doc := strings.Replace(gatewaytest.Document("A", "one"), "paths:", "components: {securitySchemes: {user: {type: http, scheme: bearer}}}\nsecurity: [{user: []}]\npaths:", 1)
			for name, text := range map[string]string{"a.yaml": doc, "c.yaml": "apis: [{name: a, spec: a.yaml, base_url: " + service.URL + tt.keys + "}]"} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					b.Fatal(err)
				}
			}
			c, problems := config.Load(filepath.Join(dir, "c.yaml"), func(string) string { return "" })
			if c == nil {
				b.Fatal(problems)
			}
			g, err := gateway.New(gateway.Options{Config: c})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := g.Load(b.Context()); err != nil {
				b.Fatal(err)
			}
			const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"one","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
			h := g.Handler()
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:8080/mcp", strings.NewReader(body))
				r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {"2026-07-28"},
					"Mcp-Method": {"tools/call"}, "Mcp-Name": {"one"}, "X-Request-Id": {"r"}}
				r.RemoteAddr = "127.0.0.1:1" // callers from elsewhere have a rate
				w := httptest.NewRecorder()
				if h.ServeHTTP(w, r); !strings.Contains(w.Body.String(), `"done":true`) {
					b.Fatal(w.Body)
				}
			}
		})
	}
}

package gatewaytest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"drawbridge/config"
	"drawbridge/gateway"
)

// Set sets the content of a file of a case.
func Set(a *txtar.Archive, name, text string) {
	for i := range a.Files {
		if a.Files[i].Name == name {
			a.Files[i].Data = []byte(text)
			return
		}
	}
	a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(text)})
}

// OrEmpty returns the arguments of a call, an empty object if there are none.
func OrEmpty(b json.RawMessage) json.RawMessage {
	if b == nil {
		return json.RawMessage("{}")
	}
	return b
}

// Start makes a gateway and loads its documents.
func Start(t testing.TB, api, cfg, base string) *gateway.Gateway {
	t.Helper()
	g, err := gateway.New(gateway.Options{Config: Configure(t, t.TempDir(), api, cfg, base), Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	outcomes, err := g.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outcomes {
		if o.Err != nil {
			t.Fatal(o.Err)
		}
	}
	return g
}

// Configure writes a document and a configuration into dir and loads the latter.
func Configure(t testing.TB, dir, api, cfg, base string) *config.Config {
	t.Helper()
	spec := filepath.Join(dir, "api.yaml")
	if cfg == "" {
		cfg = "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\n"
	}
	if !strings.Contains(cfg, "limits:") {
		cfg = strings.TrimSuffix(cfg, "\n") + "\nlimits: {address_rate: off, principal_rate: off}\n" // tests are faster than callers
	}
	cfg = strings.NewReplacer("$SPEC", spec, "$BASE", base).Replace(cfg)
	file := filepath.Join(dir, "drawbridge.yaml")
	for name, text := range map[string]string{spec: api, file: cfg} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, problems := config.Load(file, func(string) string { return "" })
	if c == nil {
		t.Fatal(problems)
	}
	return c
}

// Ask sends one request of the given revision to the handler; params has no _meta yet.
func Ask(t testing.TB, h http.Handler, revision, method, name, params string) (status int, answer []byte) {
	t.Helper()
	if revision == "" {
		revision = "2026-07-28"
	}
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	header.Set("MCP-Protocol-Version", revision)
	if revision >= "2026" {
		header.Set("Mcp-Method", method)
		if name != "" {
			header.Set("Mcp-Name", name)
		}
		if params != "" {
			params += ","
		}
		params += `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + revision + `","io.modelcontextprotocol/clientCapabilities":{}}`
	} else {
		w := Post(h, http.Header{"Content-Type": {"application/json"}, "Accept": {"*/*"}},
			`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"`+revision+`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
		if w.Code != 200 {
			t.Fatalf("initialize = %d %s", w.Code, w.Body)
		}
		header.Set("Mcp-Session-Id", w.Header().Get("Mcp-Session-Id"))
	}
	w := Post(h, header, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, params))
	return w.Code, w.Body.Bytes()
}

// Post sends a message to /mcp.
func Post(h http.Handler, header http.Header, body string) *httptest.ResponseRecorder {
	return PostTo(h, "/mcp", header, body)
}

// PostTo is [Post] to a path with a query.
func PostTo(h http.Handler, target string, header http.Header, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:8080"+target, strings.NewReader(body))
	r.Header, r.RemoteAddr = header, "127.0.0.1:1" // which has no rate
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// CallAsOperator is [gateway.Gateway.CallWithCause] without the cause.
func CallAsOperator(ctx context.Context, g *gateway.Gateway, tool string, args json.RawMessage) (json.RawMessage, error) {
	result, _, err := g.CallWithCause(ctx, tool, args)
	return result, err
}

package endpoint_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"drawbridge/test/update"

	"github.com/google/go-cmp/cmp"

	"drawbridge/gateway"
	"drawbridge/test/gatewaytest"
)

// matrixFile is the golden table of TestAuthorizationMatrix.
const matrixFile = "testdata/matrix.txt"

// TestAuthorizationMatrix is who may do what: every revision, a request alone and in a batch, every method of the protocol,
// every state of a token, and requests without a session where server.sessionless refuses and allows them. A cell is the HTTP status, and "+1" if the service was reached. The rules that must hold whatever
// the table says: without a good token nothing but 401 comes out, and without the scope the
// answer is 403 and the service is never reached (pains row 132). An arrow is a call through call_tool or read_tool.
func TestAuthorizationMatrix(t *testing.T) {
	g, i, service := gatewaytest.Protected(t)
	open := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "purge"), strings.Replace(fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i)), "server: {", "server: {sessionless: allow, ", 1), service.URL)
	tokens := []struct {
		name, token string
		g           *gateway.Gateway
		sessionless bool
	}{
		{"none", "", g, false},
		{"audience", i.Token(t, map[string]any{"aud": "https://other.example.com/mcp"}), g, false},
		{"issuer", i.Token(t, map[string]any{"iss": "https://other.example.com"}), g, false},
		{"expired", i.Token(t, map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}), g, false},
		{"no scope", i.Token(t, map[string]any{"scope": "profile"}), g, false},
		{"good", i.Token(t, nil), g, false},
		{"refuse", i.Token(t, nil), g, true}, // good, without a session
		{"allow", i.Token(t, nil), open, true},
		{"none*", "", open, true}, // without a session, as allow
		{"no scope*", i.Token(t, map[string]any{"scope": "profile"}), open, true},
	}
	calls := []struct{ label, method, name, rest string }{
		{"initialize", "initialize", "", `"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}`},
		{"notifications/initialized", "notifications/initialized", "", ""},
		{"ping", "ping", "", ""},
		{"server/discover", "server/discover", "", ""},
		{"tools/list", "tools/list", "", ""},
		{"tools/call list", "tools/call", "list", `"arguments":{}`},
		{"tools/call purge", "tools/call", "purge", `"arguments":{}`},
		{"tools/call unknown", "tools/call", "unknown", `"arguments":{}`},
		{"tools/call ↦ list", "tools/call", "call_tool", `"arguments":{"name":"list"}`},
		{"tools/call ↦ purge", "tools/call", "call_tool", `"arguments":{"name":"purge"}`},
		{"tools/call ↦ read purge", "tools/call", "read_tool", `"arguments":{"name":"purge"}`},
		{"tools/call ↦ unknown", "tools/call", "call_tool", `"arguments":{"name":"unknown"}`},
		{"search_tools", "tools/call", "search_tools", `"arguments":{"query":"purge"}`},
		{"describe_tools", "tools/call", "describe_tools", `"arguments":{"names":["purge"]}`},
		{"prompts/list", "prompts/list", "", ""},
		{"prompts/get", "prompts/get", "x", ""},
		{"resources/list", "resources/list", "", ""},
		{"resources/templates/list", "resources/templates/list", "", ""},
		{"resources/read", "resources/read", "", `"uri":"x://y"`},
		{"completion/complete", "completion/complete", "", `"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"a","value":"b"}`},
		{"logging/setLevel", "logging/setLevel", "", `"level":"info"`},
		{"subscriptions/listen", "subscriptions/listen", "", ""},
		{"tasks/get", "tasks/get", "", `"taskId":"x"`},
		{"unknown/method", "unknown/method", "", ""},
	}
	var table strings.Builder
	row := func(cells ...string) {
		line := fmt.Sprintf("%-11s%-7s%-27s", cells[0], cells[1], cells[2])
		for _, c := range cells[3:] {
			line += fmt.Sprintf("%-10s", c)
		}
		table.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	head := []string{"revision", "form", "method"}
	for _, token := range tokens {
		head = append(head, token.name)
	}
	row(head...)
	for _, revision := range []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		sessions := map[string]string{}
		for _, token := range tokens {
			if token.sessionless {
				continue
			}
			c := gatewaytest.NewClient(t, token.g.Handler(), revision, token.token)
			c.Send("tools/list", "", "")
			sessions[token.name] = c.Session
		}
		service.Taken()
		for _, form := range []string{"single", "batch"} {
			if form == "batch" && revision == "2026-07-28" {
				continue // the header names one method: a batch has no form there
			}
			for _, call := range calls {
				cells := []string{revision, form, call.label}
				for _, token := range tokens {
					code := matrixCall(token.g.Handler(), revision, form, sessions[token.name], token.token, call.method, call.name, call.rest)
					reached := len(service.Taken())
					cell := fmt.Sprint(code)
					if reached > 0 {
						cell += fmt.Sprintf("+%d", reached)
					}
					cells = append(cells, cell)
					where := fmt.Sprintf("%s %s %s with %q: %s", revision, form, call.label, token.name, cell)
					if slices.Contains([]string{"none", "audience", "issuer", "expired", "none*"}, token.name) && code != http.StatusUnauthorized {
						t.Error(where)
					}
					without := revision != "2026-07-28" && token.name == "refuse"
					if (token.token == "" || slices.Contains([]string{"audience", "issuer", "expired", "no scope", "no scope*"}, token.name) || without) && reached > 0 || strings.HasSuffix(call.label, "purge") && reached > 0 {
						t.Errorf("%s: executed", where)
					}
					if strings.HasPrefix(token.name, "no scope") && strings.HasPrefix(call.label, "tools/call ") && !strings.HasSuffix(call.label, "unknown") &&
						code != http.StatusForbidden && !(form == "batch" && (revision != "2025-03-26" || token.sessionless) && code == http.StatusBadRequest) {
						t.Errorf("%s, want 403", where)
					}
				}
				row(cells...)
			}
		}
	}
	if *update.Expected {
		if err := os.WriteFile(matrixFile, []byte(table.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(matrixFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), table.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestBatches is Z3 for batches: one call that the caller may not make refuses the whole, with a challenge for all of it.
func TestBatches(t *testing.T) {
	g, i, service := gatewaytest.Protected(t)
	const list, purge, nobody = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"purge","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"nobody","arguments":{}}}`
	for _, tt := range []struct {
		scope, batch    string
		status, reached int
		challenge       string
	}{
		{"mcp:tools", "[" + list + "]", 200, 1, ""},
		{"mcp:tools", "[" + list + "," + purge + "]", 403, 0, "mcp:tools orders:admin"},
		{"mcp:tools", "[" + purge + "," + list + "]", 403, 0, "mcp:tools orders:admin"},
		{"profile", "[" + purge + "," + list + "," + nobody + "]", 403, 0, "profile mcp:tools orders:admin"},
		{"orders:all", "[" + list + "," + purge + "]", 200, 2, ""},
		{"mcp:tools", "[" + list + "," + nobody + "]", 200, 1, ""},
	} {
		c := gatewaytest.NewClient(t, g.Handler(), "2025-03-26", i.Token(t, map[string]any{"scope": tt.scope}))
		c.Send("tools/list", "", "")
		header := c.Header.Clone()
		header.Set("Content-Type", "application/json")
		header.Set("Accept", "application/json, text/event-stream")
		header.Set("Mcp-Session-Id", c.Session)
		w := gatewaytest.Post(g.Handler(), header, tt.batch)
		_, challenge, _ := strings.Cut(w.Header().Get("WWW-Authenticate"), ` scope="`)
		challenge, _, _ = strings.Cut(challenge, `"`)
		if reached := len(service.Taken()); w.Code != tt.status || reached != tt.reached || !gatewaytest.SameScopes(challenge, tt.challenge) {
			t.Errorf("%s with %q = %d, %d calls, %q: %s", tt.batch, tt.scope, w.Code, reached, challenge, w.Body)
		}
	}
}

// matrixCall sends one cell of the matrix, whatever the revision thinks of the method.
func matrixCall(h http.Handler, revision, form, session, token, method, name, rest string) int {
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {revision}}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	params := []string{}
	if name != "" {
		params = append(params, fmt.Sprintf(`"name":%q`, name))
	}
	if rest != "" {
		params = append(params, rest)
	}
	if revision == "2026-07-28" {
		header.Set("Mcp-Method", method)
		switch {
		case name != "":
			header.Set("Mcp-Name", name)
		case method == "resources/read":
			header.Set("Mcp-Name", "x://y")
		case method == "tasks/get":
			header.Set("Mcp-Name", "x")
		}
		params = append(params, `"_meta":{"io.modelcontextprotocol/protocolVersion":"`+revision+`","io.modelcontextprotocol/clientCapabilities":{}}`)
	} else if session != "" && method != "initialize" {
		header.Set("Mcp-Session-Id", session)
	}
	id := `"id":1,`
	if strings.HasPrefix(method, "notifications/") {
		id = ""
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0",%s"method":%q,"params":{%s}}`, id, method, strings.Join(params, ","))
	if form == "batch" {
		body = "[" + body + "]"
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second) // for streams
	defer cancel()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1:8080/mcp", strings.NewReader(body))
	r.Header = header
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code
}

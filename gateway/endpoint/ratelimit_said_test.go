package endpoint_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/test/gatewaytest"
)

// TestSaidRate: what wants no answer counts for the principal that says it, apart from its requests: notifications, answers to
// questions, the ends of sessions. What is too much gets 429, and the handshake is spared.
func TestSaidRate(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i))+"limits: {principal_rate: {rate: 1/m, burst: 3}}\n", service.URL)
	h := g.Handler()
	const cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`
	const answer = `{"jsonrpc":"2.0","id":"AAAAAAAAAAAAAAAAAAAAAAAAAA","result":{}}`
	const body = `{"jsonrpc":"2.0","error":{"code":-32600,"message":"too many requests of this caller: come again in 60 seconds","data":{"retryAfter":60}}}`
	for n, revision := range []string{"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
		c := gatewaytest.NewClient(t, h, revision, i.Token(t, map[string]any{"sub": fmt.Sprint("s", n)}))
		for range 4 { // the last of them is refused
			c.Send("tools/list", "", "")
		}
		header := c.Header.Clone()
		header.Set("Content-Type", "application/json")
		header.Set("Accept", "application/json, text/event-stream")
		header.Set("MCP-Protocol-Version", revision)
		if c.Session != "" {
			header.Set("Mcp-Session-Id", c.Session)
		}
		say := func(method, text string) *httptest.ResponseRecorder {
			r := httptest.NewRequest(method, "/mcp", strings.NewReader(text))
			r.Host, r.Header = "mcp.example.com", header.Clone()
			if strings.Contains(text, `"method"`) && revision >= "2026" {
				name := strings.SplitN(strings.SplitN(text, `"method":"`, 2)[1], `"`, 2)[0]
				r.Header.Set("Mcp-Method", name)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w
		}
		said := []string{cancel, cancel, cancel}
		if revision < "2026" {
			said = []string{cancel, answer, cancel}
		}
		if revision == "2025-03-26" {
			said = []string{cancel, "[" + cancel + "," + answer + "]"}
		}
		for k, text := range said {
			if w := say(http.MethodPost, text); w.Code != http.StatusAccepted || w.Body.Len() > 0 {
				t.Errorf("%s: %d: %d %s", revision, k, w.Code, w.Body)
			}
		}
		refused := []string{cancel}
		switch revision {
		case "2025-03-26":
			refused = []string{cancel, answer, "[" + cancel + "]", "[" + answer + `,{"jsonrpc":"2.0","id":1,"method":"ping"}]`}
		case "2025-06-18", "2025-11-25":
			refused = []string{cancel, answer}
		}
		for k, text := range refused {
			if w := say(http.MethodPost, text); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "60" || w.Body.String() != body {
				t.Errorf("%s: %d beyond it: %d %v %s", revision, k, w.Code, w.Header(), w.Body)
			}
		}
		if w := say(http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); w.Code != http.StatusAccepted {
			t.Errorf("%s: the handshake: %d %s", revision, w.Code, w.Body)
		}
		if c.Session == "" {
			continue
		}
		if w := say(http.MethodDelete, ""); w.Code != http.StatusTooManyRequests {
			t.Errorf("%s: DELETE: %d %s", revision, w.Code, w.Body)
		}
		if w := say(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"ping"}`); w.Code != http.StatusOK {
			t.Errorf("%s: the session has ended with a DELETE that was refused: %d %s", revision, w.Code, w.Body)
		}
	}
}

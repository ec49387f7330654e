package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestAnswerAfterAReload holds that who waits for an answer of a user is told it, whatever a reload has made of what the endpoint says of
// itself, and that those who come after the reload are told that.
func TestAnswerAfterAReload(t *testing.T) {
	for _, path := range []string{"/mcp", "/mcp/shop"} {
		service := newRecordingService(t)
		written := func(instructions string) map[string]string {
			return map[string]string{"drawbridge.yaml": fmt.Sprintf("server: {instructions: %s}\nendpoints: [{name: shop, title: %[1]s, instructions: %[1]s}]\n", instructions) +
				strings.NewReplacer("$SPEC", "api.yaml", "$BASE", service.URL).Replace(fmt.Sprintf(confirmConfig, ""))}
		}
		files := written("Before.")
		files["api.yaml"] = confirmDocument
		r := run(t, files)
		r.served()
		server := httptest.NewServer(r.Handler())
		c := &answering{t: t, url: server.URL + path, revision: "2025-11-25"}
		c.call.Capabilities = json.RawMessage(`{"elicitation":{}}`)
		c.initialize()
		header := map[string]string{"Mcp-Protocol-Version": c.revision, "Mcp-Session-Id": c.session}
		asked := 0
		var answer message
		c.post(header, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"cancel","arguments":{"id":7}}}`, func(m message) {
			if m.Method == "" {
				answer = m
				return
			}
			asked++
			r.write(written("After."))
			if err := r.Reload(t.Context()); err != nil {
				t.Error(err)
			}
			c.post(header, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"go_ahead":true}}}`, m.ID), func(m message) {
				t.Errorf("%s: an answer to an answer: %s%s", path, m.Result, m.Error)
			})
		})
		if sent := len(service.taken()); asked != 1 || sent != 1 || strings.Contains(string(answer.Result), `"isError":true`) {
			t.Errorf("%s: asked %d times, %d requests, %s%s", path, asked, sent, answer.Result, answer.Error)
		}
		w := post(at(path, r.Handler()), http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}},
			`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
		if got := introductionOf(t, w); !strings.HasSuffix(got, ": After.") {
			t.Errorf("%s says %q of itself", path, got)
		}
		_, discovered := ask(t, at(path, r.Handler()), "2026-07-28", "server/discover", "", "")
		if !strings.Contains(string(discovered), `"instructions":"After."`) {
			t.Errorf("%s says of itself: %s", path, discovered)
		}
		server.Close()
	}
}

// TestEndpointOfADrain holds that an endpoint that comes while the gateway ends opens no streams: they would hold up the end.
func TestEndpointOfADrain(t *testing.T) {
	r := run(t, map[string]string{"drawbridge.yaml": "- a.yaml\n", "a.yaml": document("A", "list")})
	r.served()
	if err := r.EndStreams(t.Context()); err != nil {
		t.Error(err)
	}
	r.write(map[string]string{"drawbridge.yaml": "endpoints: [{name: late, match: {operation: list}}]\napis: [{spec: a.yaml, name: a}]\n"})
	if err := r.Reload(t.Context()); err != nil {
		t.Error(err)
	}
	w := post(at("/mcp/late", r.Handler()), http.Header{
		"Content-Type": {"application/json"}, "Accept": {"text/event-stream"}, "Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"subscriptions/listen"},
	}, listenBody)
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("a stream of a new endpoint = %d %s", w.Code, w.Body)
	}
	if n := r.mcpHandlers.Streams(); n != 0 {
		t.Errorf("%d streams are open", n)
	}
}

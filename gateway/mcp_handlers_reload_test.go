package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/test/gatewaytest"
)

// TestAnswerAfterAReload holds that who waits for an answer of a user is told it, whatever a reload has made of what the endpoint says of
// itself, and that those who come after the reload are told that.
func TestAnswerAfterAReload(t *testing.T) {
	for _, path := range []string{"/mcp", "/mcp/shop"} {
		service := gatewaytest.NewRecordingService(t)
		written := func(instructions string) map[string]string {
			return map[string]string{"drawbridge.yaml": fmt.Sprintf("server: {instructions: %s}\nendpoints: [{name: shop, title: %[1]s, instructions: %[1]s}]\n", instructions) +
				strings.NewReplacer("$SPEC", "api.yaml", "$BASE", service.URL).Replace(fmt.Sprintf(gatewaytest.ConfirmConfig, ""))}
		}
		files := written("Before.")
		files["api.yaml"] = gatewaytest.ConfirmDocument
		r := gatewaytest.Run(t, files)
		r.Served()
		server := httptest.NewServer(r.Handler())
		c := &gatewaytest.Answering{T: t, URL: server.URL + path, Revision: "2025-11-25"}
		c.Call.Capabilities = json.RawMessage(`{"elicitation":{}}`)
		c.Initialize()
		header := map[string]string{"Mcp-Protocol-Version": c.Revision, "Mcp-Session-Id": c.Session}
		asked := 0
		var answer gatewaytest.Message
		c.Post(header, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"cancel","arguments":{"id":7}}}`, func(m gatewaytest.Message) {
			if m.Method == "" {
				answer = m
				return
			}
			asked++
			r.Write(written("After."))
			if err := r.Reload(t.Context()); err != nil {
				t.Error(err)
			}
			c.Post(header, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"go_ahead":true}}}`, m.ID), func(m gatewaytest.Message) {
				t.Errorf("%s: an answer to an answer: %s%s", path, m.Result, m.Error)
			})
		})
		if sent := len(service.Taken()); asked != 1 || sent != 1 || strings.Contains(string(answer.Result), `"isError":true`) {
			t.Errorf("%s: asked %d times, %d requests, %s%s", path, asked, sent, answer.Result, answer.Error)
		}
		w := gatewaytest.Post(gatewaytest.At(path, r.Handler()), http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}},
			`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
		if got := introductionOf(t, w); !strings.HasSuffix(got, ": After.") {
			t.Errorf("%s says %q of itself", path, got)
		}
		_, discovered := gatewaytest.Ask(t, gatewaytest.At(path, r.Handler()), "2026-07-28", "server/discover", "", "")
		if !strings.Contains(string(discovered), `"instructions":"After."`) {
			t.Errorf("%s says of itself: %s", path, discovered)
		}
		server.Close()
	}
}

// TestEndpointOfADrain holds that an endpoint that comes while the gateway ends opens no streams: they would hold up the end.
func TestEndpointOfADrain(t *testing.T) {
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": "- a.yaml\n", "a.yaml": gatewaytest.Document("A", "list")})
	r.Served()
	if err := r.EndStreams(t.Context()); err != nil {
		t.Error(err)
	}
	r.Write(map[string]string{"drawbridge.yaml": "endpoints: [{name: late, match: {operation: list}}]\napis: [{spec: a.yaml, name: a}]\n"})
	if err := r.Reload(t.Context()); err != nil {
		t.Error(err)
	}
	w := gatewaytest.Post(gatewaytest.At("/mcp/late", r.Handler()), http.Header{
		"Content-Type": {"application/json"}, "Accept": {"text/event-stream"}, "Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"subscriptions/listen"},
	}, listenBody)
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("a stream of a new endpoint = %d %s", w.Code, w.Body)
	}
	if n := r.MCPHandlers().Streams(); n != 0 {
		t.Errorf("%d streams are open", n)
	}
}

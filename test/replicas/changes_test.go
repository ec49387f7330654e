package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
)

// TestChanges is O4: each replica watches its documents itself, and tells those whose streams are there, once of each change of what they see.
func TestChanges(t *testing.T) {
	w := newWorld(t, setup{})
	var streams []*answer
	for replica := range w.replicas {
		begin := w.send(replica, http.MethodPost, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
		w.next(begin, `"protocolVersion"`)
		// A session is that of all replicas: its stream is at another than the one where it began.
		legacy := w.send((replica+1)%len(w.replicas), http.MethodGet, "", "Mcp-Session-Id", begin.session, "MCP-Protocol-Version", "2025-11-25")
		if legacy.status != http.StatusOK {
			t.Fatalf("the stream of a session that began at replica %d: %d", replica, legacy.status)
		}
		modern := w.modern(replica, "subscriptions/listen", "", `"notifications":{"toolsListChanged":true}`, "")
		w.next(modern, "notifications/subscriptions/acknowledged")
		streams = append(streams, legacy, modern)
	}
	change := func(text string) {
		t.Helper()
		if err := os.WriteFile(w.spec, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for replica, g := range w.gateways {
			if err := g.Reload(t.Context()); err != nil {
				t.Fatalf("replica %d: %v", replica, err)
			}
		}
	}
	for n := range 3 {
		change(fmt.Sprintf("%s  /more-%d: {get: {operationId: more_%d, responses: {\"200\": {description: ok}}}}\n", document, n, n))
		for _, s := range streams {
			w.next(s, "notifications/tools/list_changed")
		}
		change(fmt.Sprintf("%s  /more-%d: {get: {operationId: more_%d, responses: {\"200\": {description: ok}}}} # as it was\n", document, n, n))
	}
	for _, g := range w.gateways {
		if err := g.EndStreams(context.Background()); err != nil {
			t.Error(err)
		}
	}
	for i, s := range streams {
		for line := range s.lines {
			if strings.Contains(line, "list_changed") {
				t.Errorf("stream %d is told of more than the changes: %s", i, line)
			}
		}
	}
}

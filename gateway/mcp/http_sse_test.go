package mcp_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
)

// TestFullOldStream holds that a stream of the HTTP+SSE transport with the maximum number of requests still accepts
// input responses and cancellations, which free it, but no further request.
func TestFullOldStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDialogue(t)
		defer d.end()
		d.begin("s", "GET /sse HTTP/1.1\nHost: mcp.example\nAccept: text/event-stream\n\n")
		synctest.Wait()
		d.got(d.open["s"])
		post := func(message, want string) {
			t.Helper()
			d.begin("p", "POST /messages?sessionId="+d.values["stream"]+" HTTP/1.1\nHost: mcp.example\nContent-Type: application/json\n\n"+message)
			synctest.Wait()
			if got := d.got(d.open["p"]); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s, want %s", message, got, want)
			}
		}
		said := func(want string) {
			t.Helper()
			if got := d.got(d.open["s"]); !strings.Contains(got, want) {
				t.Errorf("said %s, want %s", got, want)
			}
		}
		post(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}`, "202")
		for i := range 64 {
			post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"ask"}}`, i), "202")
		}
		said("elicitation/create")
		const echo = `{"jsonrpc":"2.0","id":"e","method":"tools/call","params":{"name":"echo"}}`
		const full = "429 Too Many Requests\nContent-Type: application/json\nRetry-After: 1\n"
		post(echo, full)
		post(`{"jsonrpc":"2.0","id":"`+d.values["question"]+`","result":{"action":"decline"}}`, "202")
		said(`"result":{"said":"name: 2 "}`)
		post(echo, "202")
		said(`"id":"e","result"`)
		post(`{"jsonrpc":"2.0","id":"w","method":"tools/call","params":{"name":"wait"}}`, "202")
		post(echo, full)
		post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"w"}}`, "202")
		said(`"id":"w","error":{"code":-32800`)
		post(echo, "202")
		said(`"id":"e","result"`)
	})
}

package mcp_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"drawbridge/gateway/mcp"
)

// TestWaitsAreBounded holds that a caller's requests that wait for its user, and their memory, are limited; other
// callers are served, and a response makes room for the next request.
func TestWaitsAreBounded(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, space, waiting int }{
		"many": {0, 0, 32}, "large": {900 << 10, 0, 2}, "white space": {0, 900 << 10, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWhole(mcp.BrokerOptions{})
				waits := &mcp.ElicitationLimit{}
				methods, options := wholeServer(w, mcp.Options{ElicitationLimit: waits})
				d := &dialogue{t: t, whole: w, open: map[string]*talk{}, values: map[string]string{}, handler: newEndpoint(t, methods, options)}
				defer d.end()
				call := func(who, principal, message string) string {
					d.begin(who, "POST /mcp HTTP/1.1\nHost: mcp.example\nContent-Type: application/json\nAccept: application/json, text/event-stream\n"+
						"X-Principal: "+principal+"\nMcp-Session-Id: "+d.values[principal]+"\n\n"+message)
					synctest.Wait()
					return d.got(d.open[who])
				}
				for _, principal := range []string{"alice", "bob"} {
					d.begin(principal, "POST /mcp HTTP/1.1\nHost: mcp.example\nContent-Type: application/json\nX-Principal: "+principal+"\n\n"+
						`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}`)
					synctest.Wait()
					d.got(d.open[principal])
					d.values[principal] = d.values["session"]
				}
				ask := strings.Repeat(" ", tt.space) + `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"a":"` + strings.Repeat("x", tt.text) + `"}}}`
				for i := range tt.waiting {
					if got := call(fmt.Sprint(i), "alice", ask); !strings.Contains(got, "elicitation/create") {
						t.Fatalf("call %d: %s", i, got)
					}
				}
				one := d.values["question"]
				want := `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"too many requests of this caller wait for their user: at most 32, and 2097152 bytes","data":{"retryAfter":30}}}`
				if got := call("refused", "alice", ask); !strings.HasPrefix(got, "429 Too Many Requests\nContent-Type: application/json\nRetry-After: 30\n") || !strings.Contains(got, want) {
					t.Errorf("one too many: %s", got)
				}
				if got := call("bob's", "bob", ask); !strings.Contains(got, "elicitation/create") {
					t.Errorf("another caller: %s", got)
				}
				call("answer", "alice", `{"jsonrpc":"2.0","id":"`+one+`","result":{"action":"decline"}}`)
				if got := call("next", "alice", ask); !strings.Contains(got, "elicitation/create") {
					t.Errorf("after an answer: %s", got)
				}
				if waits.Waiting() != tt.waiting+1 {
					t.Errorf("%d wait", waits.Waiting())
				}
				for _, k := range d.open {
					k.leave()
				}
				synctest.Wait()
				if waits.Waiting() != 0 {
					t.Errorf("%d wait when all have left", waits.Waiting())
				}
			})
		})
	}
}

// TestWaitsInAll: what waits of all callers is bounded too, and an answer that would be too much is none.
func TestWaitsInAll(t *testing.T) {
	t.Parallel()
	full := func(err *mcp.ElicitationLimitError, want string) {
		t.Helper()
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
	var w mcp.ElicitationLimit
	w.SetMax(3)
	for _, caller := range []string{"alice", "", ""} { // callers that are not counted by name count in total
		if err := w.Begin(caller, 1<<20); err != nil {
			t.Fatal(err)
		}
	}
	full(w.Begin("bob", 1), "too many requests wait for their users")
	w.SetMax(0)
	if w.Keep("alice", 1<<20+1) || !w.Keep("alice", 1<<20) {
		t.Error("alice keeps what she may not, or not what she may")
	}
	full(w.Begin("alice", 1), "too many requests of this caller wait for their user: at most 32, and 2097152 bytes")
	full(w.Begin("bob", 2<<20+1), "the request needs an answer of the user, and is too large to wait for it: at most 2097152 bytes")
	for i := range 14 {
		if err := w.Begin(fmt.Sprint(i), 2<<20); err != nil {
			t.Fatal(i, err)
		}
	}
	full(w.Begin("bob", 1), "too many requests wait for their users")
}

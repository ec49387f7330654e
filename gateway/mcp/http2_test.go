package mcp_test

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"drawbridge/gateway/mcp"
)

// TestStreamOverHTTP2 holds that a stream that is silent for longer than the write timeout goes on, and so does a call
// on the same connection: over HTTP/2 a write deadline that passes ends the stream even if nothing is written.
func TestStreamOverHTTP2(t *testing.T) {
	t.Parallel()
	const stall = 200 * time.Millisecond
	w := newWhole(mcp.BrokerOptions{})
	methods, o := wholeServer(w, mcp.Options{})
	o.Capabilities.Tools = true
	h := mcp.NewHandler(methods, o)
	h.SetStall(stall)
	server := httptest.NewUnstartedServer(h)
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	open := func(method, name, params string) *bufio.Reader {
		r := newRequest(t, server.Listener.Addr().String(), `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+`,`+modernMeta+`}}`,
			"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Accept", "application/json, text/event-stream")
		if name != "" {
			r.Header.Set("Mcp-Name", name)
		}
		r.URL.Scheme = "https"
		resp, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		if resp.ProtoMajor != 2 || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s %s", resp.Proto, resp.Status)
		}
		return bufio.NewReader(resp.Body)
	}
	event := func(r *bufio.Reader, want string) {
		t.Helper()
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				if !strings.Contains(data, want) {
					t.Fatalf("%s, want %s", data, want)
				}
				return
			}
		}
	}
	stream := open("subscriptions/listen", "", `"notifications":{"toolsListChanged":true}`)
	event(stream, "acknowledged")
	for range 2 {
		time.Sleep(2 * stall) // what is under test is the connection's own clock
		call := open("tools/call", "progress", `"name":"progress"`)
		if _, err := call.ReadString('}'); err != nil {
			t.Fatal(err)
		}
		w.change(mcp.ToolsList)
		event(stream, "list_changed")
	}
	if err := w.broker.Drain(t.Context()); err != nil {
		t.Error(err)
	}
	event(stream, `"resultType":"complete"`)
}

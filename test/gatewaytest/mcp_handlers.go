package gatewaytest

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"drawbridge/test/timebox"
)

// Listening is a client that waits for changes.
type Listening struct {
	T        *testing.T
	Messages chan string // methods of notifications, "result", and "end"
	Cancel   context.CancelFunc
}

// ListenFor is a request to listen to what a filter says.
func ListenFor(filter string) string {
	return `{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{"notifications":` + filter +
		`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`
}

// Listen opens a stream in one of the eras and returns when it is acknowledged.
func Listen(t *testing.T, server *httptest.Server, path, revision, token string) *Listening {
	t.Helper()
	return ListenBy(t, server, path, revision, token, `{"toolsListChanged":true,"promptsListChanged":true}`)
}

// ListenBy is listen for what a filter says.
func ListenBy(t *testing.T, server *httptest.Server, path, revision, token, filter string) *Listening {
	t.Helper()
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {revision}}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	ctx, cancel := context.WithCancel(t.Context())
	l := &Listening{T: t, Messages: make(chan string, 100), Cancel: cancel}
	send := func(method, body string) *http.Response {
		req, err := http.NewRequestWithContext(ctx, method, server.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = header
		resp, err := server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	var resp *http.Response
	if revision >= "2026" {
		header.Set("Mcp-Method", "subscriptions/listen")
		resp = send(http.MethodPost, ListenFor(filter))
	} else {
		begin := send(http.MethodPost, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"`+revision+
			`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
		_ = begin.Body.Close()
		header.Set("Mcp-Session-Id", begin.Header.Get("Mcp-Session-Id"))
		resp = send(http.MethodGet, "")
	}
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("stream = %d", resp.StatusCode)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = resp.Body.Close() }()
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			if !ok {
				continue
			}
			var message struct {
				Method string
				Result json.RawMessage
			}
			if err := json.Unmarshal([]byte(data), &message); err != nil {
				message.Method = err.Error()
			}
			if message.Result != nil {
				message.Method = "result"
			}
			l.Messages <- message.Method
		}
		l.Messages <- "end"
	}()
	t.Cleanup(func() { cancel(); timebox.Wait(t, done) })
	if revision >= "2026" {
		l.Want("notifications/subscriptions/acknowledged")
	}
	return l
}

// Want waits for a message on the stream.
func (l *Listening) Want(message string) {
	l.T.Helper()
	select {
	case got := <-l.Messages:
		if got != message {
			l.T.Fatalf("got %q, want %q", got, message)
		}
	case <-time.After(20 * time.Second):
		l.T.Fatalf("no %q", message)
	}
}

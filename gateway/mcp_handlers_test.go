package gateway

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"drawbridge/config"
	"drawbridge/test/timebox"
)

// listening is a client that waits for changes.
type listening struct {
	t        *testing.T
	messages chan string // methods of notifications, "result", and "end"
	cancel   context.CancelFunc
}

// listenBody asks for the lists that most tests are about.
var listenBody = listenFor(`{"toolsListChanged":true,"promptsListChanged":true}`)

// listenFor is a request to listen to what a filter says.
func listenFor(filter string) string {
	return `{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{"notifications":` + filter +
		`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`
}

// listen opens a stream in one of the eras and returns when it is acknowledged.
func listen(t *testing.T, server *httptest.Server, path, revision, token string) *listening {
	t.Helper()
	return listenBy(t, server, path, revision, token, `{"toolsListChanged":true,"promptsListChanged":true}`)
}

// listenBy is listen for what a filter says.
func listenBy(t *testing.T, server *httptest.Server, path, revision, token, filter string) *listening {
	t.Helper()
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {revision}}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	ctx, cancel := context.WithCancel(t.Context())
	l := &listening{t: t, messages: make(chan string, 100), cancel: cancel}
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
		resp = send(http.MethodPost, listenFor(filter))
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
			l.messages <- message.Method
		}
		l.messages <- "end"
	}()
	t.Cleanup(func() { cancel(); timebox.Wait(t, done) })
	if revision >= "2026" {
		l.want("notifications/subscriptions/acknowledged")
	}
	return l
}

func (l *listening) want(message string) {
	l.t.Helper()
	select {
	case got := <-l.messages:
		if got != message {
			l.t.Fatalf("got %q, want %q", got, message)
		}
	case <-time.After(20 * time.Second):
		l.t.Fatalf("no %q", message)
	}
}

// TestListChanged holds that a client is told once of each change of what it sees, and of nothing else (pains row 21).
func TestListChanged(t *testing.T) {
	const cfg = `endpoints: [{name: reading, match: {operation: "list*"}}]
apis: [{spec: a.yaml, name: a}]
`
	r := run(t, map[string]string{"drawbridge.yaml": cfg, "a.yaml": document("A", "list", "purge")})
	r.served()
	server := httptest.NewServer(r.Handler())
	defer server.Close()
	defer func() {
		if err := r.EndStreams(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		whole, part := listen(t, server, "/mcp", revision, ""), listen(t, server, "/mcp/reading", revision, "")
		change := func(tools ...string) {
			t.Helper()
			r.write(map[string]string{"a.yaml": document("A", tools...)})
			r.eventually("the change", func() bool { return fmt.Sprint(r.tools()) == fmt.Sprint(tools) })
		}
		change("list", "purge", "show")
		whole.want("notifications/tools/list_changed")
		change("list", "listAll", "purge", "show")
		whole.want("notifications/tools/list_changed")
		part.want("notifications/tools/list_changed") // and not of the first change
		if err := r.Reload(t.Context()); err != nil { // which changes nothing
			t.Fatal(err)
		}
		change("list", "purge")
		whole.want("notifications/tools/list_changed")
		part.want("notifications/tools/list_changed")
		whole.cancel()
		part.cancel()
		whole.want("end")
		part.want("end")
	}
}

// TestStreamsEnd holds that streams end with their result when the gateway does, when their endpoint is gone, and that
// none can be opened then.
func TestStreamsEnd(t *testing.T) {
	const endpoints = "endpoints: [{name: a, match: {operation: list}}]\n"
	r := run(t, map[string]string{"drawbridge.yaml": endpoints + "apis: [{spec: a.yaml, name: a}]\n", "a.yaml": document("A", "list")})
	r.served()
	server := httptest.NewServer(r.Handler())
	defer server.Close()
	whole, old, part := listen(t, server, "/mcp", "2026-07-28", ""), listen(t, server, "/mcp", "2025-06-18", ""), listen(t, server, "/mcp/a", "2026-07-28", "")
	r.eventually("three streams", func() bool { return r.mcpHandlers.Streams() == 3 })
	r.write(map[string]string{"drawbridge.yaml": "apis: [{spec: a.yaml, name: a}]\n"})
	part.want("result")
	part.want("end")
	if err := r.EndStreams(t.Context()); err != nil {
		t.Error(err)
	}
	whole.want("result")
	whole.want("end")
	old.want("end")
	w := post(r.Handler(), http.Header{
		"Content-Type": {"application/json"}, "Accept": {"text/event-stream"}, "Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"subscriptions/listen"},
	}, listenBody)
	if w.Code != 503 {
		t.Errorf("a new stream = %d %s", w.Code, w.Body)
	}
}

// TestStreamsAge: limits.max_stream_age ends streams, those that are opened after it was changed.
func TestStreamsAge(t *testing.T) {
	const apis = "apis: [{spec: a.yaml, name: a}]\n"
	r := run(t, map[string]string{"drawbridge.yaml": apis, "a.yaml": document("A", "list")})
	r.served()
	server := httptest.NewServer(r.Handler())
	defer server.Close()
	stays := listen(t, server, "/mcp", "2026-07-28", "")
	r.write(map[string]string{"drawbridge.yaml": apis + "limits: {max_stream_age: 1s}\n"})
	r.eventually("the change", func() bool { return r.current.Load().Config.Limits.MaxStreamAge == config.Duration(time.Second) })
	began := time.Now()
	modern, old := listen(t, server, "/mcp", "2026-07-28", ""), listen(t, server, "/mcp", "2025-06-18", "")
	modern.want("result")
	modern.want("end")
	old.want("end")
	if after := time.Since(began); after < 900*time.Millisecond {
		t.Errorf("the streams ended after %s", after)
	}
	r.eventually("one stream", func() bool { return r.mcpHandlers.Streams() == 1 })
	if err := r.EndStreams(t.Context()); err != nil {
		t.Error(err)
	}
	stays.want("result")
}

// TestStreamEndsWithItsToken is H9: nobody listens longer than its token is accepted, nor shorter: who is cut off before
// comes again at once with the same token.
func TestStreamEndsWithItsToken(t *testing.T) {
	i, service := newIDP(t), newRecordingService(t)
	g := start(t, document("Shop", "list"), fmt.Sprintf(protectedConfig, issuers(i)), service.URL)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host = "mcp.example.com"
		g.Handler().ServeHTTP(w, r)
	}))
	defer server.Close()
	const skew = time.Minute // the default
	began := time.Now()
	l := listen(t, server, "/mcp", "2026-07-28", i.token(t, map[string]any{"exp": began.Add(3*time.Second - skew).Unix()}))
	l.want("result")
	l.want("end")
	if after := time.Since(began); after < 2*time.Second {
		t.Errorf("the stream ended after %s, while the token was still good", after)
	}
}

// TestStreamKeepsNoGeneration holds that an open stream does not keep what was served when it was opened: generations are
// large, and streams may be open for days.
func TestStreamKeepsNoGeneration(t *testing.T) {
	r := run(t, map[string]string{"drawbridge.yaml": "- a.yaml\n", "a.yaml": document("A", "one")})
	r.served()
	server := httptest.NewServer(r.Handler())
	defer server.Close()
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		old := weak.Make(r.current.Load())
		l := listen(t, server, "/mcp", revision, "")
		r.write(map[string]string{"a.yaml": document("A", "one", "two"+revision[:4])})
		l.want("notifications/tools/list_changed")
		for n := 0; old.Value() != nil; n++ {
			runtime.GC()
			if n == 50 {
				t.Fatalf("%s: the generation is still there", revision)
			}
		}
		l.cancel()
		l.want("end")
	}
	if err := r.EndStreams(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestStreamWithoutListsKeepsNoGeneration is the same for streams that nobody asks what they see of a list.
func TestStreamWithoutListsKeepsNoGeneration(t *testing.T) {
	r := run(t, map[string]string{
		"drawbridge.yaml": `apis: [{spec: a.yaml, name: a}]
rules: [{match: {operation: one}, set: {resource: {uri: "a:one", poll: 1h}}}]
`, "a.yaml": document("A", "one"),
	})
	r.served()
	server := httptest.NewServer(r.Handler())
	defer server.Close()
	for n, filter := range []string{`{}`, `{"resourceSubscriptions":["a:one"]}`, `{"taskIds":["none"]}`} {
		old := weak.Make(r.current.Load())
		l := listenBy(t, server, "/mcp", "2026-07-28", "", filter)
		tools := []string{"one", fmt.Sprint("other", n)}
		r.write(map[string]string{"a.yaml": document("A", tools...)})
		r.eventually("the change", func() bool { return fmt.Sprint(r.tools()) == fmt.Sprint(tools) })
		for n := 0; old.Value() != nil; n++ {
			runtime.GC()
			if n == 50 {
				t.Fatalf("%s: the generation is still there", filter)
			}
		}
		l.cancel()
		l.want("end")
	}
	if err := r.EndStreams(t.Context()); err != nil {
		t.Error(err)
	}
}

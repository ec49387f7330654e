package gateway_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"
	"weak"

	"drawbridge/config"
	"drawbridge/test/gatewaytest"
)

// listenBody asks for the lists that most tests are about.
var listenBody = gatewaytest.ListenFor(`{"toolsListChanged":true,"promptsListChanged":true}`)

// TestListChanged holds that a client is told once of each change of what it sees, and of nothing else (pains row 21).
func TestListChanged(t *testing.T) {
	const cfg = `endpoints: [{name: reading, match: {operation: "list*"}}]
apis: [{spec: a.yaml, name: a}]
`
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": cfg, "a.yaml": gatewaytest.Document("A", "list", "purge")})
	r.Served()
	server := httptest.NewServer(r.Handler())
	defer server.Close()
	defer func() {
		if err := r.EndStreams(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		whole, part := gatewaytest.Listen(t, server, "/mcp", revision, ""), gatewaytest.Listen(t, server, "/mcp/reading", revision, "")
		change := func(tools ...string) {
			t.Helper()
			r.Write(map[string]string{"a.yaml": gatewaytest.Document("A", tools...)})
			r.Eventually("the change", func() bool { return fmt.Sprint(r.Tools()) == fmt.Sprint(tools) })
		}
		change("list", "purge", "show")
		whole.Want("notifications/tools/list_changed")
		change("list", "listAll", "purge", "show")
		whole.Want("notifications/tools/list_changed")
		part.Want("notifications/tools/list_changed") // and not of the first change
		if err := r.Reload(t.Context()); err != nil { // which changes nothing
			t.Fatal(err)
		}
		change("list", "purge")
		whole.Want("notifications/tools/list_changed")
		part.Want("notifications/tools/list_changed")
		whole.Cancel()
		part.Cancel()
		whole.Want("end")
		part.Want("end")
	}
}

// TestStreamsEnd holds that streams end with their result when the gateway does, when their endpoint is gone, and that
// none can be opened then.
func TestStreamsEnd(t *testing.T) {
	const endpoints = "endpoints: [{name: a, match: {operation: list}}]\n"
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": endpoints + "apis: [{spec: a.yaml, name: a}]\n", "a.yaml": gatewaytest.Document("A", "list")})
	r.Served()
	server := httptest.NewServer(r.Handler())
	defer server.Close()
	whole, old, part := gatewaytest.Listen(t, server, "/mcp", "2026-07-28", ""), gatewaytest.Listen(t, server, "/mcp", "2025-06-18", ""), gatewaytest.Listen(t, server, "/mcp/a", "2026-07-28", "")
	r.Eventually("three streams", func() bool { return r.MCPHandlers().Streams() == 3 })
	r.Write(map[string]string{"drawbridge.yaml": "apis: [{spec: a.yaml, name: a}]\n"})
	part.Want("result")
	part.Want("end")
	if err := r.EndStreams(t.Context()); err != nil {
		t.Error(err)
	}
	whole.Want("result")
	whole.Want("end")
	old.Want("end")
	w := gatewaytest.Post(r.Handler(), http.Header{
		"Content-Type": {"application/json"}, "Accept": {"text/event-stream"}, "Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"subscriptions/listen"},
	}, listenBody)
	if w.Code != 503 {
		t.Errorf("a new stream = %d %s", w.Code, w.Body)
	}
}

// TestStreamsAge: limits.max_stream_age ends streams, those that are opened after it was changed.
func TestStreamsAge(t *testing.T) {
	const apis = "apis: [{spec: a.yaml, name: a}]\n"
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": apis, "a.yaml": gatewaytest.Document("A", "list")})
	r.Served()
	server := httptest.NewServer(r.Handler())
	defer server.Close()
	stays := gatewaytest.Listen(t, server, "/mcp", "2026-07-28", "")
	r.Write(map[string]string{"drawbridge.yaml": apis + "limits: {max_stream_age: 1s}\n"})
	r.Eventually("the change", func() bool { return r.Current().Config.Limits.MaxStreamAge == config.Duration(time.Second) })
	began := time.Now()
	modern, old := gatewaytest.Listen(t, server, "/mcp", "2026-07-28", ""), gatewaytest.Listen(t, server, "/mcp", "2025-06-18", "")
	modern.Want("result")
	modern.Want("end")
	old.Want("end")
	if after := time.Since(began); after < 900*time.Millisecond {
		t.Errorf("the streams ended after %s", after)
	}
	r.Eventually("one stream", func() bool { return r.MCPHandlers().Streams() == 1 })
	if err := r.EndStreams(t.Context()); err != nil {
		t.Error(err)
	}
	stays.Want("result")
}

// TestStreamEndsWithItsToken is H9: nobody listens longer than its token is accepted, nor shorter: who is cut off before
// comes again at once with the same token.
func TestStreamEndsWithItsToken(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i)), service.URL)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host = "mcp.example.com"
		g.Handler().ServeHTTP(w, r)
	}))
	defer server.Close()
	const skew = time.Minute // the default
	began := time.Now()
	l := gatewaytest.Listen(t, server, "/mcp", "2026-07-28", i.Token(t, map[string]any{"exp": began.Add(3*time.Second - skew).Unix()}))
	l.Want("result")
	l.Want("end")
	if after := time.Since(began); after < 2*time.Second {
		t.Errorf("the stream ended after %s, while the token was still good", after)
	}
}

// TestStreamKeepsNoGeneration holds that an open stream does not keep what was served when it was opened: generations are
// large, and streams may be open for days.
func TestStreamKeepsNoGeneration(t *testing.T) {
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": "- a.yaml\n", "a.yaml": gatewaytest.Document("A", "one")})
	r.Served()
	server := httptest.NewServer(r.Handler())
	defer server.Close()
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		old := weak.Make(r.Current())
		l := gatewaytest.Listen(t, server, "/mcp", revision, "")
		r.Write(map[string]string{"a.yaml": gatewaytest.Document("A", "one", "two"+revision[:4])})
		l.Want("notifications/tools/list_changed")
		for n := 0; old.Value() != nil; n++ {
			runtime.GC()
			if n == 50 {
				t.Fatalf("%s: the generation is still there", revision)
			}
		}
		l.Cancel()
		l.Want("end")
	}
	if err := r.EndStreams(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestStreamWithoutListsKeepsNoGeneration is the same for streams that nobody asks what they see of a list.
func TestStreamWithoutListsKeepsNoGeneration(t *testing.T) {
	r := gatewaytest.Run(t, map[string]string{
		"drawbridge.yaml": `apis: [{spec: a.yaml, name: a}]
rules: [{match: {operation: one}, set: {resource: {uri: "a:one", poll: 1h}}}]
`, "a.yaml": gatewaytest.Document("A", "one"),
	})
	r.Served()
	server := httptest.NewServer(r.Handler())
	defer server.Close()
	for n, filter := range []string{`{}`, `{"resourceSubscriptions":["a:one"]}`, `{"taskIds":["none"]}`} {
		old := weak.Make(r.Current())
		l := gatewaytest.ListenBy(t, server, "/mcp", "2026-07-28", "", filter)
		tools := []string{"one", fmt.Sprint("other", n)}
		r.Write(map[string]string{"a.yaml": gatewaytest.Document("A", tools...)})
		r.Eventually("the change", func() bool { return fmt.Sprint(r.Tools()) == fmt.Sprint(tools) })
		for n := 0; old.Value() != nil; n++ {
			runtime.GC()
			if n == 50 {
				t.Fatalf("%s: the generation is still there", filter)
			}
		}
		l.Cancel()
		l.Want("end")
	}
	if err := r.EndStreams(t.Context()); err != nil {
		t.Error(err)
	}
}

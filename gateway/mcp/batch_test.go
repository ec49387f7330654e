package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"drawbridge/gateway/mcp"
)

// FuzzBatch holds that whatever comes as a batch is refused as a whole, or each of its
// requests has one answer, in their order.
func FuzzBatch(f *testing.F) {
	for _, seed := range []string{
		`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"panic"}}]`,
		`[{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}},{"jsonrpc":"2.0","id":"x","result":{}}]`,
		`[]`, ` [[]]`, `[{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://a"}}]`,
	} {
		f.Add(seed)
	}
	methods, options := wholeServer(newWhole(mcp.BrokerOptions{}), mcp.Options{})
	h := newEndpoint(f, methods, options)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, newRequest(f, "mcp.example", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}`))
	session := w.Header().Get("Mcp-Session-Id")
	f.Fuzz(func(t *testing.T, batch string) {
		if !strings.HasPrefix(strings.TrimLeft(batch, " \t\r\n"), "[") {
			return
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://mcp.example/mcp", strings.NewReader(batch))
		r.Header = http.Header{"Content-Type": {"application/json"}, "Mcp-Session-Id": {session}}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		body, err := io.ReadAll(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		switch w.Code {
		case http.StatusAccepted, http.StatusBadRequest, http.StatusForbidden:
			return
		case http.StatusOK:
		default:
			t.Fatalf("%d %s", w.Code, body)
		}
		var messages []struct {
			ID     json.RawMessage
			Method *string
		}
		var answers []struct{ ID json.RawMessage }
		if err := json.Unmarshal([]byte(batch), &messages); err != nil {
			t.Fatalf("%s was taken: %v", batch, err)
		}
		if err := json.Unmarshal(body, &answers); err != nil {
			t.Fatalf("%v in %s", err, body)
		}
		for _, m := range messages {
			if m.ID == nil || m.Method == nil {
				continue
			}
			if len(answers) == 0 || !bytes.Equal(answers[0].ID, m.ID) {
				t.Fatalf("request %s has no answer in its place: %s", m.ID, body)
			}
			answers = answers[1:]
		}
		if len(answers) > 0 {
			t.Fatalf("answers to nobody: %s", body)
		}
	})
}

// TestBatchIsObserved: H6. Each request of a batch counts, and so does the batch.
func TestBatchIsObserved(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var seen []string
	methods, options := wholeServer(newWhole(mcp.BrokerOptions{}), mcp.Options{})
	options.Observe = func(_ *mcp.Request, e mcp.Event, _ *mcp.Called) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, e.Method)
	}
	h := newEndpoint(t, methods, options)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, newRequest(t, "mcp.example", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}`))
	r := newRequest(t, "mcp.example", `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}},{"jsonrpc":"2.0","id":3,"method":"x"}]`,
		"Mcp-Session-Id", w.Header().Get("Mcp-Session-Id"))
	h.ServeHTTP(httptest.NewRecorder(), r)
	slices.Sort(seen)
	if got := strings.Join(seen, " "); got != " batch initialize ping tools/call" {
		t.Errorf("observed %q", got)
	}
}

// TestBatchIsDecidedOnFirst: a decision that fails is no permission.
func TestBatchIsDecidedOnFirst(t *testing.T) {
	t.Parallel()
	methods, options := wholeServer(newWhole(mcp.BrokerOptions{}), mcp.Options{})
	options.Batch = func(context.Context, []*mcp.Request) error { return io.ErrUnexpectedEOF }
	ran := false
	methods["tools/call"] = func(context.Context, *mcp.Request, *mcp.Reply) error { ran = true; return nil }
	h := newEndpoint(t, methods, options)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, newRequest(t, "mcp.example", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}`))
	r := newRequest(t, "mcp.example", `[{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}]`, "Mcp-Session-Id", w.Header().Get("Mcp-Session-Id"))
	w = httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if ran || !strings.Contains(w.Body.String(), "internal error") {
		t.Errorf("ran: %v, answer %s", ran, w.Body)
	}
}

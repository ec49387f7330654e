package mcp

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// FuzzEnvelope holds what must be true of any body: the handler never panics,
// answers nothing or one JSON-RPC message with the request's own id, and takes for
// a message only what encoding/json takes for one too.
func FuzzEnvelope(f *testing.F) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`,
		`{"jsonrpc":"2.0","id":"a\u0000b","method":"tools/call","params":{"name":"a","arguments":{"b":[1,2e3]},` + meta + `}}`,
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `{"id":1,"id":2}`, `{"\u0069d":1}`, "{\"id\":\"\xff\"}", `null`, `{}`, ``,
		`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, `{"jsonrpc":"2.0","id":-0,"method":"ping","params":null}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call","ID":2,"params":{"name":"a"},"PARAMS":{"name":"b"}}`,
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	h := NewHandler(Methods{}, Options{Name: "fuzz", Version: "1"})
	f.Fuzz(func(t *testing.T, body []byte, modern bool) {
		e, fault := parseMessage(body, 64)
		var message map[string]json.RawMessage // a struct's names would be found in any case
		var method string
		if fault == nil {
			if err := json.Unmarshal(body, &message); err != nil {
				t.Fatalf("accepted what encoding/json refuses: %v", err)
			}
			if err := json.Unmarshal(message["method"], &method); err != nil {
				t.Fatalf("method %q: %v", message["method"], err)
			}
			if e.id != nil && !bytes.Equal(e.id, message["id"]) {
				t.Fatalf("id %q, encoding/json has %q", e.id, message["id"])
			}
			if name, _ := decodeString(e.method); name != method {
				t.Fatalf("method %q, encoding/json has %q", name, method)
			}
			if e.params != nil && !bytes.Equal(e.params, message["params"]) {
				t.Fatalf("params %q, encoding/json has %q", e.params, message["params"])
			}
		}

		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		if modern {
			r.Header.Set("MCP-Protocol-Version", "2026-07-28")
			r.Header.Set("Mcp-Method", strings.Map(func(r rune) rune { return max(r, ' ') }, method))
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		answer, err := io.ReadAll(w.Result().Body)
		if err != nil {
			t.Fatal(err)
		}
		if len(answer) == 0 {
			if w.Code != http.StatusAccepted {
				t.Fatalf("status %d without a body", w.Code)
			}
			return
		}
		var got struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Result  json.RawMessage `json:"result"`
			Error   *struct {
				Code    int    `json:"code"`
				Message string `json:"message"`
			} `json:"error"`
		}
		if err := json.Unmarshal(answer, &got); err != nil {
			t.Fatalf("answer %q: %v", answer, err)
		}
		if got.Version != "2.0" || (got.Result == nil) == (got.Error == nil) {
			t.Fatalf("answer %q is not a response", answer)
		}
		if !bytes.Equal(got.ID, e.id) {
			t.Fatalf("answer has id %q, the request %q", got.ID, e.id)
		}
	})
}

// TestOpenAllocates holds that taking a message apart costs nothing but the list
// of names that finds duplicates.
func TestOpenAllocates(t *testing.T) {
	body := []byte(benchmarkBody)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := parseMessage(body, 64); err != nil {
			t.Fatal(err)
		}
	}); n > 6 {
		t.Errorf("%v allocations", n)
	}
}

const benchmarkBody = `{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"get_order","arguments":{"orderId":"a-1234567890","expand":["customer","lines"],"limit":25,"filter":{"status":"open","since":"2026-01-01T00:00:00Z"}},"_meta":{"progressToken":3,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{"roots":{"listChanged":true}}}}}`

func BenchmarkEnvelope(b *testing.B) {
	body := []byte(benchmarkBody)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parseMessage(body, 64); err != nil {
			b.Fatal(err)
		}
	}
}

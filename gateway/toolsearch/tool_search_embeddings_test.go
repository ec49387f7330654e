package toolsearch_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"drawbridge/gateway"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/logbuffer"
)

// embeddingsServer serves vectors in which "purchases" are orders.
type embeddingsServer struct {
	*httptest.Server
	requests atomic.Int64
	broken   atomic.Bool
	mu       sync.Mutex
	last     string // body of the last request
}

func newEmbeddingsServer(t *testing.T) *embeddingsServer {
	t.Helper()
	s := &embeddingsServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		var in struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.URL.Path != "/v1/embeddings" || r.Header.Get("Authorization") != "Bearer canary-token-of-embeddings" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		s.mu.Lock()
		s.last = strings.Join(in.Input, "|")
		s.mu.Unlock()
		if s.broken.Load() {
			http.Error(w, "no model for "+in.Input[0], http.StatusInternalServerError)
			return
		}
		var data []map[string]any
		for _, text := range in.Input {
			v := []float64{0.1, 0, 0}
			if text = strings.ToLower(text); strings.Contains(text, "order") || strings.Contains(text, "purchase") {
				v[1] = 1
			}
			if strings.Contains(text, "list") || strings.Contains(text, "purchases") {
				v[2] = 1
			}
			data = append(data, map[string]any{"embedding": v})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data}) // the client may have gone
	}))
	t.Cleanup(s.Close)
	return s
}

const embeddingsConfig = `apis: [{name: shop, spec: api.yaml, base_url: "http://127.0.0.1:1"}]
tools: {presentation: search}
limits: {address_rate: off, principal_rate: off}
server: {state_dir: state}
`

// TestSearchByEmbeddings: search_tools finds tools in other words once vectors are there; without the server, words alone
// decide, and nothing else changes. A reload takes the server away and brings it back with the vectors that it made.
func TestSearchByEmbeddings(t *testing.T) {
	s := newEmbeddingsServer(t)
	search := fmt.Sprintf("search: {embeddings: {url: %q, model: m, token: canary-token-of-embeddings}}\n", s.URL)
	log := &logbuffer.Buffer{}
	r := gatewaytest.RunWith(t, map[string]string{"drawbridge.yaml": embeddingsConfig + search, "api.yaml": gatewaytest.SearchDocument},
		gateway.Options{Logger: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	r.Served()
	embedded := func(n int) {
		t.Helper()
		r.Eventually("tools are embedded", func() bool {
			return len(gatewaytest.MetricLines(r.Gateway, fmt.Sprintf(`drawbridge_embedding_tools{state="embedded"} %d`, n))) > 0
		})
	}
	embedded(4)
	c := gatewaytest.NewClient(t, r.Handler(), "2026-07-28", "")
	find := func(want string) {
		t.Helper()
		if text, isError := gatewaytest.TextOf(t, c.Send("tools/call", "search_tools", `{"query":"purchases canary-query"}`)); isError || !strings.HasPrefix(text, want) {
			t.Errorf("%s, want %s", text, want)
		}
	}
	find("listOrders()")
	if s.mu.Lock(); s.last != "purchases canary-query" {
		t.Errorf("the server got %q", s.last)
	}
	s.mu.Unlock()
	before := s.requests.Load()
	if text, isError := gatewaytest.TextOf(t, c.Send("tools/call", "call_tool", `{"name":"canary-purchases"}`)); !isError || s.requests.Load() != before {
		t.Errorf("an unknown tool: %s", text)
	}

	s.broken.Store(true)
	find("Nothing fits well; the nearest:")
	if text, _ := gatewaytest.TextOf(t, c.Send("tools/call", "search_tools", `{"query":"cancel an order"}`)); !strings.HasPrefix(text, "cancelOrder(") {
		t.Error(text)
	}
	if len(gatewaytest.MetricLines(r.Gateway, `drawbridge_embedding_queries_total{outcome="failed"} 2`)) == 0 {
		t.Error("failed queries are not counted")
	}
	s.broken.Store(false)

	reload := func(text string) {
		t.Helper()
		r.Write(map[string]string{"drawbridge.yaml": embeddingsConfig + text})
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	reload("")
	embedded(0)
	before = s.requests.Load()
	find("Nothing fits well; the nearest:")
	reload(search)
	embedded(4)
	if n := s.requests.Load(); n != before {
		t.Errorf("%d requests, although the vectors are on disk", n-before)
	}
	find("listOrders()")
	if text := log.String(); strings.Contains(text, "canary-query") || strings.Contains(text, "canary-token") || !strings.Contains(text, "tools were embedded") {
		t.Error(text)
	}
}

package embedding

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"drawbridge/config"
	"drawbridge/gateway/catalog"
	"drawbridge/openapi"
	"drawbridge/test/logbuffer"
)

const testDimensions = 16

// meaning defines the test's model: synonyms have the same component.
var meaning = map[string]string{"purchase": "order", "acquisitions": "order", "orders": "order", "remove": "delete", "cancel": "delete", "cancels": "delete"}

// vectorOf is the test's model.
func vectorOf(text string) []float32 {
	v := make([]float32, testDimensions)
	for _, word := range strings.Fields(strings.ToLower(text)) {
		if other, ok := meaning[word]; ok {
			word = other
		}
		h := fnv.New32()
		_, _ = h.Write([]byte(word)) // never fails
		v[h.Sum32()%testDimensions]++
	}
	v[0]++
	return v
}

// server is an embeddings server that a test can make fail.
type server struct {
	*httptest.Server

	mu       sync.Mutex
	requests [][]string // texts
	headers  []http.Header
	bodies   []string
	answer   func(w http.ResponseWriter, r *http.Request, texts []string) // nil for vectors
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP implements [http.Handler].
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body bytes.Buffer
	_, _ = body.ReadFrom(r.Body) // a test notices missing data
	var in struct {
		Input []string
	}
	_ = json.Unmarshal(body.Bytes(), &in) // as above
	s.mu.Lock()
	s.requests, s.headers, s.bodies = append(s.requests, in.Input), append(s.headers, r.Header.Clone()), append(s.bodies, r.Method+" "+r.URL.Path+" "+body.String())
	answer := s.answer
	s.mu.Unlock()
	if answer != nil {
		answer(w, r, in.Input)
		return
	}
	writeVectors(w, in.Input, vectorOf)
}

func (s *server) answers(answer func(w http.ResponseWriter, r *http.Request, texts []string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// received returns the number of requests, and of texts.
func (s *server) received() (requests, texts int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		texts += len(r)
	}
	return len(s.requests), texts
}

func writeVectors(w http.ResponseWriter, texts []string, of func(string) []float32) {
	type element struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	data := []element{}
	for i, text := range texts {
		data = append(data, element{i, of(text)})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data}) // the client may have left
}

// fixture is an embedder with its log and metrics.
type fixture struct {
	*Embedder
	log     *logbuffer.Buffer
	metrics *prometheus.Registry
}

func newFixture(t *testing.T, dir string) *fixture {
	t.Helper()
	f := &fixture{log: &logbuffer.Buffer{}, metrics: prometheus.NewRegistry()}
	f.Embedder = New(Options{
		StateDir: dir, Logger: slog.New(slog.NewTextHandler(f.log, nil)), Metrics: f.metrics, UserAgent: "test",
		Recover: func(_ string, step func()) bool { step(); return false }, QueryTimeout: patience,
	})
	t.Cleanup(func() { f.NewFinder(nil, nil) }) // closes connections
	return f
}

// count returns the value of a metric with a label.
func (f *fixture) count(name, value string) float64 {
	switch name {
	case "queries":
		return testutil.ToFloat64(f.Embedder.metrics.queries.WithLabelValues(value))
	case "batches":
		return testutil.ToFloat64(f.Embedder.metrics.batches.WithLabelValues(value))
	}
	return testutil.ToFloat64(f.Embedder.metrics.tools.WithLabelValues(value))
}

func settings(t *testing.T, url, token string) *config.Embeddings {
	t.Helper()
	u, err := config.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	e := &config.Embeddings{URL: u, Model: "test"}
	if token != "" {
		e.Token = config.NewSecret(token)
	}
	return e
}

// tools returns tools by their summaries.
func tools(summaries ...string) []*catalog.Tool {
	var ops []*openapi.Operation
	for i, summary := range summaries {
		ops = append(ops, &openapi.Operation{ID: fmt.Sprintf("op%03d", i), Method: "GET", Path: fmt.Sprintf("/p%d", i), Summary: summary, Input: json.RawMessage(`{"type":"object"}`)})
	}
	every := func(*openapi.Operation) (catalog.Choice, bool) { return catalog.Choice{}, true }
	return catalog.Build([]catalog.API{{Name: "shop", Operations: ops, Choose: every}}, catalog.Options{APIs: 1, MaxName: 64}).All()
}

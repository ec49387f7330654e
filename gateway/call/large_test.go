package call_test

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"drawbridge/gateway/source"
	"drawbridge/test/gatewaytest"
)

// TestLargeDocuments: where memory has a limit, no more than two large documents are fetched at a time, and small ones wait for none of them.
func TestLargeDocuments(t *testing.T) {
	debug.SetMemoryLimit(1 << 30)
	defer debug.SetMemoryLimit(math.MaxInt64)
	var mu sync.Mutex
	var now, most int
	asked := map[string]int{}
	goOn := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := gatewaytest.Document(strings.Trim(r.URL.Path, "/"), "list")
		if r.URL.Path == "/small" {
			_, _ = w.Write([]byte(text))
			return
		}
		text += "# " + strings.Repeat("x", source.SmallText) + "\n"
		mu.Lock()
		asked[r.URL.Path]++
		whole := asked[r.URL.Path] > 1
		if whole {
			now++
			most = max(most, now)
		}
		mu.Unlock()
		w.Header().Set("Content-Length", fmt.Sprint(len(text)))
		if !whole {
			_, _ = w.Write([]byte(text))
			return
		}
		<-goOn
		mu.Lock()
		now--
		mu.Unlock()
		_, _ = w.Write([]byte(text))
	}))
	defer server.Close()
	apis := ""
	for _, name := range []string{"one", "two", "three", "four", "five", "small"} {
		apis += fmt.Sprintf("  - {name: %s, spec: %q}\n", name, server.URL+"/"+name)
	}
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": "apis:\n" + apis})
	running := func(n int) func() bool {
		return func() bool { mu.Lock(); defer mu.Unlock(); return now == n }
	}
	served := func(n int) func() bool { return func() bool { return r.Status().Tools == n } }
	r.Eventually("two large documents are fetched", running(2))
	r.Eventually("the small one is served", served(1))
	close(goOn)
	r.Eventually("all are served", served(6))
	mu.Lock()
	defer mu.Unlock()
	if most != 2 {
		t.Errorf("%d large documents at a time", most)
	}
}

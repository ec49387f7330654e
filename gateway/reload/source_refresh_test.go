package reload_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"drawbridge/test/gatewaytest"
)

// TestReadRarely: a document that is the same is looked at as often as refresh says; one that is another each time is left alone after it
// was read, fifty times as long as that took, unless somebody asks.
func TestReadRarely(t *testing.T) {
	const refresh, operations = 100 * time.Millisecond, 500
	var names []string
	for i := range operations {
		names = append(names, fmt.Sprintf("get%d", i))
	}
	text := gatewaytest.Document("Large", names...)
	var asked atomic.Int64
	var changes atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := asked.Add(1)
		_, _ = w.Write([]byte(text))
		if changes.Load() {
			_, _ = fmt.Fprintf(w, "# %d\n", n)
		}
	}))
	defer server.Close()
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": fmt.Sprintf("apis:\n  - {name: large, spec: %q, refresh: %s}\n", server.URL, refresh)})
	r.Eventually("it is served", func() bool { return r.Status().Tools == operations })
	if err := r.Reload(t.Context()); err != nil { // else the first reading is what it rests for, half a minute on a busy machine
		t.Fatal(err)
	}
	r.Eventually("it is looked at again and again", func() bool { return asked.Load() > 3 })
	changes.Store(true)
	rests := func() bool {
		next := r.State(0).NextTryAt
		return next != nil && time.Until(*next) > 2*refresh
	}
	r.Eventually("it rests", rests)
	before := asked.Load()
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if asked.Load() == before {
		t.Error("nobody looked when asked")
	}
	r.Eventually("it rests again", rests)
}

package gateway

import (
	"bytes"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"drawbridge/gateway/admin"
	"drawbridge/test/timebox"
)

// large makes a document larger than smallText.
func large(text string) string { return text + "# " + strings.Repeat("x", smallText) + "\n" }

// TestRestoreLarge: where memory has a limit, no more than two large documents are read from the disk at a time when the gateway starts.
func TestRestoreLarge(t *testing.T) {
	debug.SetMemoryLimit(1 << 30)
	defer debug.SetMemoryLimit(math.MaxInt64)
	names := []string{"one", "two", "three", "four", "small"}
	var mu sync.Mutex
	down := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		name := strings.Trim(r.URL.Path, "/")
		text := document(name, "list")
		if name != "small" {
			text = large(text)
		}
		if down {
			text = ""
		}
		_, _ = w.Write([]byte(text))
	}))
	defer server.Close()
	cfg := "server: {state_dir: " + t.TempDir() + "}\napis:\n"
	for _, name := range names {
		cfg += fmt.Sprintf("  - {name: %s, spec: %q, refresh: 0s}\n", name, server.URL+"/"+name)
	}
	p := started(t, cfg)
	p.eventually("all are served", func() bool { return len(p.tools()) == len(names) })
	p.end() // writes them
	mu.Lock()
	down = true
	mu.Unlock()
	now, most := 0, 0
	goOn := make(chan struct{})
	p = starting(t, cfg, func(g *Gateway) {
		read := g.archive.read
		g.archive.start = time.Minute
		g.archive.read = func(id string) ([]byte, error) {
			if size, err := g.archive.size(id); err == nil && size > smallText {
				mu.Lock()
				now++
				most = max(most, now)
				mu.Unlock()
				timebox.Wait(t, goOn)
				mu.Lock()
				now--
				mu.Unlock()
			}
			return read(id)
		}
	})
	p.eventually("two large documents are read", func() bool { mu.Lock(); defer mu.Unlock(); return now == 2 })
	p.eventually("the small one is served", func() bool { return p.Status().Tools == 1 })
	close(goOn)
	p.eventually("all are served", func() bool { return p.Status().Tools == len(names) })
	mu.Lock()
	defer mu.Unlock()
	if most != 2 {
		t.Errorf("%d large documents at a time", most)
	}
}

// TestHeldLarge: the text of a large document that is held is not there any more; when it is accepted it is read anew, and kept.
func TestHeldLarge(t *testing.T) {
	debug.SetMemoryLimit(1 << 30)
	defer debug.SetMemoryLimit(math.MaxInt64)
	o := newChanging(t, large(document("A", operations(10)...)))
	p := started(t, "server: {state_dir: "+t.TempDir()+"}\nadmin: {token: 0123456789abcdef}\napis: [{spec: "+o.URL+"/a.yaml, name: a, refresh: 0s}]\n")
	written := func(n int) func() bool {
		return func() bool {
			return len(metricLines(p.Gateway, fmt.Sprintf(`drawbridge_state_writes_total{outcome="ok"} %d`, n))) == 1
		}
	}
	p.eventually("it is kept", written(1))
	o.set(large(document("A", operations(2)...)))
	if err := p.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := p.state(0); s.State != admin.Held {
		t.Fatalf("%+v", s)
	}
	if w := do(p.Admin(), http.MethodPost, "/apis/a/accept", http.Header{"Authorization": {"Bearer 0123456789abcdef"}}); w.Code/100 != 2 {
		t.Fatal(w.Code, w.Body)
	}
	p.eventually("what was accepted is kept", written(2))
	if s := p.state(0); s.State != admin.Ready || s.Tools != 2 {
		t.Errorf("%+v", s)
	}
}

// TestArchiveFull: what waits for a slow disk has a bound, and what is too much is told.
func TestArchiveFull(t *testing.T) {
	p := started(t, "server: {state_dir: "+t.TempDir()+"}\napis: [{spec: a.yaml, name: a}]\n")
	p.end()
	half := strings.Repeat("x", maxWaits/2)
	put := func(id, text string) {
		p.archive.put(&archived{head: archiveHead{ID: id}, copy: copyOfOne("http://a.example/x", text)})
	}
	put("one", half)
	put("two", half)
	put("two", half)
	put("three", "x")
	put("one", half+half) // the one before stays
	if n := p.archive.held(); n != maxWaits || len(p.archive.waiting) != 2 {
		t.Errorf("%d bytes of %d documents wait", n, len(p.archive.waiting))
	}
	if n := p.logged("too much waits to be written"); n != 2 {
		t.Errorf("told %d times", n)
	}
	if got := metricLines(p.Gateway, `drawbridge_state_writes_total{outcome="failed"} 2`); len(got) != 1 {
		t.Error(metricLines(p.Gateway, "drawbridge_state_writes_total"))
	}
}

// TestArchiveWhileWriting: what the disk has been given counts until it is written, so that one that hangs keeps no more than that in memory.
func TestArchiveWhileWriting(t *testing.T) {
	a := &archive{log: slog.New(slog.DiscardHandler), wake: make(chan struct{}, 1), waiting: map[string]*archived{}, writing: map[string]*archived{},
		failing: map[string]bool{}, waits: 100, writes: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "w"}, []string{"outcome"})}
	put := func(id string, bytes int) {
		a.put(&archived{head: archiveHead{ID: id}, copy: copyOfOne("http://a.example/x", strings.Repeat("x", bytes))})
	}
	arrived, release := make(chan struct{}), make(chan struct{})
	a.write = func(*archived) error { timebox.Send(t, arrived, struct{}{}); timebox.Wait(t, release); return nil }
	put("one", 80)
	ended := make(chan struct{})
	go func() { defer close(ended); a.writeAll() }()
	timebox.Wait(t, arrived)
	put("two", 30)
	put("three", 20)
	a.mu.Lock()
	if n := a.held(); n != 100 || len(a.waiting) != 1 || a.waiting["three"] == nil {
		t.Errorf("%d bytes wait or are written, %d documents wait", n, len(a.waiting))
	}
	a.mu.Unlock()
	close(release)
	timebox.Wait(t, ended)
	if n := a.held(); n != 20 {
		t.Errorf("%d bytes wait", n)
	}
}

// TestArchivedSize: the size of what was made of a document is read without the rest; what has none, or is no document, has 0.
func TestArchivedSize(t *testing.T) {
	var text bytes.Buffer
	doc := &archived{head: archiveHead{ID: strings.Repeat("a", 64), Size: 1 << 40, Spec: strings.Repeat("s", 5000)}, copy: copyOfOne("http://a.example/x", "openapi: 3.1.0")}
	if err := doc.encode(&text, nil); err != nil {
		t.Fatal(err)
	}
	whole := text.String()
	for _, tt := range []struct {
		name, text string
		want       int64
	}{
		{"whole", whole, 1 << 40},
		{"its begin", whole[:300], 1 << 40},
		{"without the number", whole[:strings.Index(whole, `size`)+6], 0},
		{"of an earlier version", strings.Replace(whole, `"size":1099511627776,`, "", 1), 0},
		{"negative", strings.Replace(whole, `"size":1`, `"size":-1`, 1), 0},
		{"no number", strings.Replace(whole, `"size":1099511627776`, `"size":"1"`, 1), 0},
		{"another format", strings.Replace(whole, "document 1", "document 2", 1), 0},
		{"empty", "", 0},
	} {
		if got := decodeSize(strings.NewReader(tt.text)); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

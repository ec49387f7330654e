package gateway_test

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"drawbridge/gateway"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/diskcache"
	"drawbridge/gateway/source"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// large makes a document larger than source.SmallText.
func large(text string) string { return text + "# " + strings.Repeat("x", source.SmallText) + "\n" }

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
		text := gatewaytest.Document(name, "list")
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
	p.Eventually("all are served", func() bool { return len(p.Tools()) == len(names) })
	p.end() // writes them
	mu.Lock()
	down = true
	mu.Unlock()
	now, most := 0, 0
	goOn := make(chan struct{})
	p = startingOn(t, cfg, gateway.Options{Test: gateway.TestOptions{Store: func(o *diskcache.Options) {
		o.ReadTimeout = time.Minute
		o.WrapDisk = func(d diskcache.Disk) diskcache.Disk {
			read := d.Read
			d.Read = func(id string) ([]byte, error) {
				if size, err := d.Size(id); err == nil && size > source.SmallText {
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
			return d
		}
	}}}, func(*gateway.Gateway) {})
	p.Eventually("two large documents are read", func() bool { mu.Lock(); defer mu.Unlock(); return now == 2 })
	p.Eventually("the small one is served", func() bool { return p.Status().Tools == 1 })
	close(goOn)
	p.Eventually("all are served", func() bool { return p.Status().Tools == len(names) })
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
	o := gatewaytest.NewChanging(t, large(gatewaytest.Document("A", gatewaytest.Operations(10)...)))
	p := started(t, "server: {state_dir: "+t.TempDir()+"}\nadmin: {token: 0123456789abcdef}\napis: [{spec: "+o.URL+"/a.yaml, name: a, refresh: 0s}]\n")
	written := func(n int) func() bool {
		return func() bool {
			return len(gatewaytest.MetricLines(p.Gateway, fmt.Sprintf(`drawbridge_state_writes_total{outcome="ok"} %d`, n))) == 1
		}
	}
	p.Eventually("it is kept", written(1))
	o.Set(large(gatewaytest.Document("A", gatewaytest.Operations(2)...)))
	if err := p.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := p.State(0); s.State != admin.Held {
		t.Fatalf("%+v", s)
	}
	if w := gatewaytest.Do(p.Admin(), http.MethodPost, "/apis/a/accept", http.Header{"Authorization": {"Bearer 0123456789abcdef"}}); w.Code/100 != 2 {
		t.Fatal(w.Code, w.Body)
	}
	p.Eventually("what was accepted is kept", written(2))
	if s := p.State(0); s.State != admin.Ready || s.Tools != 2 {
		t.Errorf("%+v", s)
	}
}

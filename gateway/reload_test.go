package gateway

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"drawbridge/gateway/admin"
)

// metricLines returns the lines of /metrics that hold all of the texts.
func metricLines(g *Gateway, texts ...string) []string {
	w := do(g.Admin(), http.MethodGet, "/metrics", nil)
	var lines []string
next:
	for line := range strings.Lines(w.Body.String()) {
		for _, text := range texts {
			if !strings.Contains(line, text) {
				continue next
			}
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

// TestSeriesOfAPIs demands that an API that is gone, or got its name from its document, leaves no series behind.
func TestSeriesOfAPIs(t *testing.T) {
	down := httptest.NewServer(http.HandlerFunc(http.NotFound))
	defer down.Close()
	r := run(t, map[string]string{
		"drawbridge.yaml": "apis: [{spec: file.yaml}, {spec: " + down.URL + "/x.yaml, name: gone}]\n",
		"file.yaml":       document("Named", "one"),
	})
	r.served()
	r.eventually("the other fails", func() bool { return r.state(1).State == admin.Failed })
	if left := metricLines(r.Gateway, `api="file"`); len(left) > 0 {
		t.Errorf("series of a name that nothing has any more: %q", left)
	}
	for _, want := range []string{
		`drawbridge_api_state{api="named",state="ready"} 1`, `drawbridge_api_tools{api="named"} 1`,
		`drawbridge_api_loads_total{api="named",outcome="changed"} 1`, `drawbridge_api_state{api="gone",state="failed"} 1`,
	} {
		if got := metricLines(r.Gateway, want); len(got) != 1 {
			t.Errorf("no series %s in %q", want, metricLines(r.Gateway, "drawbridge_api_"))
		}
	}
	r.write(map[string]string{"drawbridge.yaml": "- file.yaml\n"})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := metricLines(r.Gateway, `api="gone"`); len(left) > 0 {
		t.Errorf("series of an API that was removed: %q", left)
	}
}

// TestRefusedConfigurationStaysTold demands that a new document does not make operators believe that the
// configuration was accepted.
func TestRefusedConfigurationStaysTold(t *testing.T) {
	r := run(t, map[string]string{"drawbridge.yaml": "- a.yaml\n", "a.yaml": document("A", "one")})
	r.served()
	r.write(map[string]string{"drawbridge.yaml": "- a.yaml\n-\n"})
	if err := r.Reload(t.Context()); err == nil {
		t.Fatal("a bad configuration was accepted")
	}
	r.write(map[string]string{"a.yaml": document("A", "two")})
	r.eventually("the document is read", func() bool { return r.Plan("two") != nil })
	if r.Status().Config.Error == "" {
		t.Error("the status no longer tells that the configuration was refused")
	}
	r.write(map[string]string{"drawbridge.yaml": "- a.yaml\n"})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if e := r.Status().Config.Error; e != "" {
		t.Errorf("after the correction the status tells %q", e)
	}
}

// TestNewCredentialWhileTheDocumentIsDown rotates a credential while the document can't be had: the last good one is
// served, but with the new credential.
func TestNewCredentialWhileTheDocumentIsDown(t *testing.T) {
	var down atomic.Bool
	var seen atomic.Pointer[string]
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch {
		case req.URL.Path != "/spec.yaml":
			key := req.Header.Get("Authorization")
			seen.Store(&key)
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"done":true}`))
		case down.Load():
			http.Error(w, "down", http.StatusBadGateway)
		default:
			_, _ = io.WriteString(w, document("A", "one"))
		}
	}))
	defer service.Close()
	cfg := "apis: [{name: a, spec: " + service.URL + "/spec.yaml, base_url: " + service.URL + ", credential: {type: bearer, token: %s}}]\n"
	r := run(t, map[string]string{"drawbridge.yaml": fmt.Sprintf(cfg, "old")})
	r.served()
	call := func(want string) {
		t.Helper()
		if w := newClient(t, r.Handler(), eras[0], "").call("one"); !succeeded(w) {
			t.Fatalf("call = %d %s", w.Code, w.Body)
		}
		if got := *seen.Load(); got != want {
			t.Errorf("the service saw %q, want %q", got, want)
		}
	}
	call("Bearer old")
	down.Store(true)
	r.write(map[string]string{"drawbridge.yaml": fmt.Sprintf(cfg, "new")})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := r.state(0); s.State != admin.Stale {
		t.Errorf("state = %+v, want stale", s)
	}
	call("Bearer new")
}

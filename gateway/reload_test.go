package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/reload"
	"drawbridge/gateway/signal"
	"drawbridge/test/timebox"
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

// TestWhatARefusedConfigurationLacks: the file that a configuration was refused for is watched, and when it comes the configuration is used, without
// another word of anybody; the log has told of the refusal once.
func TestWhatARefusedConfigurationLacks(t *testing.T) {
	for what, tt := range map[string]struct{ config, file, text string }{
		"a secret":        {"apis: [{spec: a.yaml, base_url: 'http://a.test', credential: {type: bearer, token: '${file:token}'}}]\n", "token", "s3cr3t-s3cr3t\n"},
		"a file of tools": {"apis: [{spec: a.yaml}]\ntools: {lock: approved.lock}\n", "approved.lock", "version: \"3\"\ntools: {}\n"},
	} {
		t.Run(what, func(t *testing.T) {
			log := &sink{}
			r := runWith(t, map[string]string{"drawbridge.yaml": "- a.yaml\n", "a.yaml": document("A", "one")}, Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
			r.served()
			r.write(map[string]string{"drawbridge.yaml": tt.config})
			r.eventually("it is refused", func() bool { return strings.Contains(r.Status().Config.Error, tt.file) })
			r.write(map[string]string{tt.file: tt.text})
			r.eventually("it is used", func() bool { return r.Status().Config.Error == "" })
			if n := strings.Count(log.String(), "configuration rejected"); n != 1 {
				t.Errorf("%d refusals are told:\n%s", n, log)
			}
		})
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

// TestReloadNeverOpensTheGateway: a file without auth is good for a loopback address, but the process listens where it
// did when it started.
func TestReloadNeverOpensTheGateway(t *testing.T) {
	auth := "auth: {issuers: [{issuer: 'https://idp.example.com'}], default_scopes: [x]}\n"
	r := run(t, map[string]string{
		"drawbridge.yaml": "server: {listen: '0.0.0.0:8080', public_url: 'https://mcp.example.com'}\napis: [{spec: a.yaml}]\n" + auth,
		"a.yaml":          document("A", "one"),
	})
	r.served()
	r.write(map[string]string{"drawbridge.yaml": "apis: [{spec: a.yaml}]\n"})
	err := r.Reload(t.Context())
	const want = "auth: the gateway listens on 0.0.0.0:8080, and a configuration without auth is for loopback addresses; keep auth, or restart the gateway"
	if err == nil || err.Error() != want {
		t.Errorf("reload = %v, want %s", err, want)
	}
	if r.current.Load().Main.Guard == nil || do(r.Handler(), http.MethodGet, "/.well-known/oauth-protected-resource", nil).Code != http.StatusOK {
		t.Error("the guard is gone")
	}
}

// TestReloadSeesTheNewestDocument: an attempt that began before the reload is no answer to it.
func TestReloadSeesTheNewestDocument(t *testing.T) {
	var text atomic.Pointer[string]
	set := func(s string) { text.Store(&s) }
	set(document("A", "one"))
	slow := make(chan chan struct{}, 1) // an answer that is held back
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body := *text.Load()
		select {
		case release := <-slow:
			<-release
		default:
		}
		_, _ = io.WriteString(w, body)
	}))
	defer server.Close()
	r := run(t, map[string]string{"drawbridge.yaml": "apis: [{spec: " + server.URL + "/a.yaml, name: a, refresh: 100ms}]\n"})
	r.served()
	release := make(chan struct{})
	slow <- release // the next refresh reads the old document and is slow about it
	r.eventually("a refresh begins", func() bool { return len(slow) == 0 })
	set(document("A", "two"))
	done := make(chan error, 1)
	go func() { done <- r.Reload(t.Context()) }()
	close(release)
	if err := timebox.Receive(t, done); err != nil {
		t.Fatal(err)
	}
	if r.Plan("two") == nil {
		t.Error("the reload returned before the new document was served")
	}
}

// TestReloadsFasterThanDocuments: a configuration whose documents are read is replaced by newer ones for a while only, and then comes into use
// before them.
func TestReloadsFasterThanDocuments(t *testing.T) {
	for _, tt := range []struct {
		name       string
		replaceFor time.Duration
		want       []string // what is served, one configuration after the other
	}{
		{"early", time.Hour, []string{"a_one b_third"}},
		{"late", 1, []string{"a_one b_first", "a_one b_third"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			arrived, release := make(chan struct{}, 1), make(chan struct{})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				signal.Raise(arrived)
				select {
				case <-release:
				case <-req.Context().Done():
				}
				_, _ = io.WriteString(w, document("B", strings.Trim(req.URL.Path, "/")))
			}))
			defer server.Close()
			var r *running
			var mu sync.Mutex
			var served []string
			begun := make(chan struct{})
			r = runWith(t, map[string]string{"drawbridge.yaml": "- a.yaml\n", "a.yaml": document("A", "one")}, Options{
				Test: TestOptions{ReplaceFor: tt.replaceFor},
				InUse: func(*config.Config) {
					timebox.Wait(t, begun)
					mu.Lock()
					defer mu.Unlock()
					served = append(served, strings.Join(r.tools(), " "))
				},
			})
			close(begun)
			r.served()
			var ends []<-chan error
			for _, path := range []string{"first", "second", "third"} {
				r.write(map[string]string{"drawbridge.yaml": "apis: [{spec: a.yaml}, {spec: " + server.URL + "/" + path + "}]\n"})
				ends = append(ends, submit(r, true)) // when it was taken, the one before has begun
				if path == "first" {
					timebox.Wait(t, arrived)
				}
			}
			close(release)
			for n, end := range ends {
				if err := timebox.Receive(t, end); err != nil {
					t.Errorf("reload %d: %v", n, err)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if served = slices.Compact(served); !slices.Equal(served, tt.want) { // the watcher asks for some once more
				t.Errorf("came into use: %q, want %q", served, tt.want)
			}
		})
	}
}

// TestRefusalDuringAReload: what was refused last is told, also when an older reload ends after it.
func TestRefusalDuringAReload(t *testing.T) {
	arrived, release := make(chan struct{}, 1), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		signal.Raise(arrived)
		<-release
		_, _ = io.WriteString(w, document("B", "two"))
	}))
	defer server.Close()
	r := run(t, map[string]string{"drawbridge.yaml": "- a.yaml\n", "a.yaml": document("A", "one")})
	r.served()
	r.write(map[string]string{"drawbridge.yaml": "apis: [{spec: a.yaml}, {spec: " + server.URL + "/b.yaml}]\n"})
	done := make(chan error, 1)
	go func() { done <- r.Reload(t.Context()) }()
	timebox.Wait(t, arrived) // the reload is under way
	r.write(map[string]string{"drawbridge.yaml": "nonsense\n"})
	r.eventually("the second one is refused", func() bool {
		_ = r.Reload(t.Context())
		return r.Status().Config.Error != ""
	})
	close(release)
	r.eventually("the first one is served", func() bool { return r.Status().Tools == 2 })
	if r.Status().Config.Error == "" {
		t.Error("the refusal is forgotten")
	}
	timebox.Wait(t, done)
}

// TestToolSeriesAreBounded changes the names of tools again and again: what counted the old ones is gone.
func TestToolSeriesAreBounded(t *testing.T) {
	r := run(t, map[string]string{"drawbridge.yaml": "- a.yaml\n", "a.yaml": document("A", "one")})
	r.served()
	for i := range 5 {
		r.write(map[string]string{"a.yaml": document("A", fmt.Sprintf("op%d", i))})
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if lines := metricLines(r.Gateway, "drawbridge_tool_calls_total{"); len(lines) != 1 {
		t.Errorf("series of one tool: %q", lines)
	}
}

// TestReloadAfterTheEnd: nobody waits for a gateway that has ended.
func TestReloadAfterTheEnd(t *testing.T) {
	g, err := New(Options{Config: configure(t, t.TempDir(), document("A", "one"), "", "http://127.0.0.1:1")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if err := g.Reload(t.Context()); !errors.Is(err, reload.ErrEnded) {
		t.Errorf("reload = %v, want %v", err, reload.ErrEnded)
	}
}

// submit requests a reload, as an operator or as a change of the file, and returns when it is taken.
func submit(r *running, asked bool) <-chan error {
	r.t.Helper()
	done, err := r.runner.Submit(r.t.Context(), asked)
	if err != nil {
		r.t.Fatal(err)
	}
	return done
}

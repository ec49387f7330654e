package reload_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"drawbridge/gateway"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/reload"
	"drawbridge/gateway/signal"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// TestSeriesOfAPIs demands that an API that is gone, or got its name from its document, leaves no series behind.
func TestSeriesOfAPIs(t *testing.T) {
	down := httptest.NewServer(http.HandlerFunc(http.NotFound))
	defer down.Close()
	r := gatewaytest.Run(t, map[string]string{
		"drawbridge.yaml": "apis: [{spec: file.yaml}, {spec: " + down.URL + "/x.yaml, name: gone}]\n",
		"file.yaml":       gatewaytest.Document("Named", "one"),
	})
	r.Served()
	r.Eventually("the other fails", func() bool { return r.State(1).State == admin.Failed })
	if left := gatewaytest.MetricLines(r.Gateway, `api="file"`); len(left) > 0 {
		t.Errorf("series of a name that nothing has any more: %q", left)
	}
	for _, want := range []string{
		`drawbridge_api_state{api="named",state="ready"} 1`, `drawbridge_api_tools{api="named"} 1`,
		`drawbridge_api_loads_total{api="named",outcome="changed"} 1`, `drawbridge_api_state{api="gone",state="failed"} 1`,
	} {
		if got := gatewaytest.MetricLines(r.Gateway, want); len(got) != 1 {
			t.Errorf("no series %s in %q", want, gatewaytest.MetricLines(r.Gateway, "drawbridge_api_"))
		}
	}
	r.Write(map[string]string{"drawbridge.yaml": "- file.yaml\n"})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := gatewaytest.MetricLines(r.Gateway, `api="gone"`); len(left) > 0 {
		t.Errorf("series of an API that was removed: %q", left)
	}
}

// TestWiderAndWrong demands that a configuration that gives wider access and can't work is refused, whoever asks for it: its error stays
// told when the change of the file is noticed after a reload.
func TestWiderAndWrong(t *testing.T) {
	const text = "apis: [{name: a, spec: a.yaml, base_url: 'http://127.0.0.1:1'}]\n"
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": text, "a.yaml": gatewaytest.Document("A", "one")})
	r.Served()
	r.Write(map[string]string{"drawbridge.yaml": strings.Replace(text, "a.yaml", "a.yaml, pass_headers: [X-Forwarded-For]", 1)})
	r.Eventually("the change is noticed", func() bool { return r.Status().Config.Error+strings.Join(r.Status().Config.Opens, "") != "" })
	if c := r.Status().Config; !strings.Contains(c.Error, "can't be passed on") || len(c.Opens) > 0 {
		t.Errorf("it is not refused: %q, and opens %q", c.Error, c.Opens)
	}
}

// TestRefusedConfigurationStaysTold demands that a new document does not make operators believe that the
// configuration was accepted.
func TestRefusedConfigurationStaysTold(t *testing.T) {
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": "- a.yaml\n", "a.yaml": gatewaytest.Document("A", "one")})
	r.Served()
	r.Write(map[string]string{"drawbridge.yaml": "- a.yaml\n-\n"})
	if err := r.Reload(t.Context()); err == nil {
		t.Fatal("a bad configuration was accepted")
	}
	r.Write(map[string]string{"a.yaml": gatewaytest.Document("A", "two")})
	r.Eventually("the document is read", func() bool { return r.Plan("two") != nil })
	if r.Status().Config.Error == "" {
		t.Error("the status no longer tells that the configuration was refused")
	}
	r.Write(map[string]string{"drawbridge.yaml": "- a.yaml\n"})
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
			log := &gatewaytest.Sink{}
			r := gatewaytest.RunWith(t, map[string]string{"drawbridge.yaml": "- a.yaml\n", "a.yaml": gatewaytest.Document("A", "one")}, gateway.Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
			r.Served()
			r.Write(map[string]string{"drawbridge.yaml": tt.config})
			r.Eventually("it is refused", func() bool { return strings.Contains(r.Status().Config.Error, tt.file) })
			r.Write(map[string]string{tt.file: tt.text})
			r.Eventually("it is used", func() bool { return r.Status().Config.Error == "" })
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
			_, _ = io.WriteString(w, gatewaytest.Document("A", "one"))
		}
	}))
	defer service.Close()
	cfg := "apis: [{name: a, spec: " + service.URL + "/spec.yaml, base_url: " + service.URL + ", credential: {type: bearer, token: %s}}]\n"
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": fmt.Sprintf(cfg, "old")})
	r.Served()
	call := func(want string) {
		t.Helper()
		if w := gatewaytest.NewClient(t, r.Handler(), gatewaytest.Eras[0], "").Call("one"); !gatewaytest.Succeeded(w) {
			t.Fatalf("call = %d %s", w.Code, w.Body)
		}
		if got := *seen.Load(); got != want {
			t.Errorf("the service saw %q, want %q", got, want)
		}
	}
	call("Bearer old")
	down.Store(true)
	r.Write(map[string]string{"drawbridge.yaml": fmt.Sprintf(cfg, "new")})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := r.State(0); s.State != admin.Stale {
		t.Errorf("state = %+v, want stale", s)
	}
	call("Bearer new")
}

// TestReloadSeesTheNewestDocument: an attempt that began before the reload is no answer to it.
func TestReloadSeesTheNewestDocument(t *testing.T) {
	var text atomic.Pointer[string]
	set := func(s string) { text.Store(&s) }
	set(gatewaytest.Document("A", "one"))
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
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": "apis: [{spec: " + server.URL + "/a.yaml, name: a, refresh: 100ms}]\n"})
	r.Served()
	release := make(chan struct{})
	slow <- release // the next refresh reads the old document and is slow about it
	r.Eventually("a refresh begins", func() bool { return len(slow) == 0 })
	set(gatewaytest.Document("A", "two"))
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

// TestRefusalDuringAReload: what was refused last is told, also when an older reload ends after it.
func TestRefusalDuringAReload(t *testing.T) {
	arrived, release := make(chan struct{}, 1), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		signal.Raise(arrived)
		<-release
		_, _ = io.WriteString(w, gatewaytest.Document("B", "two"))
	}))
	defer server.Close()
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": "- a.yaml\n", "a.yaml": gatewaytest.Document("A", "one")})
	r.Served()
	r.Write(map[string]string{"drawbridge.yaml": "apis: [{spec: a.yaml}, {spec: " + server.URL + "/b.yaml}]\n"})
	done := make(chan error, 1)
	go func() { done <- r.Reload(t.Context()) }()
	timebox.Wait(t, arrived) // the reload is under way
	r.Write(map[string]string{"drawbridge.yaml": "nonsense\n"})
	r.Eventually("the second one is refused", func() bool {
		_ = r.Reload(t.Context())
		return r.Status().Config.Error != ""
	})
	close(release)
	r.Eventually("the first one is served", func() bool { return r.Status().Tools == 2 })
	if r.Status().Config.Error == "" {
		t.Error("the refusal is forgotten")
	}
	timebox.Wait(t, done)
}

// TestToolSeriesAreBounded changes the names of tools again and again: what counted the old ones is gone.
func TestToolSeriesAreBounded(t *testing.T) {
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": "- a.yaml\n", "a.yaml": gatewaytest.Document("A", "one")})
	r.Served()
	for i := range 5 {
		r.Write(map[string]string{"a.yaml": gatewaytest.Document("A", fmt.Sprintf("op%d", i))})
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if lines := gatewaytest.MetricLines(r.Gateway, "drawbridge_tool_calls_total{"); len(lines) != 1 {
		t.Errorf("series of one tool: %q", lines)
	}
}

// TestReloadAfterTheEnd: nobody waits for a gateway that has ended.
func TestReloadAfterTheEnd(t *testing.T) {
	g, err := gateway.New(gateway.Options{Config: gatewaytest.Configure(t, t.TempDir(), gatewaytest.Document("A", "one"), "", "http://127.0.0.1:1")})
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

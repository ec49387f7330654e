package gateway_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"drawbridge/config"
	"drawbridge/gateway"
	"drawbridge/gateway/admin"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/logbuffer"
	"drawbridge/test/timebox"
)

// process is one run of a gateway: a restart is the next one.
type process struct {
	*gatewaytest.Running
	log *logbuffer.Buffer
	end func()
}

// started runs a gateway on a configuration until end, which returns when all that it had to write is written.
func started(t *testing.T, text string) *process {
	t.Helper()
	return starting(t, text, func(*gateway.Gateway) {})
}

// starting starts a gateway when something was changed in it.
func starting(t *testing.T, text string, change func(*gateway.Gateway)) *process {
	t.Helper()
	return startingOn(t, text, gateway.Options{}, change)
}

// startingOn is starting with other options; those of the configuration and the log are filled in.
func startingOn(t *testing.T, text string, o gateway.Options, change func(*gateway.Gateway)) *process {
	t.Helper()
	p := &process{Running: &gatewaytest.Running{T: t, Dir: t.TempDir(), Gone: make(chan struct{})}, log: &logbuffer.Buffer{}}
	p.Write(map[string]string{"drawbridge.yaml": text})
	load := func(kept *config.Kept) (*config.Config, error) {
		c, problems := config.LoadWith(filepath.Join(p.Dir, "drawbridge.yaml"), func(string) string { return "" }, config.LoadOptions{Kept: kept})
		return c, problems.Err()
	}
	c, err := load(nil)
	if err != nil {
		t.Fatal(err)
	}
	o.Config, o.LoadConfig, o.Logger = c, load, slog.New(slog.NewTextHandler(p.log, nil))
	if p.Gateway, err = gateway.New(o); err != nil {
		t.Fatal(err)
	}
	change(p.Gateway)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		defer close(p.Gone)
		ended <- p.Run(ctx)
	}()
	p.end = sync.OnceFunc(func() {
		cancel()
		if err := timebox.Receive(t, ended); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(p.end)
	return p
}

// storeID returns the id of the n-th API's document in the store.
func (p *process) storeID(n int) string {
	for s, entry := range p.Current().Entries {
		if entry == fmt.Sprintf("apis[%d]", n) {
			return s.StoreID
		}
	}
	return ""
}

func (p *process) logged(text string) int { return strings.Count(p.log.String(), text) }

// TestArchive: a document that was read once is served by the next process though its origin is gone, and until it is back
// (O1). Nothing of what may be secret in its location stands on the disk.
func TestArchive(t *testing.T) {
	o := gatewaytest.NewChanging(t, gatewaytest.Document("A", "one", "two"))
	state := filepath.Join(t.TempDir(), "deep", "state")
	cfg := "server: {state_dir: " + state + "}\napis: [{spec: '" + o.URL + "/a.yaml?key=hidden-key', name: a, refresh: 0s}]\n"
	first := started(t, cfg)
	first.Served()
	first.end()
	files, err := os.ReadDir(state)
	if err != nil || len(files) != 1 {
		t.Fatalf("files = %v, %v", files, err)
	}
	file := filepath.Join(state, files[0].Name())
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text)+file, "hidden-key") {
		t.Errorf("a secret stands on the disk: %s %s", file, text)
	}
	for path, want := range map[string]fs.FileMode{state: 0o700, file: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("mode of %s = %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
	if got := gatewaytest.MetricLines(first.Gateway, `drawbridge_state_writes_total{outcome="ok"} 1`); len(got) != 1 {
		t.Errorf("writes = %q", gatewaytest.MetricLines(first.Gateway, "drawbridge_state_writes"))
	}

	o.Set("")
	second := started(t, cfg)
	second.Served()
	second.Eventually("the origin is tried", func() bool { return second.State(0).Error != "" })
	s := second.State(0)
	if s.State != admin.Stale || len(second.Tools()) != 2 || s.StaleSince == nil || time.Since(*s.StaleSince) > time.Hour || s.LoadedAt == nil || second.logged("serving the stored document") != 1 {
		t.Errorf("status = %+v, log %s", s, second.log)
	}
	o.Set(gatewaytest.Document("A", "one", "two", "three"))
	if err := second.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := second.State(0); s.State != admin.Ready || len(second.Tools()) != 3 || s.StaleSince != nil {
		t.Errorf("status = %+v", s)
	}
	second.end()

	// A bad document is no better than none.
	o.Set("<!DOCTYPE html>")
	third := started(t, cfg)
	third.Served()
	third.Eventually("the document is tried", func() bool { return third.State(0).Error != "" })
	if s := third.State(0); s.State != admin.Stale || len(third.Tools()) != 3 {
		t.Errorf("status = %+v", s)
	}
}

// TestStartWithDeadNetwork: with all documents on the disk and none to be had, everything is served within a second.
func TestStartWithDeadNetwork(t *testing.T) {
	o := gatewaytest.NewChanging(t, gatewaytest.Document("A", gatewaytest.Operations(20)...))
	state := t.TempDir()
	var cfg strings.Builder
	fmt.Fprintf(&cfg, "server: {state_dir: %s, ready: all}\napis:\n", state)
	for n := range 10 {
		fmt.Fprintf(&cfg, "  - {spec: '%s/%d.yaml', name: a%d, spec_timeout: 20s}\n", o.URL, n, n)
	}
	first := started(t, cfg.String())
	first.Eventually("all are served", func() bool { return first.Status().Ready })
	first.end()
	// At the same URLs, a listener that answers nothing stands for a network that swallows what is sent.
	address := strings.TrimPrefix(o.URL, "http://")
	o.Close()
	hole, err := net.Listen("tcp", address)
	if err != nil {
		t.Skipf("the port was taken: %v", err)
	}
	defer func() { _ = hole.Close() }()
	begin := time.Now()
	second := started(t, cfg.String())
	second.Eventually("all are served", func() bool { return second.Status().Ready })
	// Far below the time that one document may take. A machine that has nothing else to do needs a third of a second.
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("ready after %v", took)
	}
	for n, a := range second.Status().APIs {
		if a.State != admin.Stale || a.Tools != 20 {
			t.Errorf("api %d = %+v", n, a)
		}
	}
	if n := len(second.Tools()); n != 200 {
		t.Errorf("%d tools", n)
	}
}

// TestHoldSurvivesARestart: a document that is held is not served by a process that starts anew, and one that is accepted is.
func TestHoldSurvivesARestart(t *testing.T) {
	o := gatewaytest.NewChanging(t, gatewaytest.Document("A", gatewaytest.Operations(10)...))
	cfg := "server: {state_dir: " + t.TempDir() + "}\napis: [{spec: '" + o.URL + "/a.yaml', name: a, refresh: 0s}]\n"
	first := started(t, cfg)
	first.Served()
	first.end()
	o.Set(gatewaytest.Document("A", gatewaytest.Operations(2)...))
	for range 2 {
		p := started(t, cfg)
		p.Eventually("it is held", func() bool { return len(p.Status().APIs) == 1 && p.State(0).State == admin.Held })
		if n := len(p.Tools()); n != 10 {
			t.Errorf("%d tools", n)
		}
		p.end()
	}
	p := started(t, cfg)
	p.Eventually("it is held", func() bool { return p.State(0).State == admin.Held })
	if err := p.Accept(t.Context(), "a", ""); err != nil {
		t.Fatal(err)
	}
	p.end()
	if err := p.Accept(t.Context(), "a", ""); err == nil {
		t.Error("a gateway that has ended accepts a document")
	}
	p = started(t, cfg)
	p.Served()
	p.Eventually("it is read", func() bool { return p.State(0).State == admin.Ready })
	if n := len(p.Tools()); n != 2 {
		t.Errorf("%d tools", n)
	}
}

// TestArchiveRefuses: what is damaged, or another's, is told and not used, and nothing else suffers.
func TestArchiveRefuses(t *testing.T) {
	o := gatewaytest.NewChanging(t, gatewaytest.Document("A", "one"))
	state := t.TempDir()
	cfg := "server: {state_dir: " + state + "}\napis: [{spec: '" + o.URL + "/a.yaml', name: a, refresh: 0s}, {spec: '" + o.URL + "/b.yaml', name: b, refresh: 0s}]\n"
	first := started(t, cfg)
	first.Eventually("both are served", func() bool { return len(first.Tools()) == 2 })
	first.end()
	a, b := first.Store().Path(first.storeID(0)), first.Store().Path(first.storeID(1))
	good, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile(b)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(elsewhere, good, 0o600); err != nil {
		t.Fatal(err)
	}
	o.Set("")
	for name, tt := range map[string]struct {
		spoil func() error
		want  string
	}{
		"cut":       {func() error { return os.WriteFile(a, good[:len(good)-1], 0o600) }, "damaged"},
		"cut early": {func() error { return os.WriteFile(a, good[:10], 0o600) }, "damaged"},
		"empty":     {func() error { return os.WriteFile(a, nil, 0o600) }, "damaged"},
		"altered":   {func() error { return os.WriteFile(a, bytes.Replace(good, []byte("/one"), []byte("/two"), 1), 0o600) }, "damaged"},
		"a later version": {func() error {
			return os.WriteFile(a, bytes.Replace(good, []byte("document 1"), []byte("document 2"), 1), 0o600)
		}, "damaged"},
		"another's":   {func() error { return os.WriteFile(a, other, 0o600) }, "that of another API"},
		"a link":      {func() error { return os.Symlink(elsewhere, a) }, "too many levels of symbolic links"},
		"a directory": {func() error { return os.Mkdir(a, 0o700) }, "not a regular file"},
		"too large":   {func() error { return os.WriteFile(a, nil, 0o600) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.RemoveAll(a); err != nil {
				t.Fatal(err)
			}
			if err := tt.spoil(); err != nil {
				t.Fatal(err)
			}
			if name == "too large" {
				if err := os.Truncate(a, 1<<40); err != nil {
					t.Skip(err)
				}
				tt.want = "it is larger than"
			}
			p := started(t, cfg)
			p.Eventually("both are tried", func() bool { return p.State(0).Error != "" && p.State(1).Error != "" })
			if p.State(0).State != admin.Failed || p.State(1).State != admin.Stale || len(p.Tools()) != 1 {
				t.Errorf("status = %+v", p.Status().APIs)
			}
			if p.logged("the stored document can't be used") != 1 || p.logged(tt.want) == 0 {
				t.Errorf("log = %s, want %q", p.log, tt.want)
			}
		})
	}
}

// TestArchiveCannotWrite: a disk that takes nothing is told once, and counted; the gateway goes on, and writes when it can.
func TestArchiveCannotWrite(t *testing.T) {
	o := gatewaytest.NewChanging(t, gatewaytest.Document("A", "one"))
	file := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(file, nil, 0o600); err != nil { // where the directory should be
		t.Fatal(err)
	}
	p := started(t, "server: {state_dir: "+file+"}\napis: [{spec: '"+o.URL+"/a.yaml', name: a, refresh: 0s}]\n")
	p.Served()
	p.Eventually("a write fails", func() bool {
		return len(gatewaytest.MetricLines(p.Gateway, `drawbridge_state_writes_total{outcome="failed"} 1`)) == 1
	})
	if p.State(0).State != admin.Ready || p.logged("documents can't be stored") != 1 || p.logged("a document can't be stored; retrying") != 1 {
		t.Errorf("status = %+v, log %s", p.State(0), p.log)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	p.end() // writes what waits
	if got := gatewaytest.MetricLines(p.Gateway, `drawbridge_state_writes_total{outcome="ok"} 1`); len(got) != 1 {
		t.Errorf("it is not written when it could be: %q", gatewaytest.MetricLines(p.Gateway, "drawbridge_state_writes"))
	}
}

// TestArchiveIsShared: two processes write whole files to one directory, and entries with one location keep a document each: they may
// get it with other credentials.
func TestArchiveIsShared(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(gatewaytest.Document("A", strings.ToLower(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")))))
	}))
	defer service.Close()
	state := t.TempDir()
	entry := "  - {spec: '" + service.URL + "/a.yaml', credential: {type: bearer, token: %s}%s}\n"
	named := "server: {state_dir: " + state + "}\napis:\n" + fmt.Sprintf(entry, "mine", ", name: a") + fmt.Sprintf(entry, "yours", ", name: b")
	one, two := started(t, named), started(t, named)
	one.Eventually("both are served", func() bool { return len(one.Tools()) == 2 })
	two.Eventually("both are served", func() bool { return len(two.Tools()) == 2 })
	one.end()
	two.end()
	for n, want := range []string{"GET /mine", "GET /yours"} {
		doc, release := one.Store().Load(t.Context(), one.storeID(n), want)
		release()
		if doc == nil || len(doc.Head.Operations) != 1 || doc.Head.Operations[0] != want {
			t.Errorf("document %d = %+v", n, doc)
		}
	}
	if files, _ := os.ReadDir(state); len(files) != 2 {
		t.Errorf("files = %v", files)
	}
}

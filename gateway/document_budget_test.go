package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"drawbridge/gateway"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/admission"
	"drawbridge/gateway/diskcache"
	"drawbridge/gateway/generation"
	"drawbridge/gateway/reload"
	"drawbridge/gateway/signal"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// TestDocumentsTogether: where memory is limited an API gets none of that of others, nor of calls: a document of which too much would be made is
// refused in words, the one before goes on to be served, small ones are taken, and when others have left it comes into use.
func TestDocumentsTogether(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, operations int) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(numbered(name, operations)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config := func(names ...string) string {
		text := "apis:\n"
		for _, name := range names {
			text += fmt.Sprintf("  - {name: %s, spec: %s, base_url: 'http://127.0.0.1:1', max_loss: 100}\n", name, filepath.Join(dir, name))
		}
		return text
	}
	write("large", 60) // 0.19 MiB
	write("other", 50)
	write("small", 1)
	p := starting(t, config("large"), func(g *gateway.Gateway) {
		g.Deployer().Sources.Documents = admission.NewDocumentBudget(300<<10, 205<<10, 103<<10)
	})
	tools := func(what string, want int) {
		t.Helper()
		p.Eventually(what, func() bool { return p.Status().Tools == want })
	}
	reload := func(what string, want int) {
		t.Helper()
		if err := p.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		tools(what, want)
	}
	tools("the large one is served", 60)
	p.Write(map[string]string{"drawbridge.yaml": config("large", "other", "small")})
	reload("a small one beside it", 61)
	refused := func(n int, want string) {
		t.Helper()
		if got := p.Status().APIs[n].Error; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	const words = "the operations of the document take more memory than there is for them: more than the "
	refused(1, words+"0.1 MiB that are left of the 0.3 for all APIs, a third of GOMEMLIMIT, of which \"large\" has 0.2; split it, have another gateway serve it, or give this one more memory")

	write("large", 59)
	reload("the large one is replaced, and does not stand in its own way", 60)
	p.Write(map[string]string{"drawbridge.yaml": strings.Replace(config("large", "other", "small"), "name: large", "name: renamed", 1)})
	reload("nor when its name is another", 60)
	refused(0, "")
	p.Write(map[string]string{"drawbridge.yaml": config("large", "other", "small")})
	write("large", 70)
	reload("it grows too large", 60)
	refused(0, words+"0.2 MiB that one document may take, a quarter of GOMEMLIMIT; split it, have another gateway serve it, or give this one more memory")

	write("large", 2)
	reload("it is small, and there is room for the other", 53)
	refused(1, "")
	p.Write(map[string]string{"drawbridge.yaml": config("large")})
	reload("the others are gone", 2)
	p.Eventually("nothing is counted for them", func() bool {
		owners, _ := p.Deployer().Sources.Documents.Usage()
		return owners == 1
	})
}

// numbered is a document of so many operations.
func numbered(title string, n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("op%d", i)
	}
	return gatewaytest.Document(title, names...)
}

// TestHeldBesideServed: a document that is held takes no memory beside the one that is served which the API may not have, so that none has twice
// what the others leave. It is read anew when it is accepted, and is still the one that the operator has seen, or it is not taken.
func TestHeldBesideServed(t *testing.T) {
	origin := gatewaytest.NewChanging(t, numbered("A", 60))
	p := starting(t, "apis: [{spec: "+origin.URL+"/a.yaml, name: a, refresh: 0s, max_loss: 10}]\n", func(g *gateway.Gateway) {
		g.Deployer().Sources.Documents = admission.NewDocumentBudget(300<<10, 205<<10, 103<<10)
	})
	p.Served()
	reload := func() {
		t.Helper()
		if err := p.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	size := func() int64 {
		_, bytes := p.Deployer().Sources.Documents.Usage()
		return bytes
	}
	served := size()
	fewer := numbered("A", 40)
	origin.Set(fewer)
	reload()
	if s := p.State(0); s.State != admin.Held || s.Held.Lost != 20 || len(s.Held.Digest) != 64 || s.Held.Version != "1" {
		t.Fatalf("%+v", s)
	}
	if got := size(); got != served {
		t.Errorf("%d bytes are taken, %d by what is served", got, served)
	}

	origin.Set("")
	if err := p.Accept(t.Context(), "a", ""); err == nil || !strings.Contains(err.Error(), "the held document could not be reread: document ") {
		t.Errorf("accept what is not there any more: %v", err)
	}
	origin.Set(numbered("A", 39))
	if err := p.Accept(t.Context(), "a", p.State(0).Held.Digest); !errors.Is(err, admin.ErrChanged) {
		t.Errorf("accept another: %v", err)
	}
	if s := p.State(0); s.State != admin.Held || s.Held.Lost != 21 || len(p.Tools()) != 60 {
		t.Errorf("%d tools, %+v", len(p.Tools()), s)
	}
	origin.Set(fewer)
	reload()
	if err := p.Accept(t.Context(), "a", p.State(0).Held.Digest); err != nil {
		t.Error(err)
	}
	if s := p.State(0); s.State != admin.Ready || len(p.Tools()) != 40 || s.MemoryBytes != size() {
		t.Errorf("%d tools, %d bytes, %+v", len(p.Tools()), size(), s)
	}

	origin.Set(numbered("A", 4)) // small enough beside what is served
	reload()
	origin.Set("")
	if err := p.Accept(t.Context(), "a", ""); err != nil || len(p.Tools()) != 4 {
		t.Errorf("%v, %d tools", err, len(p.Tools()))
	}
}

// TestAcceptUnreadWhileStopping: who waits for a document that is read anew gets an answer when the gateway ends, or another configuration comes.
func TestAcceptUnreadWhileStopping(t *testing.T) {
	for name, end := range map[string]struct {
		how  func(p *process)
		want error
	}{
		"the end": {func(p *process) { p.end() }, reload.ErrEnded},
		"another configuration": {func(p *process) {
			p.Write(map[string]string{"drawbridge.yaml": "apis: [{spec: b.yaml, name: b, base_url: 'http://127.0.0.1:1'}]\n", "b.yaml": gatewaytest.Document("B", "b")})
			if err := p.Reload(context.Background()); err != nil {
				t.Error(err)
			}
		}, admin.ErrChanged},
	} {
		t.Run(name, func(t *testing.T) {
			text, hang := atomic.Pointer[string]{}, atomic.Bool{}
			set := func(s string) { text.Store(&s) }
			set(numbered("A", 60))
			arrived, release := make(chan struct{}, 1), make(chan struct{})
			origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if hang.Load() {
					signal.Raise(arrived)
					select {
					case <-release:
					case <-r.Context().Done():
					}
				}
				_, _ = w.Write([]byte(*text.Load()))
			}))
			defer origin.Close()
			defer close(release)
			p := starting(t, "apis: [{spec: "+origin.URL+"/a.yaml, name: a, refresh: 0s, max_loss: 10}]\n", func(g *gateway.Gateway) {
				g.Deployer().Sources.Documents = admission.NewDocumentBudget(300<<10, 205<<10, 103<<10)
			})
			p.Served()
			set(numbered("A", 40))
			if err := p.Reload(t.Context()); err != nil {
				t.Fatal(err)
			}
			hang.Store(true)
			ended := make(chan error, 1)
			go func() { ended <- p.Accept(context.Background(), "a", "") }()
			timebox.Wait(t, arrived)
			end.how(p)
			if err := timebox.Receive(t, ended); !errors.Is(err, end.want) {
				t.Errorf("%v, want %v", err, end.want)
			}
		})
	}
}

// TestDocumentsAfterARestart: an API that was served before a restart has its room, however late it is read.
func TestDocumentsAfterARestart(t *testing.T) {
	var hang atomic.Bool
	release := make(chan struct{})
	goOn := sync.OnceFunc(func() { close(release) })
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if hang.Load() {
			<-release
		}
		_, _ = w.Write([]byte(numbered("First", 60)))
	}))
	defer first.Close()
	defer goOn()
	second := gatewaytest.NewChanging(t, numbered("Second", 10))
	cfg := "server: {state_dir: " + t.TempDir() + "}\napis:\n" +
		"  - {name: first, spec: '" + first.URL + "', refresh: 0s, max_loss: 100}\n" +
		"  - {name: second, spec: '" + second.URL + "', refresh: 0s, max_loss: 100}\n"
	room := func(g *gateway.Gateway) {
		g.Deployer().Sources.Documents = admission.NewDocumentBudget(300<<10, 205<<10, 50<<10)
	}
	p := starting(t, cfg, room)
	p.Eventually("both are served", func() bool { return p.Status().Tools == 70 })
	p.end()

	hang.Store(true)
	second.Set(numbered("Second", 60))
	var late string
	p = startingOn(t, cfg, gateway.Options{Test: gateway.TestOptions{Store: func(o *diskcache.Options) {
		o.WrapDisk = func(d diskcache.Disk) diskcache.Disk {
			read := d.Read
			d.Read = func(id string) ([]byte, error) { // what is kept of the first comes late, too
				if id == late {
					timebox.Wait(t, release)
				}
				return read(id)
			}
			return d
		}
	}, FirstDeployment: func(d *generation.Deployment) { late = d.APIs.Sources[0].StoreID }}}, room)
	p.Eventually("the second was refused, and the one before is served", func() bool {
		return len(p.Status().APIs) == 2 && p.State(1).State == admin.Stale && strings.Contains(p.State(1).Error, `of which "first" has 0.2`)
	})
	goOn()
	p.Eventually("the first is served", func() bool { return p.State(0).State == admin.Ready && p.Status().Tools == 70 })
}

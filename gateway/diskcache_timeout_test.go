package gateway

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drawbridge/config"
	"drawbridge/test/timebox"
)

// TestStateDirThatHangs: a network file system that hangs keeps no API from being served, and no process from ending.
func TestStateDirThatHangs(t *testing.T) {
	for _, tt := range []struct {
		name    string // what hangs
		warning string
	}{
		{"looking", "it can't be read within 10ms; server.state_dir seems to hang"},
		{"reading", "it can't be read within 10ms; server.state_dir seems to hang"},
		{"writing", "documents may not be kept: server.state_dir seems to hang"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &process{running: &running{t: t, dir: t.TempDir()}, log: &safeBuffer{}}
			p.write(map[string]string{
				"drawbridge.yaml": "server: {state_dir: state}\napis: [{spec: a.yaml, name: a, base_url: 'http://127.0.0.1:1'}]\n",
				"a.yaml":          document("A", "one"),
			})
			c, problems := config.Load(filepath.Join(p.dir, "drawbridge.yaml"), func(string) string { return "" })
			if c == nil {
				t.Fatal(problems.Err())
			}
			var err error
			if p.Gateway, err = New(Options{Config: c, Logger: slog.New(slog.NewTextHandler(p.log, nil))}); err != nil {
				t.Fatal(err)
			}
			hangs, awake := make(chan struct{}, 1), make(chan struct{})
			hang := func() {
				hangs <- struct{}{}
				timebox.Wait(t, awake)
			}
			a := p.archive
			a.start, a.ended = 10*time.Millisecond, 10*time.Millisecond
			switch read, size := a.read, a.size; tt.name {
			case "looking":
				a.size = func(id string) (int64, error) { hang(); return size(id) }
			case "reading":
				a.size = func(string) (int64, error) { return 1, nil }
				a.read = func(id string) ([]byte, error) { hang(); return read(id) }
			default:
				a.start = time.Minute
				a.write = func(*archived) error { hang(); return nil }
			}
			ctx, cancel := context.WithCancel(context.Background())
			ended := make(chan error, 1)
			go func() { ended <- p.Run(ctx) }()
			p.served()
			timebox.Wait(t, hangs)
			cancel()
			select {
			case err := <-ended:
				if err != nil {
					t.Errorf("Run: %v", err)
				}
			case <-time.After(20 * time.Second):
				t.Error("the gateway does not end")
			}
			if got := p.log.String(); !strings.Contains(got, tt.warning) {
				t.Errorf("log: %s", got)
			}
			close(awake)
		})
	}
}

// TestArchivePanics: a panic at the disk costs one document, and no process; what it had not come to is written, and nothing goes on to count as being
// written.
func TestArchivePanics(t *testing.T) {
	dir := t.TempDir()
	text := "server: {state_dir: " + dir + "}\napis: [{spec: a.yaml, name: a, base_url: 'http://127.0.0.1:1'}]\n"
	p := starting(t, text, func(g *Gateway) {
		g.archive.read = func(string) ([]byte, error) { panic("read") }
		g.archive.size = func(string) (int64, error) { return 1, nil }
	})
	p.eventually("it was tried", func() bool {
		return strings.Contains(p.log.String(), "the document that was kept can't be used") && strings.Contains(p.log.String(), "panic in the background")
	})
	p.write(map[string]string{"a.yaml": document("A", "one")})
	p.eventually("it is served", func() bool { return p.Status().Tools == 1 })
	p.end()

	a := p.archive
	a.waiting = map[string]*archived{}
	for _, id := range []string{"one", "two", "three"} {
		a.put(&archived{head: archiveHead{ID: id}, copy: copyOfOne("http://a.example/x", "text")})
	}
	written := 0
	a.write = func(*archived) error {
		if written++; written == 1 {
			panic("write")
		}
		return nil
	}
	if !p.survive("it is written", a.writeAll) || written != 1 {
		t.Errorf("no panic, %d written", written)
	}
	a.writeAll()
	if n := a.held(); written != 3 || n != 0 {
		t.Errorf("%d written, %d bytes wait or are written", written, n)
	}
}

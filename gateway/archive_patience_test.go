package gateway

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drawbridge/config"
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
				<-awake
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
			<-hangs
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

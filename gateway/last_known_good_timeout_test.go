package gateway_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drawbridge/config"
	"drawbridge/gateway"
	"drawbridge/gateway/diskcache"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/logbuffer"
	"drawbridge/test/timebox"
)

// TestStateDirThatHangs: a network file system that hangs keeps no API from being served, and no process from ending.
func TestStateDirThatHangs(t *testing.T) {
	for _, tt := range []struct {
		name    string // what hangs
		warning string
	}{
		{"looking", "it can't be read within 1s; server.state_dir seems to hang"},
		{"reading", "it can't be read within 1s; server.state_dir seems to hang"},
		{"writing", "documents may not be stored: server.state_dir does not respond"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &process{Running: &gatewaytest.Running{T: t, Dir: t.TempDir()}, log: &logbuffer.Buffer{}}
			p.Write(map[string]string{
				"drawbridge.yaml": "server: {state_dir: state}\napis: [{spec: a.yaml, name: a, base_url: 'http://127.0.0.1:1'}]\n",
				"a.yaml":          gatewaytest.Document("A", "one"),
			})
			c, problems := config.Load(filepath.Join(p.Dir, "drawbridge.yaml"), func(string) string { return "" })
			if c == nil {
				t.Fatal(problems.Err())
			}
			hangs, awake := make(chan struct{}, 1), make(chan struct{})
			hang := func() {
				hangs <- struct{}{}
				timebox.Wait(t, awake)
			}
			var err error
			if p.Gateway, err = gateway.New(gateway.Options{Config: c, Logger: slog.New(slog.NewTextHandler(p.log, nil)), Test: gateway.TestOptions{Store: func(o *diskcache.Options) {
				// Only the access that hangs may run into its time limit, also on a busy machine.
				o.ReadTimeout, o.EndTimeout = time.Second, time.Minute
				if tt.name == "writing" {
					o.ReadTimeout, o.EndTimeout = time.Minute, 10*time.Millisecond
				}
				o.WrapDisk = func(d diskcache.Disk) diskcache.Disk {
					switch read, size := d.Read, d.Size; tt.name {
					case "looking":
						d.Size = func(id string) (int64, error) { hang(); return size(id) }
					case "reading":
						d.Size = func(string) (int64, error) { return 1, nil }
						d.Read = func(id string) ([]byte, error) { hang(); return read(id) }
					default:
						d.Write = func(*diskcache.Document) error { hang(); return nil }
					}
					return d
				}
			}}}); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			ended := make(chan error, 1)
			go func() { ended <- p.Run(ctx) }()
			p.Served()
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

// TestArchivePanics holds that a panic at the disk costs one document, and no process.
func TestArchivePanics(t *testing.T) {
	dir := t.TempDir()
	text := "server: {state_dir: " + dir + "}\napis: [{spec: a.yaml, name: a, base_url: 'http://127.0.0.1:1'}]\n"
	p := startingOn(t, text, gateway.Options{Test: gateway.TestOptions{Store: func(o *diskcache.Options) {
		o.WrapDisk = func(d diskcache.Disk) diskcache.Disk {
			d.Read = func(string) ([]byte, error) { panic("read") }
			d.Size = func(string) (int64, error) { return 1, nil }
			return d
		}
	}}}, func(*gateway.Gateway) {})
	p.Eventually("it was tried", func() bool {
		return strings.Contains(p.log.String(), "the stored document can't be used") && strings.Contains(p.log.String(), "panic in the background")
	})
	p.Write(map[string]string{"a.yaml": gatewaytest.Document("A", "one")})
	p.Eventually("it is served", func() bool { return p.Status().Tools == 1 })
	p.end()
}

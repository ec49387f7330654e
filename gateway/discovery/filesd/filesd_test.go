package filesd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
	"drawbridge/test/timebox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A file that changes, comes, is broken and goes is followed.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		temp := filepath.Join(dir, name+".tmp")
		if err := os.WriteFile(temp, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(temp, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	group := func(name string) string {
		return fmt.Sprintf(`[{"targets": ["10.0.0.1:80"], "labels": {"job": %q}}]`, name)
	}
	write("a.json", group("a"))
	p := New(&config.FileDiscovery{Paths: []config.File{config.File(filepath.Join(dir, "*.json")), config.File(filepath.Join(dir, "more.yaml"))}})
	updates := make(chan string)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Run(ctx, func(targets []discovery.Target, err error) {
			var text strings.Builder
			for i := range targets {
				fmt.Fprintf(&text, "%s ", targets[i].Name)
			}
			if err != nil {
				text.WriteString("error ")
			}
			select {
			case updates <- text.String():
			case <-ctx.Done():
			}
		})
	}()
	defer func() { cancel(); timebox.Wait(t, done) }()
	await := func(want string) {
		t.Helper()
		end := time.After(time.Minute)
		for {
			select {
			case got := <-updates:
				if got == want {
					return
				}
			case <-end:
				t.Fatalf("%q did not come", want)
			}
		}
	}
	await("a error ") // more.yaml is not there
	write("more.yaml", "- {targets: [10.0.0.2:80], labels: {job: m}}\n")
	await("a m ")
	write("b.json", group("b"))
	await("a b m ")
	write("b.json", `[{"targets": [`)
	await("a b m error ")
	write("a.json", group("a2"))
	await("a2 b m error ")
	if err := os.Remove(filepath.Join(dir, "b.json")); err != nil {
		t.Fatal(err)
	}
	await("a2 m ")
}

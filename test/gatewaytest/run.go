package gatewaytest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drawbridge/config"
	"drawbridge/gateway"
	"drawbridge/gateway/admin"
	"drawbridge/test/timebox"
)

// Document returns an OpenAPI document with one operation for each name.
func Document(title string, operations ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "openapi: 3.1.0\ninfo: {title: %s, version: '1'}\nservers: [{url: 'http://127.0.0.1:1'}, {url: /}]\npaths:\n", title)
	for _, op := range operations {
		fmt.Fprintf(&b, "  /%s: {get: {operationId: %s, responses: {'200': {description: ok, content: {application/json: {schema: {type: object}}}}}}}\n", op, op)
	}
	return b.String()
}

// Running is a gateway under Run whose configuration and documents stand in a directory.
type Running struct {
	*gateway.Gateway
	T    *testing.T
	Dir  string
	Gone chan struct{} // closed when Run has returned
}

// Run writes the files and runs a gateway on drawbridge.yaml until the test ends.
func Run(t *testing.T, files map[string]string) *Running {
	t.Helper()
	return RunWith(t, files, gateway.Options{})
}

// RunWith is run with other options; those of the configuration are filled in.
func RunWith(t *testing.T, files map[string]string, o gateway.Options) *Running {
	t.Helper()
	r := &Running{T: t, Dir: t.TempDir(), Gone: make(chan struct{})}
	r.Write(files)
	load := func(kept *config.Kept) (*config.Config, error) {
		c, problems := config.LoadWith(filepath.Join(r.Dir, "drawbridge.yaml"), func(string) string { return "" }, config.LoadOptions{Kept: kept})
		return c, problems.Err()
	}
	c, err := load(nil)
	if err != nil {
		t.Fatal(err)
	}
	o.Config, o.LoadConfig = c, load
	if r.Gateway, err = gateway.New(o); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		defer close(r.Gone)
		ended <- r.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		if err := timebox.Receive(t, ended); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return r
}

func (r *Running) Write(files map[string]string) {
	r.T.Helper()
	for name, text := range files {
		// Written beside and moved, as editors and deployments do: a reader never sees half a file.
		path := filepath.Join(r.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			r.T.Fatal(err)
		}
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			r.T.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			r.T.Fatal(err)
		}
	}
}

// Served waits until the gateway serves.
func (r *Running) Served() {
	r.T.Helper()
	select {
	case <-r.Serving():
	case <-r.Gone:
		r.T.Fatal("Run ended before anything was served")
	case <-time.After(time.Minute):
		r.T.Fatal("nothing is served after a minute")
	}
}

// Eventually waits for a condition that another goroutine brings about; the test's own deadline bounds it.
func (r *Running) Eventually(what string, ok func() bool) {
	r.T.Helper()
	r.Within(20*time.Second, what, ok)
}

// Within is eventually with another time on the clock.
func (r *Running) Within(limit time.Duration, what string, ok func() bool) {
	r.T.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	timeout := time.After(limit)
	for !ok() {
		select {
		case <-tick.C:
		case <-timeout:
			r.T.Fatalf("%s: %+v", what, r.Status())
		}
	}
}

// Tools returns the names of the tools.
func (r *Running) Tools() []string {
	var names []string
	for _, p := range r.Plans() {
		names = append(names, p.Tool.Name)
	}
	return names
}

// State returns the state of an API.
func (r *Running) State(api int) admin.API { return r.Status().APIs[api] }

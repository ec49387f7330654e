package deploy

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drawbridge/test/timebox"
)

const haproxyFile = "../../deploy/haproxy/haproxy.cfg"

// TestHAProxy has HAProxy check its configuration.
func TestHAProxy(t *testing.T) {
	text, ok := output(t, nil, tool(t, "HAPROXY"), "-c", "-f", haproxyFile)
	if !ok || strings.Contains(text, "deprecated") {
		t.Error(text)
	}
}

// TestHAProxyHeaders: what the gateway takes as headers (limits.max_header), HAProxy lets pass: tokens of some issuers are long.
func TestHAProxyHeaders(t *testing.T) {
	got := make(chan int, 1)
	behind := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- len(r.Header.Get("Authorization")) }))
	defer behind.Close()
	example, err := os.ReadFile(haproxyFile)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	front, _, found := strings.Cut(string(example), "\nfrontend health\n")
	here := strings.NewReplacer("bind :8080\n", "bind unix@"+socket+"\n", "maxconn 20000", "maxconn 100").Replace(front)
	if !found || !strings.Contains(here, socket) {
		t.Fatalf("%s has no frontend that can be had by itself", haproxyFile)
	}
	file := write(t, dir, "haproxy.cfg", fmt.Sprintf("%s\nbackend gateways\n    server one %s\n", here, behind.Listener.Addr()))
	c := exec.CommandContext(t.Context(), tool(t, "HAPROXY"), "-db", "-f", file)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Process.Kill(); _ = timebox.Result(t, c.Wait) }()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		conn, err := dial(t.Context(), "", "")
		if err == nil {
			_ = conn.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	client := &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
	for _, n := range []int{100, 16 << 10, 31 << 10} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://mcp.example.com/mcp", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", strings.Repeat("x", n))
		resp, err := client.Do(r)
		if err != nil {
			t.Fatalf("a token of %d bytes: %v", n, err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("a token of %d bytes: %s", n, resp.Status)
			continue
		}
		if had := timebox.Receive(t, got); had != n {
			t.Errorf("a token of %d bytes came with %d", n, had)
		}
	}
}

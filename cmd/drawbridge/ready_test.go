package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"drawbridge/config"
)

// TestReady asks a gateway that is ready, one that is not, and none.
func TestReady(t *testing.T) {
	s := serve(t, map[string]string{
		"drawbridge.yaml": `{server: {listen: "127.0.0.1:0"}, admin: {listen: "127.0.0.1:0"}, apis: [{spec: openapi.yaml}]}`, "openapi.yaml": servedDocument,
	})
	s.awaitReady()
	s.write(map[string]string{"here.yaml": fmt.Sprintf(`{admin: {listen: %q}, apis: [{spec: openapi.yaml}]}`, strings.TrimPrefix(s.admin, "http://"))})
	asked := func(want int, text string, args ...string) {
		t.Helper()
		var out, errs bytes.Buffer
		got := run(t.Context(), append([]string{"ready", "--config", filepath.Join(s.dir, "here.yaml")}, args...), func(string) string { return "" }, &out, &errs, nil)
		if got != want || !strings.Contains(out.String()+errs.String(), text) {
			t.Errorf("exit code %d, want %d: %s%s", got, want, &out, &errs)
		}
	}
	asked(exitOK, "OK\n")
	asked(exitOK, "OK\n", "--alive")
	asked(exitUsage, `unexpected argument "now"`, "now")

	// The file has become bad since, or is another one: the gateway is as ready as before.
	address := strings.TrimPrefix(s.admin, "http://")
	good := filepath.Join(s.dir, "here.yaml")
	s.write(map[string]string{"here.yaml": fmt.Sprintf(`{admin: {listen: %q, token: "${MISSING}"}, server: {listn: 1}, apis: []}`, address)})
	asked(exitOK, "OK\n")
	s.write(map[string]string{"here.yaml": "admin: {listen: "})
	asked(exitOK, "OK\n", "--address", address)
	if err := os.Remove(good); err != nil {
		t.Fatal(err)
	}
	asked(exitOK, "OK\n", "--address", address, "--alive")
	asked(exitUsage, `--address must be host:port, got "here"`, "--address", "here")
	asked(exitUsage, `unexpected argument "now"`, "--address", address, "now")
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	s.write(map[string]string{"here.yaml": fmt.Sprintf(`{admin: {listen: %q}, apis: [{spec: openapi.yaml}]}`, closed.Addr())})
	asked(exitFail, "connection refused; if admin.listen was changed since the gateway was started, give the earlier one with --address\n")
	s.write(map[string]string{"here.yaml": fmt.Sprintf(`{admin: {listen: %q}, apis: []}`, closed.Addr())})
	asked(exitUsage, "here.yaml:1:")
	asked(exitUsage, "connection refused; if the gateway runs with an earlier configuration, give its admin.listen with --address\n")
	s.write(map[string]string{"here.yaml": fmt.Sprintf(`{admin: {listen: %q}, apis: [{spec: openapi.yaml}]}`, address)})

	s.signals <- syscall.SIGTERM // which is told at once, and serves on for a while
	s.await("draining", 1)
	asked(exitFail, "Service Unavailable\n")
	asked(exitOK, "OK\n", "--alive")

	s.signals <- syscall.SIGTERM
	s.exited()
	asked(exitFail, "drawbridge: ask the gateway: ")
}

// TestProbeAll: a name is ready if the gateways at all of its addresses are, and they are asked by address.
func TestProbeAll(t *testing.T) {
	serveStatus := func(address string, status int) *httptest.Server {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if host, _, _ := net.SplitHostPort(r.Host); net.ParseIP(host) == nil {
				http.Error(w, "not by name", http.StatusForbidden)
				return
			}
			w.WriteHeader(status)
		}))
		var err error
		if s.Listener, err = (&net.ListenConfig{}).Listen(t.Context(), "tcp", address); err != nil {
			t.Fatal(err)
		}
		s.Start()
		t.Cleanup(s.Close)
		return s
	}
	first := serveStatus("127.0.0.1:0", http.StatusOK)
	port := strconv.Itoa(first.Listener.Addr().(*net.TCPAddr).Port)
	serveStatus("127.0.0.2:"+port, http.StatusOK)
	serveStatus("127.0.0.3:"+port, http.StatusServiceUnavailable)
	for _, c := range []struct {
		addresses []string
		want      string
	}{
		{[]string{"127.0.0.1", "127.0.0.2"}, "OK"},
		{[]string{"127.0.0.1", "127.0.0.3", "127.0.0.2"}, "Service Unavailable"},
		{nil, "ask the gateway: unknown"},
	} {
		status, err := probeAll(t.Context(), config.Address("mcp-metrics:"+port), "/readyz", func(_ context.Context, host string) ([]string, error) {
			if host != "mcp-metrics" || c.addresses == nil {
				return nil, errors.New("unknown")
			}
			return c.addresses, nil
		})
		if err != nil {
			status = err.Error()
		}
		if status != c.want {
			t.Errorf("%q: %s, want %s", c.addresses, status, c.want)
		}
	}
}

func TestLocal(t *testing.T) {
	for listen, want := range map[string]string{
		"0.0.0.0:9090": "localhost:9090", "[::]:9090": "localhost:9090", ":9090": "localhost:9090",
		"127.0.0.1:9090": "127.0.0.1:9090", "10.1.2.3:80": "10.1.2.3:80", "gw.internal:80": "gw.internal:80",
	} {
		if got := local(config.Address(listen)); got != want {
			t.Errorf("%s: %s, want %s", listen, got, want)
		}
	}
}

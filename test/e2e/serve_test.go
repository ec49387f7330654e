package e2e

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"drawbridge/test/process"
	"drawbridge/test/timebox"
)

// TestServe takes a gateway through the life of a process: it starts, reloads at SIGHUP, refuses to share its port,
// finishes a call that runs when SIGTERM comes, and exits with 0.
func TestServe(t *testing.T) {
	program := process.BuildGateway(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	arrived, release := make(chan struct{}), make(chan struct{})
	var operation atomic.Pointer[string]
	name := func(text string) { operation.Store(&text) }
	name("first")
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/openapi.yaml" {
			_, _ = fmt.Fprintf(w, "openapi: 3.1.0\ninfo: {title: Things, version: '1'}\nservers: [{url: /}]\n"+
				"paths: {/thing: {get: {operationId: %s, responses: {'200': {description: ok}}}}}\n", *operation.Load())
			return
		}
		close(arrived)
		<-release
		_, _ = io.WriteString(w, "done")
	}))
	defer service.Close()
	listen, admin := address(t), address(t)
	file := filepath.Join(t.TempDir(), "drawbridge.yaml")
	if err := os.WriteFile(file, []byte(fmt.Sprintf(`server: {listen: %q, shutdown_delay: 50ms}
admin: {listen: %q}
apis: [{spec: "%s/openapi.yaml", refresh: 0s}]
`, listen, admin, service.URL)), 0o600); err != nil {
		t.Fatal(err)
	}
	gateway, err := process.Start(context.WithoutCancel(ctx), program, "serve", "--config", file)
	if err != nil {
		t.Fatal(err)
	}
	stopped := false
	defer func() {
		if !stopped {
			_ = gateway.Stop()
		}
		if t.Failed() {
			t.Logf("the gateway's last words:\n%s", gateway.Log())
		}
	}()
	await := func(tool string) {
		t.Helper()
		if err := gateway.Await(ctx, func(ctx context.Context) error {
			status, body, err := rpc(ctx, listen, "tools/list", "")
			if err == nil && (status != http.StatusOK || !strings.Contains(body, `"name":"`+tool+`"`)) {
				err = fmt.Errorf("tools/list = %d %s", status, body)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	await("first")

	second, err := process.Start(ctx, program, "serve", "--config", file)
	if err != nil {
		t.Fatal(err)
	}
	timebox.Wait(t, second.Exited())
	if want := "drawbridge: server.listen: listen tcp " + listen + ": bind: address already in use\n"; second.Log() != want {
		t.Errorf("a second gateway says %q, want %q", second.Log(), want)
	}

	name("second")
	if err := syscall.Kill(gateway.PID(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	await("second")

	called := make(chan error, 1)
	go func() {
		status, body, err := rpc(ctx, listen, "tools/call", "second")
		if err == nil && (status != http.StatusOK || !strings.Contains(body, `"text":"done"`)) {
			err = fmt.Errorf("tools/call = %d %s", status, body)
		}
		called <- err
	}()
	timebox.Wait(t, arrived)
	exited := make(chan error, 1)
	stopped = true
	go func() { exited <- gateway.Stop() }()
	if err := gateway.Await(ctx, func(context.Context) error { // until it listens no more
		if _, _, err := rpc(ctx, listen, "tools/list", ""); !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, syscall.ECONNRESET) {
			return errors.Join(errors.New("still listening"), err)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	close(release)
	if err := timebox.Receive(t, called); err != nil {
		t.Errorf("the call that was running: %v", err)
	}
	if err := timebox.Receive(t, exited); err != nil {
		t.Errorf("exit: %v", err)
	}
}

func address(t *testing.T) string {
	t.Helper()
	a, err := process.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// rpc sends one request of the newest revision.
func rpc(ctx context.Context, address, method, tool string) (status int, body string, err error) {
	params := ""
	if tool != "" {
		params = fmt.Sprintf(`"name":%q,"arguments":{},`, tool)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/mcp", strings.NewReader(fmt.Sprintf(
		`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		method, params)))
	if err != nil {
		return 0, "", err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method,
	} {
		r.Header.Set(name, value)
	}
	if tool != "" {
		r.Header.Set("Mcp-Name", tool)
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data), err
}

// TestLogReaderGone closes the pipe that the log is written to, as a collector does that is started anew. The gateway goes
// on; by default the system would end it at its next word.
func TestLogReaderGone(t *testing.T) {
	program := process.BuildGateway(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	listen, admin := address(t), address(t)
	file := filepath.Join(t.TempDir(), "drawbridge.yaml")
	if err := os.WriteFile(file, []byte(fmt.Sprintf(`server: {listen: %q, shutdown_delay: 0s}
admin: {listen: %q}
apis: [{spec: none.yaml}]
`, listen, admin)), 0o600); err != nil {
		t.Fatal(err)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	gateway := exec.CommandContext(ctx, program, "serve", "--config", file)
	gateway.Stderr = writer
	if err := gateway.Start(); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	defer gateway.Process.Kill()
	for lines := bufio.NewScanner(reader); lines.Scan() && !strings.Contains(lines.Text(), "document can't be used"); {
	}
	reader.Close()
	if err := gateway.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	reloads := func() string {
		resp, err := http.Get("http://" + admin + "/metrics")
		if err != nil {
			t.Fatalf("the gateway is gone: %v, %v", err, timebox.Result(t, gateway.Wait))
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for !strings.Contains(reloads(), `drawbridge_config_reloads_total{outcome="ok"} 1`) { // it is logged before it is counted
		if ctx.Err() != nil {
			t.Fatal("no reload")
		}
	}
	if err := gateway.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := timebox.Result(t, gateway.Wait); err != nil {
		t.Errorf("exit: %v", err)
	}
}

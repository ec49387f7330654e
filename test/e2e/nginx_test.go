package e2e

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"drawbridge/test/process"
	"drawbridge/test/timebox"
)

// TestBehindNginx puts a real nginx, with the configuration of deploy/nginx, in front of two gateways that speak HTTP in
// clear: official clients of each revision, sessions that wander between the replicas, the caller's address, forged
// headers, and a replica that is gone. `make proxy-e2e` installs nginx and runs it.
func TestBehindNginx(t *testing.T) {
	nginx := os.Getenv("E2E_NGINX")
	if nginx == "" {
		t.Skip("E2E_NGINX does not name an nginx; make proxy-e2e installs one and runs this test")
	}
	program := process.BuildGateway(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	service, ca := newThings(t), newAuthority(t)
	const resource = "https://mcp.example.com/mcp"
	keys := `shutdown_delay: 0s, public_url: "https://mcp.example.com", seal_keys: ["${KEY:-the-same-key-for-all-of-the-replicas}"], trusted_proxies: [127.0.0.1]`
	first, second := address(t), address(t)
	gateway, _ := service.serve(ctx, t, program, first, keys)
	other, _ := service.serve(ctx, t, program, second, keys)
	front := startNginx(ctx, t, nginx, ca, first, second)
	token := service.token(t, resource)

	// The name leads to nginx, as DNS would have it; the caller has an address of its own.
	transport := func() *http.Transport {
		dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
		tr := &http.Transport{TLSClientConfig: ca.trust(), ForceAttemptHTTP2: true,
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return dialer.DialContext(ctx, network, front)
			}}
		t.Cleanup(tr.CloseIdleConnections)
		return tr
	}

	for _, revision := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		session := connect(ctx, t, resource, revision, bearer{token, transport()})
		for n := range 6 { // by turns to each replica, which know nothing of each other's sessions
			if err := getThing(ctx, session, fmt.Sprint(revision, n)); err != nil {
				t.Errorf("%s: %v", revision, err)
			}
		}
	}
	for name, g := range map[string]*process.Child{"first": gateway, "second": other} {
		if !strings.Contains(g.Log(), `"method":"tools/call"`) {
			t.Errorf("the %s replica got no call: %s", name, g.Log())
		}
		// Whose address it is: nginx has overwritten what the caller says of itself, see below.
		if !strings.Contains(g.Log(), `"msg":"request","client":"127.0.0.2"`) || strings.Contains(g.Log(), `"client":"127.0.0.1"`) {
			t.Errorf("the %s replica does not know the caller's address: %s", name, g.Log())
		}
	}

	send := func(header http.Header) (*http.Response, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, resource, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		for k, v := range header {
			r.Header[k] = v
		}
		if host := header.Get("Host"); host != "" {
			r.Host = host
			r.Header.Del("Host")
		}
		resp, err := transport().RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp, string(body)
	}
	// Without a token the challenge names the public URL, whatever a caller writes about it.
	resp, _ := send(http.Header{"X-Forwarded-Host": {"evil.example"}, "X-Forwarded-Proto": {"http"}, "Forwarded": {"host=evil.example"}})
	if want := `Bearer scope="mcp:tools", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"`; resp.StatusCode != 401 || resp.Header.Get("WWW-Authenticate") != want {
		t.Errorf("no token: %s %v", resp.Status, resp.Header)
	}
	if resp.Header.Get("Strict-Transport-Security") == "" || resp.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("no security headers: %v", resp.Header)
	}
	// A foreign Host gets to the gateway as it is, and is refused there.
	if resp, body := send(http.Header{"Host": {"evil.example"}, "X-Forwarded-Host": {"mcp.example.com"}}); resp.StatusCode != 403 || !strings.Contains(body, "the Host of this request is not served here") {
		t.Errorf("a foreign Host: %s %s", resp.Status, body)
	}
	// Forged addresses are overwritten.
	send(http.Header{"Authorization": {"Bearer " + token}, "X-Forwarded-For": {"1.1.1.1"}, "Forwarded": {"for=1.1.1.1"}})
	if log := gateway.Log() + other.Log(); strings.Contains(log, "1.1.1.1") {
		t.Errorf("a forged address was believed: %s", log)
	}
	// A token of the largest size that is read gets through to its refusal.
	if resp, body := send(http.Header{"Authorization": {"Bearer " + strings.Repeat("a", 16<<10)}}); resp.StatusCode != 401 {
		t.Errorf("a long token: %s %s", resp.Status, body)
	}

	// An event goes out when it is there, though the connection stays open.
	stream := openStream(ctx, t, transport(), resource, token)
	timebox.Wait(t, service.arrived)
	close(service.release)
	if event := timebox.Receive(t, stream); !strings.Contains(event, `{\"id\":\"held\"}`) {
		t.Errorf("the stream ended with %q", event)
	}

	// A replica that is gone is passed over.
	session := connect(ctx, t, resource, "2025-11-25", bearer{token, transport()})
	if err := syscall.Kill(other.PID(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	timebox.Wait(t, other.Exited())
	for n := range 10 {
		if err := getThing(ctx, session, fmt.Sprint("passed-over-", n)); err != nil {
			t.Errorf("with one replica: %v", err)
		}
	}
}

// startNginx starts nginx with the example of deploy/nginx, in which only names and places are others. It returns the
// address.
func startNginx(ctx context.Context, t *testing.T, nginx string, ca *authority, gateways ...string) string {
	t.Helper()
	example, err := os.ReadFile("../../deploy/nginx/drawbridge.conf")
	if err != nil {
		t.Fatal(err)
	}
	dir, front := t.TempDir(), address(t)
	certFile, keyFile := ca.issue(t, dir, 300)
	text := string(example)
	for was, is := range map[string]string{
		"listen 443 ssl;":                        "listen " + front + " ssl;",
		"server 10.0.0.11:8080 fail_timeout=2s;": "server " + gateways[0] + " fail_timeout=2s;",
		"server 10.0.0.12:8080 fail_timeout=2s;": "server " + gateways[1] + " fail_timeout=2s;",
		"server 10.0.0.11:8080 max_fails=0;":     "server " + gateways[0] + " max_fails=0;",
		"server 10.0.0.12:8080 max_fails=0;":     "server " + gateways[1] + " max_fails=0;",
		"/etc/nginx/tls/mcp.example.com.pem;":    certFile + ";",
		"/etc/nginx/tls/mcp.example.com.key;":    keyFile + ";",
		"    location / {\n":                     "    proxy_bind 127.0.0.1;\n    location / {\n",
	} {
		if strings.Count(text, was) != 1 {
			t.Fatalf("deploy/nginx/drawbridge.conf has no, or more than one, %q", was)
		}
		text = strings.Replace(text, was, is, 1)
	}
	if text, err = process.ForNginx(ctx, nginx, text); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(process.NginxConfig(dir, text)), 0o600); err != nil {
		t.Fatal(err)
	}
	proxy, err := process.Start(context.WithoutCancel(ctx), nginx, "-p", dir, "-e", "stderr", "-c", file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := proxy.Stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("nginx's last words:\n%s", proxy.Log())
		}
	})
	if err := proxy.Await(ctx, func(context.Context) error {
		conn, err := net.Dial("tcp", front)
		if err == nil {
			conn.Close()
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return front
}

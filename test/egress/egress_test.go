package egress

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"drawbridge/test/process"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	gatewayAddress = "127.0.0.1:8080"
	adminAddress   = "127.0.0.1:9090"
)

// run is one gateway behind one proxy.
type run struct {
	t     *testing.T
	hub   *hub
	proxy proxied
	child *process.Child
	since int // length of the proxy's log before
}

// TestProxies is the table of `make proxy-egress`, one row for each proxy, with names that the gateway resolves and names that the proxy
// resolves. In a cell is the number of requests of the kind that came through the proxy.
func TestProxies(t *testing.T) {
	dir := os.Getenv("EGRESS_WORK")
	if dir == "" {
		t.Skip("make proxy-egress runs this test in a network namespace")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	state := filepath.Join(dir, "proxies")
	if err := os.Mkdir(state, 0o777); err != nil { //nolint:gosec // squid writes there as a user of its own
		t.Fatal(err)
	}
	if err := os.Chmod(state, 0o777); err != nil { //nolint:gosec // as above
		t.Fatal(err)
	}
	h := newHub(t, state)
	t.Setenv("SSL_CERT_FILE", filepath.Join(state, "ca.pem"))
	t.Setenv("PROXY_PASSWORD", proxyPassword)
	proxies := startProxies(ctx, t, state)
	kinds := []string{"http://api", "https://api", "https://docs", "https://issuer", "https://jwt", "https://keys", "https://as", "https://otel", "https://caller"}
	table := []string{fmt.Sprintf("%-28s %-8s %s", "proxy", "names", strings.Join(kinds, "  ")+"  | asked for | forbidden, direct, leaked")}
	for _, p := range proxies {
		for _, resolve := range []string{"gateway", "proxy"} {
			r := begin(ctx, t, dir, h, p, allowed(p, resolve, proxyPassword))
			r.calls("clear_get", `"done":true`, "opaque-token", h.token(t, "https://jwt.example.net"))
			r.calls("secure_get", `"token":true`, "opaque-token")
			r.webhook("secure_start", "opaque-token")
			requests, bad, targets := r.end()
			cells := []string{}
			for _, kind := range kinds {
				n := requests[kind+".example.net"]
				cells = append(cells, fmt.Sprintf("%*d", len(kind), n))
				if n == 0 {
					t.Errorf("%s, %s: nothing came to %s", p.name, resolve, kind)
				}
			}
			for target := range targets {
				if byAddress := target == "93.184.216.34:443" || target == "93.184.216.34:80"; resolve == "gateway" && !byAddress {
					t.Errorf("%s: asked for %s", p.name, target)
				}
			}
			table = append(table, fmt.Sprintf("%-28s %-8s %s  | %9d | %d", p.name, resolve, strings.Join(cells, "  "), len(targets), bad))
		}
	}
	table = append(table, "", "services, documents and issuers that no proxy may be asked for:")
	for _, p := range proxies {
		table = append(table, forbidden(ctx, t, dir, h, p), wrongPassword(ctx, t, dir, h, p))
	}
	table = append(table, "", unchecked(ctx, t, dir, h, proxies[0]))
	t.Log("\n" + strings.Join(table, "\n"))
}

// forbidden has the gateway call what leads to a metadata service or to a private address that nobody named.
func forbidden(ctx context.Context, t *testing.T, dir string, h *hub, p proxied) string {
	r := begin(ctx, t, dir, h, p, fmt.Sprintf(`
proxy: %s
auth: {default_scopes: [read], issuers: [
  {issuer: "https://jwt.example.net/evil"},
  {issuer: "https://issuer.example.net", tokens: opaque, introspection: {client_id: g, client_secret: "${PROXY_PASSWORD}"}}]}
apis:
  - {spec: "https://docs.example.net/a.yaml", name: service, base_url: "https://meta.example.net", retries: off}
  - {spec: "https://docs.example.net/b.yaml", name: two, base_url: "https://two.example.net", retries: off}
  - {spec: "https://meta.example.net/c.yaml", name: document}
  - {spec: "https://docs.example.net/refs.yaml", name: references, allow_refs: ["https://meta.example.net"], base_url: "https://api.example.net"}
  - spec: "https://docs.example.net/e.yaml"
    name: token
    base_url: "https://api.example.net"
    credential: {type: client_credentials, token_url: "https://meta.example.net/token", client_id: g, client_secret: "${PROXY_PASSWORD}"}
telemetry: {otlp_endpoint: "https://meta.example.net"}
server: {listen: "127.0.0.1:8080", shutdown_delay: 0s}
`, p.mapping("gateway", proxyPassword)))
	r.calls("service_get", "stands at an address that the gateway does not call", "opaque-token")
	r.calls("token_get", "Nothing was sent to the service", "opaque-token")
	r.calls("two_get", `"done":true`, "opaque-token")
	if status, answer := r.call("two_get", h.token(t, "https://jwt.example.net/evil")); status == http.StatusOK {
		t.Errorf("%s: keys from a private address were used: %s", p.name, answer)
	}
	requests, bad, targets := r.end()
	for target := range targets {
		if target != "93.184.216.34:443" {
			t.Errorf("%s: asked for %s", p.name, target)
		}
	}
	return fmt.Sprintf("%-28s asked for %v, %d requests to allowed services, %d forbidden dials", p.name, slices.Sorted(maps.Keys(targets)), total(requests), bad)
}

// unchecked shows what resolve: proxy loses, and that the hub sees what should not be: a name that leads to a metadata service is called.
func unchecked(ctx context.Context, t *testing.T, dir string, h *hub, p proxied) string {
	r := begin(ctx, t, dir, h, p, fmt.Sprintf("\nproxy: %s\napis: [{spec: a.yaml, name: service, base_url: 'http://meta.example.net', retries: off}]\n", p.mapping("proxy", proxyPassword)))
	r.call("get", "")
	if err := r.child.Stop(); err != nil {
		t.Error(err)
	}
	saw := h.take()
	if len(saw.forbidden) == 0 || saw.requests["http://meta.example.net"] == 0 {
		t.Errorf("%s: with resolve: proxy nothing came to the metadata service: the test sees nothing", p.name)
	}
	return fmt.Sprintf("%-28s with resolve: proxy and a name that leads to a metadata service: %d connections, as the documentation warns", p.name, len(saw.forbidden))
}

// wrongPassword has the proxy refuse the gateway, which the log and the model get to know as the proxy's fault.
func wrongPassword(ctx context.Context, t *testing.T, dir string, h *hub, p proxied) string {
	if !p.user {
		return fmt.Sprintf("%-28s needs no password", p.name)
	}
	document := filepath.Join(dir, "a.yaml")
	if err := os.WriteFile(document, []byte("openapi: 3.1.0\ninfo: {title: T, version: '1'}\npaths: {/x: {get: {operationId: get, responses: {'200': {description: ok}}}}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := begin(ctx, t, dir, h, p, fmt.Sprintf("\nproxy: %s\napis: [{spec: a.yaml, name: service, base_url: 'https://api.example.net', retries: off}]\n", p.mapping("gateway", "wrong-canary")))
	r.calls("get", "the proxy on the way to it gives no connection", "")
	_, bad, _ := r.end()
	log := r.child.Log()
	reason := "407 Proxy Authentication Required"
	switch {
	case strings.HasPrefix(p.url, "socks5"):
		reason = "username/password authentication failed"
	case strings.HasPrefix(p.name, "tinyproxy"): // as version 1.11 answers
		reason = "401 Unauthorized"
	}
	if !strings.Contains(log, reason) || !strings.Contains(log, `"outcome":"proxy"`) || strings.Contains(log, "wrong-canary") {
		t.Errorf("%s: %s", p.name, log)
	}
	return fmt.Sprintf("%-28s with a wrong password: outcome proxy, %d forbidden dials", p.name, bad)
}

// mapping returns the proxy for a configuration.
func (p *proxied) mapping(resolve, password string) string {
	m := "url: '" + p.url + "', resolve: " + resolve
	if p.user {
		if password == proxyPassword {
			password = "${PROXY_PASSWORD}"
		}
		m += ", user: " + proxyUser + ", password: '" + password + "'"
	}
	if strings.HasPrefix(p.url, "https:") {
		m += ", ca_file: proxies/ca.pem"
	}
	return "{" + m + "}"
}

// allowed is a configuration of everything that goes out, where it may go.
func allowed(p proxied, resolve, password string) string {
	return fmt.Sprintf(`
proxy: %s
auth: {default_scopes: [read], issuers: [
  {issuer: "https://jwt.example.net"},
  {issuer: "https://issuer.example.net", tokens: opaque, introspection: {client_id: g, client_secret: "${PROXY_PASSWORD}"}}]}
apis:
  - {spec: "https://docs.example.net/a.yaml", name: clear, base_url: "http://api.example.net"}
  - spec: "https://docs.example.net/b.yaml"
    name: secure
    base_url: "https://api.example.net"
    credential: {type: client_credentials, token_url: "https://as.example.net/token", client_id: g, client_secret: "${PROXY_PASSWORD}"}
tools: {callback_urls: ["https://caller.example.net"], callback_secret: "%s"}
telemetry: {otlp_endpoint: "https://otel.example.net"}
`, p.mapping(resolve, password), webhookSecret)
}

// begin starts a gateway.
func begin(ctx context.Context, t *testing.T, dir string, h *hub, p proxied, text string) *run {
	t.Helper()
	h.take()
	r := &run{t: t, hub: h, proxy: p, since: len(p.log())}
	file := filepath.Join(dir, "drawbridge.yaml")
	if !strings.Contains(text, "\nserver:") {
		text += "server: {listen: '" + gatewayAddress + "', shutdown_delay: 0s, ready: all}\n"
	}
	if err := os.WriteFile(file, []byte(text+"admin: {listen: '"+adminAddress+"'}\nlimits: {address_rate: off, principal_rate: off}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	child, err := process.Start(ctx, filepath.Join(dir, "drawbridge"), "serve", "--config", file, "--log-format", "json")
	if err != nil {
		t.Fatal(err)
	}
	r.child = child
	if err := child.AwaitGateway(ctx, adminAddress); err != nil {
		t.Fatalf("%s: %v\n%s", p.name, err, child.Log())
	}
	return r
}

// call calls a tool with a token.
func (r *run) call(tool, token string) (status int, answer string) {
	r.t.Helper()
	return r.callWith(tool, token, `"io.modelcontextprotocol/clientCapabilities":{}`)
}

// webhook begins a job with a tool, and waits for the webhook at its end.
func (r *run) webhook(tool, token string) {
	r.t.Helper()
	status, answer := r.callWith(tool, token, `"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}},"drawbridge/callbackUrl":"https://caller.example.net/done"`)
	if !strings.Contains(answer, `"taskId"`) {
		r.t.Fatalf("%s: %s: %d %s\n%s", r.proxy.name, tool, status, answer, r.child.Log())
	}
	select {
	case <-r.hub.webhooks:
	case <-time.After(time.Minute):
		r.t.Fatalf("%s: no webhook was delivered\n%s", r.proxy.name, r.child.Log())
	}
}

// callWith calls a tool with members of _meta.
func (r *run) callWith(tool, token, meta string) (status int, answer string) {
	r.t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",%s}}}`, tool, meta)
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, resource, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {tool}}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 30 * time.Second}
	resp, err := client.Do(req)
	if err != nil {
		r.t.Fatalf("%s: %v\n%s", r.proxy.name, err, r.child.Log())
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

// calls calls a tool with each of the tokens, the first as often as it takes until the document with it is read.
func (r *run) calls(tool, want string, tokens ...string) {
	r.t.Helper()
	for _, token := range tokens {
		status, answer := r.call(tool, token)
		for strings.Contains(answer, "nknown tool") && r.t.Context().Err() == nil {
			runtime.Gosched()
			status, answer = r.call(tool, token)
		}
		if !strings.Contains(strings.ReplaceAll(answer, `\"`, `"`), want) {
			r.t.Errorf("%s: %s: %d %s\n%s", r.proxy.name, tool, status, answer, r.child.Log())
		}
	}
}

// end ends the gateway and judges what came of it. bad is the number of connections, requests and secrets that should not be.
func (r *run) end() (requests map[string]int, bad int, targets map[string]int) {
	r.t.Helper()
	if err := r.child.Stop(); err != nil {
		r.t.Errorf("%s: %v", r.proxy.name, err)
	}
	if log := r.child.Log(); strings.Contains(log, proxyPassword) {
		r.t.Errorf("%s: the log has the password: %s", r.proxy.name, log)
		bad++
	}
	saw := r.hub.take()
	for what, list := range map[string][]string{"forbidden": saw.forbidden, "direct": saw.direct, "leaked": saw.leaked, "mismatch": saw.mismatch} {
		if len(list) > 0 {
			r.t.Errorf("%s: %s: %q", r.proxy.name, what, list)
		}
		bad += len(list)
	}
	targets = r.proxy.targets(r.since, saw.conns)
	for target := range targets {
		if !strings.HasPrefix(target, "93.184.216.34:") && !strings.Contains(target, ".example.net:") || strings.HasPrefix(target, "meta.") {
			bad++
		}
	}
	return saw.requests, bad, targets
}

func total(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"drawbridge/test/gatewaytest"
	"drawbridge/test/proxytest"
)

// TestProxyIsUsed: the document goes by one proxy, calls by another, and a reload gives calls a third.
// A proxy that fails is an outcome of its own in the metrics and is named in the log, without its password.
func TestProxyIsUsed(t *testing.T) {
	document := gatewaytest.Document("Shop", "list")
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "93.184.216.34" {
			_, _ = w.Write([]byte(document))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"done":true}`)
	}))
	defer service.Close()
	proxy := func(scheme string) *proxytest.Server {
		p := proxytest.New(t, scheme, nil)
		p.User, p.Password = "gateway", "canary-of-a-proxy"
		p.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, service.Listener.Addr().String())
		}
		return p
	}
	documents, calls, later, broken := proxy("http"), proxy("socks5"), proxy("http"), proxy("http")
	broken.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no") }
	cfg := func(calls *proxytest.Server) string {
		mapping := func(p *proxytest.Server) string {
			return fmt.Sprintf("{url: '%s://%s', user: gateway, password: %s}", p.Scheme, p.Address, p.Password)
		}
		return fmt.Sprintf("proxy: %s\nlimits: {address_rate: off, principal_rate: off}\n"+
			"apis: [{spec: 'http://93.184.216.34/a.yaml', name: shop, base_url: 'http://93.184.216.35', refresh: 0s, retries: off, proxy: %s, spec_proxy: %s}]\n",
			mapping(broken), mapping(calls), mapping(documents))
	}
	p := started(t, cfg(calls))
	p.Served()
	call := func() string {
		_, answer := gatewaytest.Ask(t, p.Handler(), gatewaytest.Eras[0], "tools/call", "list", `"name":"list","arguments":{}`)
		return string(answer)
	}
	asked := func(p *proxytest.Server, want ...string) {
		t.Helper()
		if got := p.Targets(); !slices.Equal(got, want) {
			t.Errorf("a proxy was asked for %q, want %q", got, want)
		}
	}
	if got := call(); !strings.Contains(got, "done") {
		t.Fatal(got)
	}
	asked(documents, "93.184.216.34:80")
	asked(calls, "93.184.216.35:80")
	for _, next := range []*proxytest.Server{later, broken} {
		p.Write(map[string]string{"drawbridge.yaml": cfg(next)})
		if err := p.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := call()
		if next == later && !strings.Contains(got, "done") || next == broken && !strings.Contains(got, "the proxy on the way to it gives no connection") {
			t.Error(got)
		}
	}
	asked(later, "93.184.216.35:80")
	asked(calls, "93.184.216.35:80")
	asked(broken, "93.184.216.35:80")
	if lines := gatewaytest.MetricLines(p.Gateway, "drawbridge_tool_calls_total", `outcome="proxy"`, "} 1"); len(lines) != 1 {
		t.Errorf("counted: %q", gatewaytest.MetricLines(p.Gateway, "drawbridge_tool_calls_total"))
	}
	if log := p.log.String(); !strings.Contains(log, "502 Bad Gateway") || !strings.Contains(log, "proxy http://"+broken.Address) || strings.Contains(log, "canary-of-a-proxy") {
		t.Error(log)
	}
	for _, target := range documents.Targets() {
		if target != "93.184.216.34:80" {
			t.Errorf("the proxy of documents was asked for %s", target)
		}
	}
}

package task

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.opentelemetry.io/otel/trace/noop"

	"drawbridge/config"
	"drawbridge/test/proxytest"
)

// TestCallerWebhookProxy checks that webhooks to callers go through the proxy at the root of the configuration, that the proxy gets the
// address, and that a reload changes the proxy. The proxy gives no connection: make proxy-egress delivers webhooks through real ones.
func TestCallerWebhookProxy(t *testing.T) {
	const caller = "https://93.184.216.36/done"
	proxy := func(scheme string) *proxytest.Server {
		p := proxytest.New(t, scheme, nil)
		p.User, p.Password = "gateway", "canary-of-a-proxy"
		p.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no") }
		return p
	}
	root := func(p *proxytest.Server) string {
		return fmt.Sprintf("proxy: {url: '%s://%s', user: gateway, password: %s}", p.Scheme, p.Address, p.Password)
	}
	http, socks, api := proxy("http"), proxy("socks5"), proxy("http")
	to, err := url.Parse(caller)
	if err != nil {
		t.Fatal(err)
	}
	var w, before *CallerWebhooks
	for _, c := range []struct {
		name, cfg string
		proxy     *proxytest.Server
		kept      bool // the client and its connections
	}{
		{"HTTP", root(http), http, false},
		{"the same", root(http), http, true},
		{"SOCKS5", root(socks), socks, false},
	} {
		before, w = w, NewCallerWebhooks(webhookConfig(t, c.cfg, api.Address), w, noop.NewTracerProvider(), "test")
		if kept := w == before; kept != c.kept {
			t.Errorf("%s: client kept: %v, want %v", c.name, kept, c.kept)
		}
		asked := len(c.proxy.Targets())
		if _, err := w.post(t.Context(), to, []byte("{}")); err == nil {
			t.Errorf("%s: a webhook was delivered without the proxy", c.name)
		}
		if got, want := c.proxy.Targets()[asked:], []string{"93.184.216.36:443"}; !slices.Equal(got, want) {
			t.Errorf("%s: the proxy was asked for %q, want %q", c.name, got, want)
		}
	}
	if got := api.Targets(); len(got) > 0 {
		t.Errorf("the proxy of an API was asked for %q", got)
	}
}

// webhookConfig loads a configuration with the webhooks of callers and with an API that has a proxy of its own.
func webhookConfig(t *testing.T, root, apiProxy string) *config.Config {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"drawbridge.yaml": root + "\napis: [{spec: a.yaml, base_url: 'http://93.184.216.35', proxy: {url: 'http://" + apiProxy + "'}}]\n" +
			"tools: {callback_urls: ['https://93.184.216.36'], callback_secret: secret-of-the-test}\n",
		"a.yaml": "openapi: 3.1.0\ninfo: {title: T, version: '1'}\npaths: {}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, problems := config.Load(filepath.Join(dir, "drawbridge.yaml"), func(string) string { return "" })
	if c == nil {
		t.Fatal(problems)
	}
	return c
}

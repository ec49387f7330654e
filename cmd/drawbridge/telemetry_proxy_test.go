package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"drawbridge/config"
	"drawbridge/test/proxytest"
)

// TestTracesByProxy: traces go by way of the configured proxy, and never by one that only the environment names (E5).
func TestTracesByProxy(t *testing.T) {
	var exports atomic.Int64
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == config.TracesPath && r.Header.Get("Proxy-Authorization") == "" {
			exports.Add(1)
		}
	}))
	defer collector.Close()
	ignored := proxytest.New(t, "http", nil)
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY"} {
		t.Setenv(name, "http://"+ignored.Address)
	}
	t.Setenv("NO_PROXY", "")
	for _, c := range []struct {
		proxy string
		asked int
	}{
		{"", 0},
		{"proxy: {url: 'http://%s', user: gateway, password: secret}", 1},
		{"proxy: {url: 'http://%s', user: gateway, password: secret, no_proxy: 0.0.0.0}", 0},
		{"proxy: off", 0},
	} {
		p := proxytest.New(t, "http", nil)
		p.User, p.Password = "gateway", "secret"
		p.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, collector.Listener.Addr().String())
		}
		// This machine, in a spelling that golang.org/x/net/http/httpproxy does not know to be loopback.
		endpoint := strings.Replace(collector.URL, "127.0.0.1", "0.0.0.0", 1)
		if c.asked > 0 {
			endpoint = "http://93.184.216.34"
		}
		if strings.Contains(c.proxy, "%s") {
			c.proxy = fmt.Sprintf(c.proxy, p.Address)
		}
		file := filepath.Join(t.TempDir(), "drawbridge.yaml")
		if err := os.WriteFile(file, []byte(c.proxy+"\napis: [{spec: a.yaml}]\ntelemetry: {otlp_endpoint: '"+endpoint+"'}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, problems := config.Load(file, os.Getenv)
		if cfg == nil {
			t.Fatal(problems)
		}
		exported, err := export(t.Context(), &cfg.Telemetry, "1", prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		before := exports.Load()
		sendSpan(t, exported)
		exported.end(slog.New(slog.DiscardHandler))
		if asked := p.Targets(); exports.Load() != before+1 || len(asked) != c.asked || c.asked > 0 && asked[0] != "93.184.216.34:80" {
			t.Errorf("%s: %d exports, the proxy was asked for %q", c.proxy, exports.Load()-before, asked)
		}
	}
	if asked := ignored.Heads(); asked != "" {
		t.Errorf("the environment's proxy was asked: %s", asked)
	}
}

// TestTracesByProxyWithCertificates: what the exporter reads of the environment and can't use with a proxy is told of.
func TestTracesByProxyWithCertificates(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "/etc/ca.pem")
	file := filepath.Join(t.TempDir(), "drawbridge.yaml")
	if err := os.WriteFile(file, []byte("proxy: {url: 'http://proxy.internal'}\napis: [{spec: a.yaml}]\ntelemetry: {otlp_endpoint: 'https://otel.example.com'}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, problems := config.Load(file, os.Getenv)
	if cfg == nil {
		t.Fatal(problems)
	}
	_, err := export(t.Context(), &cfg.Telemetry, "1", prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "telemetry.proxy: OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE has no effect with a proxy") {
		t.Error(err)
	}
}

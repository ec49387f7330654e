package providers

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// load reads the configuration of a provider.
func load(t *testing.T, item string) *config.Discovery {
	t.Helper()
	path := filepath.Join(t.TempDir(), "drawbridge.yaml")
	if err := os.WriteFile(path, []byte("discovery: [{name: p, "+item+"}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, problems := config.Load(path, func(string) string { return "t0" })
	if c == nil {
		t.Fatal(problems)
	}
	return &c.Discovery[0]
}

// run runs a provider until it reports services, and returns them.
func run(t *testing.T, d *config.Discovery) string {
	t.Helper()
	p, err := New(d, Options{Version: "1.0"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var names []string
	p.Run(ctx, func(targets []discovery.Target, err error) {
		if err != nil {
			t.Error(err)
		}
		names = nil
		for i := range targets {
			names = append(names, fmt.Sprint(targets[i].Name, targets[i].Instances))
		}
		cancel()
	})
	return strings.Join(names, " ")
}

// A Docker daemon is asked at its socket. The events, which do not end, are no reason to wait for the list.
func TestSocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "docker") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	listener, err := net.Listen("unix", filepath.Join(dir, "docker.sock"))
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Api-Version", "1.44")
		switch r.URL.Path {
		case "/v1.44/events":
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case "/v1.44/containers/json":
			fmt.Fprint(w, `[{"Names": ["/orders"], "State": "running", "Labels": {"drawbridge.service": "orders"},
				"Ports": [{"IP": "0.0.0.0", "PrivatePort": 80, "PublicPort": 8080, "Type": "tcp"}]}]`)
		}
	}))
	s.Listener.Close()
	s.Listener = listener
	s.Start()
	defer s.Close()
	if got := run(t, load(t, fmt.Sprintf("docker: {host: 'unix://%s'}", listener.Addr()))); got != "orders[127.0.0.1:8080]" {
		t.Error(got)
	}
}

// The token is sent to Consul, with queries that wait.
func TestConsul(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Consul-Token") != "t0" || r.Header.Get("User-Agent") != "drawbridge/1.0" {
			t.Errorf("headers %v", r.Header)
		}
		if r.URL.Query().Get("index") != "" {
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Consul-Index", "7")
		if r.URL.Path == "/v1/catalog/services" {
			fmt.Fprint(w, `{"consul": [], "orders": ["http"], "db": []}`)
			return
		}
		fmt.Fprint(w, `[{"Node": {"Address": "10.0.0.1"}, "Service": {"ID": "o", "Port": 80, "Tags": ["http"]}, "Checks": []}]`)
	}))
	defer s.Close()
	if got := run(t, load(t, fmt.Sprintf("consul: {address: %q, token: '${TOKEN}', tags: [http]}", s.URL))); got != "orders[10.0.0.1:80]" {
		t.Error(got)
	}
}

// Files that can't be used are errors before anything is sent.
func TestFiles(t *testing.T) {
	d := load(t, "consul: {}")
	d.Consul.CAFile = "missing.pem"
	if _, err := New(d, Options{}); err == nil {
		t.Error("a missing ca_file")
	}
	d = load(t, "docker: {host: 'https://docker.internal:2376'}")
	d.Docker.CertFile, d.Docker.KeyFile = "missing.pem", "missing.pem"
	if _, err := New(d, Options{}); err == nil {
		t.Error("a missing cert_file")
	}
}

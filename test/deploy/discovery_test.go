package deploy

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"drawbridge/config"
	"drawbridge/test/timebox"
)

const discoveryExample = compose + "/discovery"

// TestComposeDiscovery: the example with discovery is locked up, its configuration can be used, and both mean the same network.
func TestComposeDiscovery(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(discoveryExample, "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Services map[string]struct {
			service `yaml:",inline"`
			Labels  map[string]string
		}
		Networks map[string]struct {
			Name string
			IPAM struct{ Config []struct{ Subnet string } }
		}
	}
	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	for name := range file.Services {
		s := file.Services[name]
		if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Equal(s.Security, []string{"no-new-privileges:true"}) {
			t.Errorf("%s may do more than it needs: %+v", name, s)
		}
		if socket := slices.ContainsFunc(s.Volumes, func(v string) bool { return strings.HasPrefix(v, "/var/run/docker.sock") }); socket != (name == "daemon") {
			t.Errorf("%s has the volumes %q", name, s.Volumes)
		}
	}
	dir := t.TempDir()
	text, err := os.ReadFile(filepath.Join(discoveryExample, "drawbridge.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "shop_key", "harbour-2009\n")
	path := write(t, dir, "drawbridge.yaml", strings.ReplaceAll(string(text), "/run/secrets/", dir+"/"))
	c, problems := config.Load(path, func(string) string { return "" })
	problems = slices.DeleteFunc(problems, func(p config.Problem) bool { // nobody else is in the network
		return strings.Contains(p.String(), "everyone in the network between can answer for the daemon")
	})
	if c == nil || len(problems) > 0 {
		t.Fatalf("the configuration can't be used, or not without a warning: %v", problems)
	}
	d, services := c.Discovery[0], file.Networks["services"]
	if d.Docker.Network != services.Name || len(d.AllowAddresses) != 1 || d.AllowAddresses[0].String() != services.IPAM.Config[0].Subnet {
		t.Errorf("the network of the provider is %q in %v, that of the services %+v", d.Docker.Network, d.AllowAddresses, services)
	}
	if file.Services["orders"].Labels["drawbridge.service"] != "orders" {
		t.Errorf("labels %q", file.Services["orders"].Labels)
	}
}

// TestDaemonProxy: the proxy in front of the daemon lets through what the gateway asks, and nothing else.
func TestDaemonProxy(t *testing.T) {
	example, err := os.ReadFile(filepath.Join(discoveryExample, "daemon.cfg"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	behind := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.URL.Path) }))
	behind.Listener.Close()
	if behind.Listener, err = (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(dir, "d")); err != nil {
		t.Fatal(err)
	}
	behind.Start()
	defer behind.Close()
	front := filepath.Join(dir, "f")
	file := write(t, dir, "haproxy.cfg", strings.NewReplacer("bind :2375\n", "bind unix@"+front+"\n", "/var/run/docker.sock", filepath.Join(dir, "d")).Replace(string(example)))
	c := exec.CommandContext(t.Context(), tool(t, "HAPROXY"), "-db", "-f", file)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Process.Kill(); _ = timebox.Result(t, c.Wait) }()
	dial := func(ctx context.Context, _, _ string) (conn net.Conn, err error) {
		for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			if conn, err = (&net.Dialer{}).DialContext(ctx, "unix", front); err == nil {
				return conn, nil
			}
		}
		return nil, err
	}
	client := &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
	for request, want := range map[string]int{
		"GET /_ping": 200, "GET /v1.44/containers/json?filters={}": 200, "GET /v1.41/events": 200,
		"GET /v1.44/containers/1/json": 403, "GET /v1.44/secrets": 403, "GET /containers/json": 403, "POST /v1.44/containers/json": 403,
		"GET /v1.44/events/../containers/1/logs": 403, "GET /v1.44/containers/1/archive?path=/events": 403, "DELETE /_ping": 403,
	} {
		method, path, _ := strings.Cut(request, " ")
		r, err := http.NewRequestWithContext(t.Context(), method, "http://daemon"+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(r)
		if err != nil {
			t.Fatalf("%s: %v", request, err)
		}
		_, _ = io.Copy(io.Discard, resp.Body) // only the status counts
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: status %d, expected %d", request, resp.StatusCode, want)
		}
	}
}

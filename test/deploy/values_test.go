package deploy

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"drawbridge/config"
)

// TestTrusted: nobody is believed by default when it says who called, and the chart says so of networks that are not a proxy's own.
func TestTrusted(t *testing.T) {
	helm := tool(t, "HELM")
	for _, c := range []struct{ set, want, never string }{
		{"replicaCount=3", "! config.server.trusted_proxies is empty.", ""},
		{"config.server.trusted_proxies={10.0.0.0/8}", "! config.server.trusted_proxies has 10.0.0.0/8: every pod and host in it", "is empty"},
		{"config.server.trusted_proxies={10.4.0.0/16},ingress.enabled=true,ingress.tlsSecret=mcp-tls", "", "trusted_proxies"},
	} {
		if text := notes(t, helm, c.set); !strings.Contains(text, c.want) || c.never != "" && strings.Contains(text, c.never) {
			t.Errorf("--set %s: %s", c.set, text)
		}
	}
	text := render(t, helm, "testdata/values/defaults.yaml")
	if c := load(t, parse(t, text)); len(c.Server.TrustedProxies) != 0 {
		t.Errorf("trusted by default: %v", c.Server.TrustedProxies)
	}
}

// notes returns what helm install says at its end. Helm shows it to those who have a cluster alone, so a ConfigMap takes it.
func notes(t *testing.T, helm, set string, more ...string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(chart)); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "templates/notes.yaml", `{apiVersion: v1, kind: ConfigMap, metadata: {name: notes}, data: {notes: {{ include (print .Template.BasePath "/NOTES.txt") . | toJson }}}}`)
	args := append([]string{"template", "mcp", dir, "--kube-version", cluster, "--set", image, "--set", set, "--show-only", "templates/notes.yaml"}, more...)
	text, ok := output(t, nil, helm, args...)
	if !ok {
		t.Fatalf("--set %s: %s", set, text)
	}
	return parse(t, text)[0].Data["notes"]
}

// TestNotes: what makes a cluster's maintenance harder than it has to be is said when the chart is installed.
func TestNotes(t *testing.T) {
	helm := tool(t, "HELM")
	for _, c := range []struct{ set, want string }{
		{"podDisruptionBudget.maxUnavailable=0", "! podDisruptionBudget.maxUnavailable is 0: no node with a pod on it can be drained."},
		{"replicaCount=1", "! There is one replica: while its node is drained nobody is served."},
		{"replicaCount=2", "! config.state.redis is not set: each pod counts rates by itself"},
		{"config.server.old_transport=true", "! config.server.old_transport needs sticky sessions with several pods"},
		{"image.tag=latest", "! image.tag is latest: pods that come later may be another program."},
	} {
		if text := notes(t, helm, c.set); !strings.Contains(text, c.want) {
			t.Errorf("--set %s: %s", c.set, text)
		}
	}
	if text := notes(t, helm, "replicaCount=3", "--is-upgrade"); !strings.Contains(text, "helm rollback mcp") {
		t.Errorf("no word on how to go back: %s", text)
	}
	if text := notes(t, helm, "replicaCount=3"); strings.Contains(text, "maxUnavailable") || strings.Contains(text, "one replica") || strings.Contains(text, "latest") {
		t.Error(text)
	}
}

// TestRunbooks: each alert leads to the page on operations, wherever that is.
func TestRunbooks(t *testing.T) {
	text := render(t, tool(t, "HELM"), "testdata/values/everything.yaml")
	if n, all := strings.Count(text, "runbook_url: https://wiki.example.com/operations#drawbridge"), strings.Count(text, "- alert: "); n != all || n == 0 {
		t.Errorf("%d of %d alerts lead to prometheusRule.runbooks", n, all)
	}
}

// What things need in memory, in KiB; docs/operations.md says how that was measured.
const (
	needsProgram    = 32 << 10
	needsTools      = 500 * 38
	needsCall       = 60
	needsStream     = 26
	needsConnection = 16

	needsStreamHTTP2   = 43
	needsConnectionTLS = 40
)

// fits: with as many calls, streams and connections as are allowed at once the gateway needs less than the share of its memory from which on it
// refuses calls, and has a quarter of that left for large answers and for documents while they are read. limit is GOMEMLIMIT in bytes.
func fits(t *testing.T, l config.Limits, limit int) {
	t.Helper()
	fitsWith(t, l, limit, needsStream, needsConnection)
}

// fitsWith is fits where a stream and a connection need so much.
func fitsWith(t *testing.T, l config.Limits, limit, stream, connection int) {
	t.Helper()
	needs := needsProgram + needsTools + needsCall*l.MaxCalls + stream*l.MaxStreams + connection*l.MaxConnections + int(l.Cache>>10)
	if room := limit / 1024 * 85 / 100; needs > room*3/4 {
		t.Errorf("what is allowed needs %d MiB, and calls are refused above %d", needs>>10, room>>10)
	}
}

// TestMemoryFits is what the chart allows; TestCompose has the compose file.
func TestMemoryFits(t *testing.T) {
	all := parse(t, render(t, tool(t, "HELM"), "testdata/values/defaults.yaml"))
	l := load(t, all).Limits
	for _, o := range all {
		if o.Kind != "Deployment" {
			continue
		}
		for _, e := range o.Spec.Template.Spec.Containers[0].Env {
			if e.Name != "GOMEMLIMIT" {
				continue
			}
			limit, err := strconv.Atoi(e.Value)
			if err != nil {
				t.Fatal(err)
			}
			fits(t, l, limit)
			return
		}
	}
	t.Error("no GOMEMLIMIT")
}

// TestMemoryFitsTLS is what docs/operations.md says to do for a gateway that ends TLS itself, with streams over HTTP/2.
func TestMemoryFitsTLS(t *testing.T) {
	for _, c := range []struct{ streams, connections, container int }{
		{1000, 2000, 512},
		{2000, 4000, 768},
	} {
		l := config.Limits{MaxCalls: 1000, MaxStreams: c.streams, MaxConnections: c.connections, Cache: 32 << 20}
		fitsWith(t, l, c.container<<20/100*85, needsStreamHTTP2, needsConnectionTLS)
	}
}

// TestVersion: what is installed has a name that does not move, and everything names the same.
func TestVersion(t *testing.T) {
	read := func(file string, into any) {
		t.Helper()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
	var about struct {
		Version    string
		AppVersion string `yaml:"appVersion"`
	}
	read(chart+"/Chart.yaml", &about)
	var file struct{ Services map[string]service }
	read(compose+"/compose.yaml", &file)
	if about.AppVersion != about.Version || about.Version == "latest" {
		t.Errorf("chart %s is for the image %s", about.Version, about.AppVersion)
	}
	for name, s := range file.Services {
		_, tag, _ := strings.Cut(s.Image, ":")
		if tag == "" || tag == "latest" {
			t.Errorf("%s: the image %s moves", name, s.Image)
		}
	}
	if image := file.Services["gateway"].Image; image != "drawbridge:"+about.AppVersion {
		t.Errorf("the chart is for %s, and compose.yaml has %s", about.AppVersion, image)
	}
}

package deploy

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"drawbridge/config"
)

// chart is the chart's folder.
const chart = "../../deploy/helm/drawbridge"

// image is the one value that has to be given.
const image = "image.repository=registry.example.com/platform/drawbridge"

// cluster is the version of Kubernetes for which the chart is rendered.
const cluster = "1.36.0"

// tool returns the path of a program that test/deploy/helm installs.
func tool(t *testing.T, name string) string {
	t.Helper()
	path := os.Getenv(name)
	if path == "" {
		t.Skipf("%s is not set: run make helm and make compose", name)
	}
	return path
}

// output runs a program and returns what it printed, and whether it went well.
func output(t *testing.T, stdin []byte, name string, args ...string) (text string, ok bool) {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	var out, errs bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(stdin), &out, &errs
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", name, err)
	}
	if err != nil {
		return out.String() + errs.String(), false
	}
	return out.String(), true
}

// render returns the manifests that the chart makes of a file of values.
func render(t *testing.T, helm, values string) string {
	t.Helper()
	text, ok := output(t, nil, helm, "template", "mcp", chart, "--namespace", "mcp", "--kube-version", cluster, "-f", values)
	if !ok {
		t.Fatalf("helm template: %s", text)
	}
	return text
}

// validate holds manifests against the schemas of Kubernetes.
func validate(t *testing.T, manifests string) (text string, ok bool) {
	t.Helper()
	return output(t, []byte(manifests), tool(t, "KUBECONFORM"), "-strict", "-summary", "-schema-location",
		tool(t, "KUBE_SCHEMAS")+"/{{.ResourceKind}}-{{.Group}}-{{.ResourceAPIVersion}}.json")
}

func TestChart(t *testing.T) {
	tool(t, "HELM")
	sets, err := filepath.Glob("testdata/values/*.yaml")
	if err != nil || len(sets) < 4 {
		t.Fatalf("values %q: %v", sets, err)
	}
	for _, values := range sets {
		t.Run(strings.TrimSuffix(filepath.Base(values), ".yaml"), func(t *testing.T) {
			accept(t, values)
		})
	}
}

// accept lints and renders the chart with a file of values, holds the manifests against the schemas of Kubernetes and has the gateway load
// their configuration. It returns the manifests.
func accept(t *testing.T, values string) string {
	t.Helper()
	if text, ok := output(t, nil, tool(t, "HELM"), "lint", chart, "--strict", "--kube-version", cluster, "-f", values); !ok {
		t.Fatalf("helm lint: %s", text)
	}
	text := render(t, tool(t, "HELM"), values)
	verdict, ok := validate(t, text)
	if !ok {
		t.Fatalf("kubeconform: %s", verdict)
	}
	all := parse(t, text)
	loaded := "no"
	if c := load(t, all); c != nil {
		loaded = "its"
		judge(t, all, c)
		if c.Tools.Lock != "" {
			if _, err := config.ReadLock(c.Tools.Lock.String()); err != nil {
				t.Errorf("the lock of the ConfigMap: %v", err)
			}
		}
	}
	kinds := make([]string, 0, len(all))
	for _, o := range all {
		kinds = append(kinds, o.Kind)
	}
	t.Logf("linted; rendered %s; %s; %s configuration loaded", strings.Join(kinds, ", "), strings.TrimSpace(verdict), loaded)
	return text
}

// TestVerdict: the schemas find what they are there for.
func TestVerdict(t *testing.T) {
	text := render(t, tool(t, "HELM"), "testdata/values/everything.yaml")
	for _, broken := range []struct{ old, replacement, want string }{
		{"serviceAccountName:", "serviceAcountName:", "serviceAcountName"},
		{"readOnlyRootFilesystem: true", "readOnlyRootFilesystem: nearly", "readOnlyRootFilesystem"},
		{"revisionHistoryLimit: 5", "revisionHistoryLimit: five", "revisionHistoryLimit"},
		{"parentRefs:", "parents:", "HTTPRoute"},
		{"endpoints:", "endpoint:", "ServiceMonitor"},
	} {
		if !strings.Contains(text, broken.old) {
			t.Fatalf("no %q in the manifests", broken.old)
		}
		if verdict, ok := validate(t, strings.Replace(text, broken.old, broken.replacement, 1)); ok || !strings.Contains(verdict, broken.want) {
			t.Errorf("%s in place of %s: %s", broken.replacement, broken.old, verdict)
		}
	}
}

// TestImage: nothing is rendered without image.repository, and a registry's port is no tag.
func TestImage(t *testing.T) {
	helm := tool(t, "HELM")
	if text, ok := output(t, nil, helm, "template", "mcp", chart, "--kube-version", cluster); ok || !strings.Contains(text, "image.repository is not set") {
		t.Errorf("without values: %s", text)
	}
	for set, want := range map[string]string{
		"image.repository=registry.example.com:5000/drawbridge":                        `image: "registry.example.com:5000/drawbridge:`,
		"image.repository=drawbridge,image.tag=1.2.3":                                  `image: "drawbridge:1.2.3"`,
		"image.repository=a/drawbridge,image.digest=sha256:" + strings.Repeat("0", 64): `image: "a/drawbridge@sha256:0000`,
	} {
		if text, ok := output(t, nil, helm, "template", "mcp", chart, "--kube-version", cluster, "--set", set); !ok || !strings.Contains(text, want) {
			t.Errorf("--set %s: no %s in %s", set, want, text)
		}
	}
}

// TestInstallPage: the command of docs/install.md renders the chart with the example of the chart's page.
func TestInstallPage(t *testing.T) {
	read := func(file, pattern string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(pattern).FindSubmatch(text)
		if m == nil {
			t.Fatalf("%s has no %s", file, pattern)
		}
		return string(m[1])
	}
	args := strings.Fields(read("../../docs/install.md", `(?m)^helm install (.*)$`))
	values := write(t, t.TempDir(), "my.yaml", read(chart+"/README.md", "(?s)```yaml\n(image:.*?)```"))
	for i, arg := range args {
		switch arg {
		case "deploy/helm/drawbridge":
			args[i] = chart
		case "my.yaml":
			args[i] = values
		}
	}
	if text, ok := output(t, nil, tool(t, "HELM"), append([]string{"template", "--kube-version", cluster}, args...)...); !ok || !strings.Contains(text, "kind: Deployment") {
		t.Errorf("helm template %q: %s", args, text)
	}
}

// TestRestart: a changed rule restarts no pod, a changed listener does.
func TestRestart(t *testing.T) {
	helm := tool(t, "HELM")
	digest := func(set string) string {
		text, ok := output(t, nil, helm, "template", "mcp", chart, "--kube-version", cluster, "--set", image, "--set", set)
		if !ok {
			t.Fatal(text)
		}
		_, after, _ := strings.Cut(text, "drawbridge/restart: ")
		line, _, _ := strings.Cut(after, "\n")
		return line
	}
	before := digest("replicaCount=2")
	if len(before) != 64 {
		t.Fatalf("digest %q", before)
	}
	for _, set := range []string{"config.apis[0].spec=https://other.example.com/a.json", "config.auth.default_scopes={a}", "config.server.page_size=10", "config.admin.token=${file:/run/secrets/drawbridge-seal/key}", "files.a=b"} {
		if digest(set) != before {
			t.Errorf("%s restarts the pods", set)
		}
	}
	for _, set := range []string{"config.server.listen=:8081", "config.telemetry.log_format=text", "config.limits.max_header=64KiB", "config.state.redis.url=redis://redis"} {
		if digest(set) == before {
			t.Errorf("%s restarts nothing", set)
		}
	}
}

// lastWords is what a gateway may take after its drain: a second for the last answers, 5 for the lines of the audit log, 5 for spans, and
// some to spare.
const lastWords = 15 * time.Second

// An object is what the tests read of a manifest.
type object struct {
	Kind string
	Data map[string]string
	Spec struct {
		Type     string
		Template struct {
			Spec struct {
				Grace      int  `yaml:"terminationGracePeriodSeconds"`
				Automount  bool `yaml:"automountServiceAccountToken"`
				Containers []struct {
					Name  string
					Ports []struct {
						Name string
						Port int `yaml:"containerPort"`
					}
					Env     []struct{ Name, Value string }
					EnvFrom []any `yaml:"envFrom"`
				}
			}
		}
	}
}

func parse(t *testing.T, manifests string) (all []object) {
	t.Helper()
	for d := yaml.NewDecoder(strings.NewReader(manifests)); ; {
		var o object
		err := d.Decode(&o)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("manifests: %v", err)
		}
		all = append(all, o)
	}
}

// load puts the files of the ConfigMap and what its configuration refers to into a folder, and has the gateway load it. It returns nil if
// the configuration comes from a ConfigMap that the chart does not make.
func load(t *testing.T, all []object) *config.Config {
	t.Helper()
	var file string
	dir := t.TempDir()
	for _, o := range all {
		if o.Kind == "Secret" {
			t.Error("the chart makes a Secret")
		}
		if o.Kind != "ConfigMap" || o.Data["drawbridge.yaml"] == "" {
			continue
		}
		for name, text := range o.Data {
			// Where a pod has them.
			text = strings.ReplaceAll(strings.ReplaceAll(text, "/etc/drawbridge/", dir+"/"), "/run/secrets/", dir+"/")
			text = strings.ReplaceAll(text, "/var/lib/drawbridge", dir+"/state")
			write(t, dir, name, text)
		}
		file = filepath.Join(dir, "drawbridge.yaml")
	}
	if file == "" {
		return nil
	}
	secrets(t, dir)
	c, problems := config.Load(file, environment(all))
	if c == nil || len(problems) > 0 {
		text, _ := os.ReadFile(file)
		t.Fatalf("the configuration can't be used, or not without a warning: %v\n%s", problems, text)
	}
	return c
}

// environment is that of the gateway's container. Values that come from elsewhere are texts that could be keys.
func environment(all []object) func(string) string {
	return func(name string) string {
		for _, o := range all {
			if o.Kind != "Deployment" {
				continue
			}
			container := o.Spec.Template.Spec.Containers[0]
			for _, e := range container.Env {
				if e.Name == name && e.Value != "" {
					return e.Value
				}
			}
			named := slices.ContainsFunc(container.Env, func(e struct{ Name, Value string }) bool { return e.Name == name })
			if named || len(container.EnvFrom) > 0 {
				return strings.Repeat("from-elsewhere-", 3)
			}
		}
		return ""
	}
}

// judge holds that the manifests fit the configuration that the gateway has loaded.
func judge(t *testing.T, all []object, c *config.Config) {
	t.Helper()
	for _, o := range all {
		if o.Kind != "Deployment" {
			continue
		}
		pod := o.Spec.Template.Spec
		ending := time.Duration(c.Server.ShutdownDelay) + time.Duration(c.Server.DrainTimeout)
		if grace := time.Duration(pod.Grace) * time.Second; grace < ending+lastWords {
			t.Errorf("terminationGracePeriodSeconds is %s, and the gateway may take %s", grace, ending)
		}
		watches := slices.ContainsFunc(c.Discovery, func(d config.Discovery) bool { return d.Kubernetes != nil && d.Kubernetes.Kubeconfig == "" })
		if pod.Automount != watches || pod.Containers[0].Name != "drawbridge" {
			t.Fatalf("pod: %+v", pod)
		}
		ports := pod.Containers[0].Ports
		for i, address := range []config.Address{c.Server.Listen, c.Admin.Listen} {
			if address.Loopback() || !strings.HasSuffix(address.String(), ":"+strconv.Itoa(ports[i].Port)) {
				t.Errorf("port %+v, and the gateway listens at %s", ports[i], address)
			}
		}
		return
	}
	t.Error("no Deployment")
}

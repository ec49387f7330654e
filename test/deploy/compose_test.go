package deploy

import (
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
	"drawbridge/test/timebox"
)

const compose = "../../deploy/compose"

// A service is what the tests read of one in compose.yaml.
type service struct {
	Image       string
	ReadOnly    bool     `yaml:"read_only"`
	CapDrop     []string `yaml:"cap_drop"`
	Security    []string `yaml:"security_opt"`
	Ports       []string
	Environment map[string]string
	Secrets     []string
	Volumes     []string
	Networks    []string
	Command     []string
	Healthcheck struct{ Test []string }
	Grace       string `yaml:"stop_grace_period"`
	Deploy      struct{ Replicas int }
}

// TestCompose: the services are as locked up as they can be, and the gateway's configuration can be used.
func TestCompose(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(compose, "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	// What follows a tag or a merge is known to a reader of Compose only as a whole.
	var file struct {
		Services map[string]service
		Secrets  map[string]struct{ File string }
		Networks map[string]any
		Volumes  map[string]any
	}
	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	for name, s := range file.Services {
		if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Equal(s.Security, []string{"no-new-privileges:true"}) {
			t.Errorf("%s may do more than it needs: %+v", name, s)
		}
		for _, p := range s.Ports {
			if !strings.HasPrefix(p, "127.0.0.1:") {
				t.Errorf("%s is open to the network: %s", name, p)
			}
		}
		for key, value := range s.Environment {
			if strings.Contains(strings.ToLower(key), "key") || strings.Contains(strings.ToLower(key), "token") {
				t.Errorf("%s has a secret in the environment: %s=%s", name, key, value)
			}
		}
		if len(s.Healthcheck.Test) == 0 && name != "orders" { // the gateways find out what becomes of that one
			t.Errorf("%s is not checked", name)
		}
		for _, secret := range s.Secrets {
			if file.Secrets[secret].File == "" {
				t.Errorf("%s: no file for the secret %s", name, secret)
			}
		}
	}

	dir := t.TempDir()
	text, err := os.ReadFile(filepath.Join(compose, "config", "drawbridge.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "drawbridge.yaml", strings.NewReplacer("/run/secrets/", dir+"/", "/var/lib/drawbridge", dir+"/state").Replace(string(text)))
	write(t, dir, "seal", strings.Repeat("0123456789", 5))
	write(t, dir, "shop_key", "harbour-2009\n")
	write(t, dir, "redis", "0123456789abcdef\n")
	c, problems := config.Load(filepath.Join(dir, "drawbridge.yaml"), func(string) string { return "" })
	// The network has the gateways and the Redis in it, and nobody else.
	problems = slices.DeleteFunc(problems, func(p config.Problem) bool {
		return strings.HasSuffix(p.String(), "the password travels in clear; rediss protects it")
	})
	if c == nil || len(problems) > 0 {
		t.Fatalf("the configuration can't be used, or not without a warning: %v", problems)
	}
	gateway := file.Services["gateway"]
	mebibytes, err := strconv.Atoi(strings.TrimSuffix(gateway.Environment["GOMEMLIMIT"], "MiB"))
	if err != nil {
		t.Fatalf("GOMEMLIMIT is %q", gateway.Environment["GOMEMLIMIT"])
	}
	fits(t, c.Limits, mebibytes<<20)
	// What is in server.state_dir outlives its container.
	kept := slices.IndexFunc(gateway.Volumes, func(v string) bool { return strings.HasSuffix(v, ":/var/lib/drawbridge") })
	if kept < 0 {
		t.Errorf("server.state_dir is none of the volumes %q", gateway.Volumes)
	} else if name, _, _ := strings.Cut(gateway.Volumes[kept], ":"); !has(file.Volumes, name) {
		t.Errorf("the volume %q is not made: %v", name, file.Volumes)
	}
	grace, err := time.ParseDuration(gateway.Grace)
	if err != nil || grace < time.Duration(c.Server.ShutdownDelay)+time.Duration(c.Server.DrainTimeout)+lastWords {
		t.Errorf("stop_grace_period is %q, and the gateway may take %v + %v", gateway.Grace, c.Server.ShutdownDelay, c.Server.DrainTimeout)
	}
	for name, s := range file.Services {
		if shares := slices.Contains(s.Networks, "state"); shares != (name == "gateway" || name == "redis") {
			t.Errorf("%s is in the networks %q", name, s.Networks)
		}
	}
	if gateway.Deploy.Replicas != 3 {
		t.Errorf("%d replicas", gateway.Deploy.Replicas)
	}
}

func has(m map[string]any, key string) bool { _, ok := m[key]; return ok }

// TestComposeModel has Compose's own reader put the file together.
func TestComposeModel(t *testing.T) {
	text, ok := output(t, nil, tool(t, "COMPOSE_SPEC"), filepath.Join(compose, "compose.yaml"))
	if !ok || !strings.Contains(text, "condition: service_healthy") {
		t.Fatal(text)
	}
	broken := write(t, t.TempDir(), "compose.yaml", "services: {a: {image: b, read_olny: true}}\n")
	if text, ok := output(t, nil, tool(t, "COMPOSE_SPEC"), broken); ok || !strings.Contains(text, "read_olny") {
		t.Errorf("a misspelled key is not found: %s", text)
	}
	t.Log("put together by compose-go: no unknown key, every network, secret and dependency is there")
}

// TestComposeRedis runs the Redis of compose.yaml with the configuration that it has there: the user of the gateways may what gateways do and
// nothing else, everybody else nothing, and what is full refuses to write.
func TestComposeRedis(t *testing.T) {
	server, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("redis-server is not there")
	}
	data, err := os.ReadFile(filepath.Join(compose, "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Services map[string]service }
	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, "redis", "0123456789abcdef\n")
	socket := filepath.Join(dir, "s")
	page, err := os.ReadFile("../../docs/replicas.md")
	if err != nil {
		t.Fatal(err)
	}
	user := regexp.MustCompile(`(?m)^ *user drawbridge on >\S+( .*)?$`)
	told, has := user.FindStringSubmatch(string(page)), user.FindStringSubmatch(regexp.MustCompile(`>\$\$\([^)]*\)`).ReplaceAllString(file.Services["redis"].Command[2], ">X"))
	if told == nil || has == nil || told[1] != has[1] {
		t.Errorf("the user of compose.yaml may %q, and docs/replicas.md has %q", has, told)
	}
	script := strings.NewReplacer("$$", "$", "/run/secrets/", dir+"/", "redis-server -", server+" - --port 0 --unixsocket "+socket+" --dir "+dir).Replace(file.Services["redis"].Command[2])
	c := exec.CommandContext(t.Context(), "sh", "-c", script)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Process.Kill(); _ = timebox.Result(t, c.Wait) }()
	ask := func(user string, args ...string) string {
		who := []string{"-s", socket}
		if user != "" {
			who = append(who, "--user", user, "--pass", "0123456789abcdef", "--no-auth-warning")
		}
		text, _ := output(t, nil, "redis-cli", append(who, args...)...)
		return strings.TrimSpace(text)
	}
	for deadline := time.Now().Add(10 * time.Second); ask("drawbridge", "ping") != "PONG"; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the Redis does not come up: " + ask("drawbridge", "ping"))
		}
	}
	for _, ask := range []struct{ got, want string }{
		{ask("", "ping"), "NOAUTH"},
		{ask("drawbridge", "set", "drawbridge:a", "1"), "OK"},
		{ask("drawbridge", "set", "other:a", "1"), "NOPERM"},
		{ask("drawbridge", "config", "get", "maxmemory"), "NOPERM"},
		{ask("drawbridge", "eval", "return redis.call('KEYS', '*')", "0"), "ERR"},
	} {
		if !strings.HasPrefix(ask.got, ask.want) {
			t.Errorf("%q, want %s", ask.got, ask.want)
		}
	}
}

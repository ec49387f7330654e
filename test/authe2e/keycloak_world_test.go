package authe2e

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"drawbridge/test/process"
)

// The page that the run follows, and the files that it shows, from the root of the repository.
const (
	keycloakPage   = "docs/start/keycloak.md"
	keycloakConfig = "deploy/keycloak/drawbridge.yaml"
)

// The addresses on the page.
const (
	pageGateway  = "127.0.0.1:8080"
	pageAdmin    = "127.0.0.1:9090"
	pageKeycloak = "127.0.0.1:8180"
	pageService  = "127.0.0.1:9000"
)

// newKeycloakRun follows the page up to a gateway that is ready.
func newKeycloakRun(t *testing.T, home, folder string) *keycloakRun {
	t.Helper()
	s := &suite{folder: folder, program: process.BuildGateway(t), documents: newDocuments(t)}
	s.ports.Store(20_000 + rand.Int32N(10_000))
	k := &keycloakRun{world: &world{suite: s}, user: &user{Name: "alice", Password: newSecret()}}
	gateway, keycloakAddress, service := s.address(t), s.address(t), s.address(t)
	k.admin = s.address(t)
	k.endpoint = "http://" + gateway + "/mcp"
	addresses := strings.NewReplacer(pageGateway, gateway, pageAdmin, k.admin, pageKeycloak, keycloakAddress, pageService, service,
		"--http-port="+port(pageKeycloak), "--http-port="+port(keycloakAddress))

	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	secret := newSecret()
	k.secrets.add("the secret of the gateway's client", secret)
	k.secrets.add("a password", k.user.Password)
	values := map[string]string{"DRAWBRIDGE_SECRET": secret, "ALICE_PASSWORD": k.user.Password, "MCP_RESOURCE": k.endpoint}
	page := readKeycloakPage(t, filepath.Join(root, keycloakPage))
	page.checkNames(t, values, "KC_BOOTSTRAP_ADMIN_USERNAME", "KC_BOOTSTRAP_ADMIN_PASSWORD")
	var env []string
	for name, value := range values {
		env = append(env, name+"="+value)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	buildKeycloak(ctx, t, root, home, page.install)
	roots := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, s.documents.pem, 0o600); err != nil {
		t.Fatal(err)
	}
	start := strings.Replace(addresses.Replace(page.start), `"$KEYCLOAK/bin/kc.sh" start`, `exec "$KEYCLOAK/bin/kc.sh" start`, 1)
	start = "cd '" + root + "'\n" + strings.TrimSpace(start) + " --truststore-paths='" + roots + "'" // for the documents of clients
	k.keycloak = startKeycloak(ctx, t, home, keycloakAddress, start, env)
	k.issuer = k.keycloak.issuer()
	k.secrets.add("the administrator's password", k.keycloak.password)
	k.service = newTokenService(t, service, k.issuer)
	config := addresses.Replace(read(t, filepath.Join(root, keycloakConfig)))
	k.child, k.log = k.startGateway(ctx, t, root, config, page.serve, env)
	broad := s.address(t)
	k.broad = "http://" + broad + "/mcp"
	k.startGateway(ctx, t, root, k.askForAll(t, config, gateway, broad), page.serve, env)
	s.clients = s.start(t, []string{"clients.mjs"})
	for _, client := range []string{sdkV1, clientV2} {
		for _, way := range []string{byRegistration, byDocument, registered} {
			k.rows = append(k.rows, &keycloakRow{client: client, way: way})
		}
	}
	return k
}

// port returns the port of an address.
func port(address string) string {
	_, port, _ := strings.Cut(address, ":")
	return port
}

// startGateway starts the program by the command of the page.
func (k *keycloakRun) startGateway(ctx context.Context, t *testing.T, root, config, command string, env []string) (child *process.Child, log string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "drawbridge.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	log = filepath.Join(dir, "gateway.log")
	command = strings.NewReplacer("bin/drawbridge", "exec "+k.suite.program, keycloakConfig, file).Replace(strings.TrimSpace(command))
	child, err := process.Start(context.WithoutCancel(ctx), "env", append(slices.Clone(env), "bash", "-euc", fmt.Sprintf("cd '%s'\n%s >'%s' 2>&1", root, command, log))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := child.Stop(); err != nil {
			t.Error(err)
		}
		if text, err := os.ReadFile(log); err == nil && t.Failed() {
			t.Logf("a gateway's last words:\n%s", text[max(0, len(text)-8<<10):])
		}
	})
	admin := regexp.MustCompile(`(?m)^admin:\n  listen: (\S+)`).FindStringSubmatch(config)[1]
	if err := child.AwaitGateway(ctx, admin); err != nil {
		text, _ := os.ReadFile(log)
		t.Fatalf("%v\n%s", err, text)
	}
	return child, log
}

// askForAll changes the configuration as the page has it for clients that register themselves. Its resource is that of the
// realm file too.
func (k *keycloakRun) askForAll(t *testing.T, config, gateway, address string) string {
	t.Helper()
	for _, change := range [][2]string{
		{gateway, address},
		{k.admin, k.suite.address(t)},
		{"default_scopes: [orders:read]", "default_scopes: [orders:read, orders:write, orders:admin]"},
		{"preset: keycloak\n", fmt.Sprintf("preset: keycloak\n      audiences: [%q]\n", k.endpoint)},
		{"rules:\n", "rules:\n  - {match: {method: GET}, set: {scopes: [orders:read]}}\n"},
	} {
		if !strings.Contains(config, change[0]) {
			t.Fatalf("the configuration has no %q", change[0])
		}
		config = strings.Replace(config, change[0], change[1], 1)
	}
	return config
}

// buildKeycloak runs the page's commands that install and build, unless the folder was built by them before.
func buildKeycloak(ctx context.Context, t *testing.T, root, home, commands string) {
	t.Helper()
	mark := filepath.Join(home, "built")
	if text, err := os.ReadFile(mark); err == nil && string(text) == commands {
		return
	}
	cmd := exec.CommandContext(ctx, "bash", "-euc", commands+"\n[ \"$KEYCLOAK\" = '"+home+"' ]")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", commands, err, out)
	}
	if err := os.WriteFile(mark, []byte(commands), 0o600); err != nil {
		t.Fatal(err)
	}
}

// commandsOfPage are the shell blocks of the page.
type commandsOfPage struct{ secrets, install, start, serve string }

var shellBlock = regexp.MustCompile("(?s)\n```sh[^\n]*\n(.*?)```")

// readKeycloakPage returns the first four shell blocks of the page.
func readKeycloakPage(t *testing.T, file string) commandsOfPage {
	t.Helper()
	blocks := shellBlock.FindAllStringSubmatch(read(t, file), -1)
	if len(blocks) < 4 {
		t.Fatalf("%s has %d shell blocks, want those of the secrets, the installation, Keycloak and the gateway", file, len(blocks))
	}
	return commandsOfPage{blocks[0][1], blocks[1][1], blocks[2][1], blocks[3][1]}
}

var export = regexp.MustCompile(`(?m)^export (\w+)=`)

// checkNames compares the variables that the page has its reader set with those of the run.
func (c commandsOfPage) checkNames(t *testing.T, values map[string]string, more ...string) {
	t.Helper()
	var got []string
	for _, m := range export.FindAllStringSubmatch(c.secrets, -1) {
		got = append(got, m[1])
	}
	want := more
	for name := range values {
		want = append(want, name)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("the page exports %q, the run %q", got, want)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// searchSecrets searches what the gateway has written for parts of tokens, codes and secrets.
func (k *keycloakRun) searchSecrets(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	sinks := map[string][]byte{"the log": []byte(read(t, k.log))}
	for _, path := range []string{"/metrics", "/apis"} {
		text, status, err := k.get(ctx, "http://"+k.admin+path)
		if err != nil || status != 200 {
			t.Errorf("%s: status %d, %v", path, status, err)
		}
		sinks[path] = text
	}
	answers, _ := k.answers.copy()
	sinks["what clients were told"] = answers
	for sink, text := range sinks {
		if len(bytes.TrimSpace(text)) == 0 {
			t.Errorf("%s is empty", sink)
		}
		for _, found := range k.secrets.find(text) {
			t.Errorf("%s holds %s", sink, found)
		}
	}
	t.Logf("searched for %d secrets", k.secrets.count())
}

// cells is the table of the run. It is safe for concurrent use.
type cells struct {
	mu    sync.Mutex
	text  map[[2]string]string
	notes []string
}

// enter enters a result. What has failed once has failed.
func (c *cells) enter(row, column string, err error) {
	text := "ok"
	if err != nil {
		text = "FAILED"
	}
	c.put(row, column, text)
}

// unsupported enters that a combination can't work, with the reason as a note below the table.
func (c *cells) unsupported(row, column, why string) {
	c.mu.Lock()
	n := slices.Index(c.notes, why)
	if n < 0 {
		c.notes = append(c.notes, why)
		n = len(c.notes) - 1
	}
	c.mu.Unlock()
	c.put(row, column, fmt.Sprintf("no (%d)", n+1))
}

func (c *cells) put(row, column, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.text == nil {
		c.text = make(map[[2]string]string)
	}
	if at := [2]string{row, column}; c.text[at] != "FAILED" {
		c.text[at] = text
	}
}

func (c *cells) print(t *testing.T) {
	columns := []string{cellLogin, cellList, cellCall, cellExchange, cellStepUp, cellAtOnce, cellRotation, cellWithdraw, cellOutage, cellBack, cellRefresh, cellReuse}
	var rows []string
	for at := range c.text {
		if !slices.Contains(rows, at[0]) {
			rows = append(rows, at[0])
		}
	}
	slices.Sort(rows)
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "client\t%s\n", strings.Join(columns, "\t"))
	for _, row := range rows {
		fmt.Fprint(w, row)
		for _, column := range columns {
			cell := c.text[[2]string{row, column}]
			if cell == "" {
				cell = "-"
			}
			fmt.Fprintf(w, "\t%s", cell)
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	for i, note := range c.notes {
		fmt.Fprintf(&text, "(%d) %s\n", i+1, note)
	}
	t.Log("\n" + text.String())
}

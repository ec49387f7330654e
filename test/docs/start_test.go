package docs

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drawbridge/config"
)

// startPages returns the pages for new users, relative to the root.
func startPages(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(pages(t), func(page string) bool { return !strings.HasPrefix(page, "docs/start/") })
}

var fenced = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

// TestStartBlocks parses the JSON of the pages for new users, loads their YAML, and checks the syntax of their programs with the
// interpreters that are installed.
func TestStartBlocks(t *testing.T) {
	checks := map[string]func(t *testing.T, text string){
		"json":   parseJSON,
		"yaml":   loadYAML,
		"js":     func(t *testing.T, text string) { checkSyntax(t, text, "client.mjs", "node", "--check") },
		"python": func(t *testing.T, text string) { checkSyntax(t, text, "client.py", "python3", "-m", "py_compile") },
	}
	found := map[string]int{}
	for _, page := range startPages(t) {
		for _, m := range fenced.FindAllStringSubmatch(read(t, page), -1) {
			found[m[1]]++
			if check := checks[m[1]]; check != nil {
				t.Run(page, func(t *testing.T) { check(t, m[2]) })
			}
		}
	}
	for language := range checks {
		if found[language] == 0 {
			t.Errorf("no page shows %s", language)
		}
	}
}

// parseJSON also demands that local commands and URLs are such that clients take them.
func parseJSON(t *testing.T, text string) {
	var file struct {
		MCPServers, Servers map[string]struct{ URL, Command string }
	}
	if err := json.Unmarshal([]byte(text), &file); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, servers := range []map[string]struct{ URL, Command string }{file.MCPServers, file.Servers} {
		for name, server := range servers {
			if (server.URL == "") == (server.Command == "") || server.URL != "" && !strings.HasSuffix(server.URL, "/mcp") || server.Command != "" && !strings.HasPrefix(server.Command, "/") {
				t.Errorf("%s: URL %q, command %q", name, server.URL, server.Command)
			}
		}
	}
}

func loadYAML(t *testing.T, text string) {
	file := filepath.Join(t.TempDir(), "drawbridge.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, problems := config.Load(file, func(string) string { return "value-of-it" }); len(problems) > 0 {
		t.Errorf("%v\n%s", problems, text)
	}
}

// checkSyntax runs a command with the program as its last argument. An interpreter that is not installed is no failure.
func checkSyntax(t *testing.T, text, name, command string, args ...string) {
	interpreter, err := exec.LookPath(command)
	if err != nil {
		t.Skip(err)
	}
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), interpreter, append(args, file)...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestIndex checks that docs/README.md has each page for users once, and that the Start page has each client. The pages of configuration keys
// are in the index of docs/configuration.md, which is generated with them.
func TestIndex(t *testing.T) {
	index := read(t, "docs/README.md")
	start := read(t, "docs/start/README.md")
	for _, page := range pages(t) {
		name, ok := strings.CutPrefix(page, "docs/")
		if !ok || name == "README.md" || strings.HasPrefix(name, "contributing/") || strings.HasPrefix(name, "configuration/") {
			continue
		}
		if n := strings.Count(index, "]("+name+")"); n != 1 {
			t.Errorf("docs/README.md has %s %d times", name, n)
		}
		if client, ok := strings.CutPrefix(name, "start/"); ok && client != "README.md" && !strings.Contains(start, "("+client+") |") {
			t.Errorf("the table of docs/start/README.md lacks %s", client)
		}
	}
}

// TestVerifiedClients: the table of README.md has the versions that the tests install.
func TestVerifiedClients(t *testing.T) {
	pins := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^\s*"?(@modelcontextprotocol/\w+|github\.com/modelcontextprotocol/go-sdk)"?:? "?v?([^",\s]+)`).FindAllStringSubmatch(
		read(t, "test/authe2e/package.json")+read(t, "test/conformance/package.json")+read(t, "go.mod"), -1) {
		pins[m[1]] = m[2]
	}
	for _, m := range regexp.MustCompile(`(?m)^([a-z-]+)==(\S+)`).FindAllStringSubmatch(read(t, "test/vendors/requirements.txt"), -1) {
		pins[m[1]] = m[2]
	}
	rows := regexp.MustCompile("(?m)^\\| [^|]*\\(`([^`]+)`\\) \\| (\\S+) \\|").FindAllStringSubmatch(read(t, "README.md"), -1)
	for _, row := range rows {
		if pins[row[1]] != row[2] {
			t.Errorf("README.md has %s %s; the tests install %q", row[1], row[2], pins[row[1]])
		}
	}
	if len(rows) < 9 {
		t.Errorf("%d clients", len(rows))
	}
}

package main

import (
	"bytes"
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"drawbridge/cmd/drawbridge/demo"
	"drawbridge/test/docs"
)

// notRun says of programs that pages show why no test of this package runs them, and what holds them instead.
var notRun = map[string]string{
	"claude":  "Claude Code and an account with it; the version that was used is on the page",
	"codex":   "Codex CLI and an account with it; the version that was used is on the page",
	"gemini":  "Gemini CLI and an account with it; the version that was used is on the page",
	"code":    "VS Code",
	"npx":     "packages from npm: make clients runs the Inspector",
	"npm":     "packages from npm: make interop runs the client of the page",
	"node":    "packages from npm: TestStartBlocks checks the program, make interop runs the client of the page",
	"pip":     "packages from PyPI",
	"python":  "packages from PyPI: TestStartBlocks checks the program",
	"kubectl": "a cluster",
	"helm":    "a cluster: make helm renders the chart",
	"make":    "minutes; its target is looked up",
	"git":     "a clone is what the tests run in",
	"curl":    "a gateway that serves: TestCurlPage sends the requests of docs/start/curl.md",
	// Part of a line of a shell.
	"export": "", "cd": "", "cp": "", "mv": "", "jq": "", "grep": "", "A=localhost:9090": "",
}

// lasting are commands that serve until they are interrupted: their flags are parsed, TestStartGuide and TestDemo run them.
var lasting = []string{"serve", "demo", "stdio"}

// pageRunner runs the commands of pages in a directory of its own, with the configuration of the Start page at hand.
type pageRunner struct {
	t               *testing.T
	root            string
	apis            any // of the Start page's configuration
	environment     map[string]string
	ran, held, told int
}

// TestPageCommands runs the drawbridge commands of all pages as they are printed. A command of another program has its reason in notRun, or its
// block has one in the info string: skip="…", or test="TestX" for the test that runs it.
func TestPageCommands(t *testing.T) {
	service := httptest.NewServer(demo.NewService(nil))
	defer service.Close()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	configuration := startConfiguration(t, startPage(t, "README.md", pageService, service.URL))
	pages, err := docs.Pages(root)
	if err != nil {
		t.Fatal(err)
	}
	var start map[string]any
	if err := yaml.Unmarshal([]byte(configuration), &start); err != nil {
		t.Fatal(err)
	}
	r := &pageRunner{t: t, root: root, apis: start["apis"], environment: map[string]string{"SHOP_KEY": demo.Key}}
	t.Chdir(t.TempDir())
	for _, page := range pages {
		blocks, err := docs.Blocks(root, page)
		if err != nil {
			t.Fatal(err)
		}
		r.configure(nil)
		for _, b := range blocks {
			var shown map[string]any
			if b.Language == "yaml" && yaml.Unmarshal([]byte(b.Text), &shown) == nil {
				r.configure(shown)
			}
			if b.Language == "sh" || b.Language == "console" {
				b.Text = strings.ReplaceAll(b.Text, pageService, service.URL)
				r.block(b)
			}
		}
	}
	t.Logf("%d commands ran, the flags of %d were parsed, %d are of other programs", r.ran, r.held, r.told)
	if r.ran < 10 {
		t.Errorf("%d commands were found", r.ran)
	}
}

var (
	shellWord     = regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^\s'"])+|'[^']*'|"[^"]*"`)
	shellComment  = regexp.MustCompile(`(?m)(^|\s)#.*$`)
	shellQuote    = regexp.MustCompile(`(?s)'([^']*)'|"([^"]*)"`)
	shellRedirect = regexp.MustCompile(` (?:\d>>? ?|>> ?|>&)[\w./&-]+`)
	shellOutput   = regexp.MustCompile(` > ?([\w./-]+)`)
	shellOperator = []string{"&&", "||", "|", ";", "&"}
)

// block judges each command of a block: lines that end in a backslash, or are within quotes, go on.
func (r *pageRunner) block(b docs.Block) {
	if b.Test != "" {
		r.named(b)
	}
	text := strings.ReplaceAll(shellComment.ReplaceAllString(b.Text, ""), "\\\n", " ")
	text = shellOutput.ReplaceAllString(shellRedirect.ReplaceAllString(text, " "), " > $1")
	quoted := shellQuote.ReplaceAllStringFunc(text, func(s string) string { return strings.ReplaceAll(s, "\n", " ") })
	for line := range strings.Lines(quoted) {
		words := shellWord.FindAllString(strings.TrimPrefix(line, "$ "), -1)
		for len(words) > 0 {
			end := slices.IndexFunc(words, func(w string) bool { return slices.Contains(shellOperator, w) })
			if end < 0 {
				end = len(words)
			}
			command, output := words[:end], ""
			if to := slices.Index(command, ">"); to > 0 {
				command, output = command[:to], command[to+1]
			}
			if len(command) > 0 {
				r.command(b, command, output)
			}
			words = words[min(end+1, len(words)):]
		}
	}
}

// configure writes drawbridge.yaml: what a page shows, in front of the sample service. What depends on the page's APIs, and on other servers, is
// left out.
func (r *pageRunner) configure(shown map[string]any) {
	configuration := map[string]any{"apis": r.apis, "server": map[string]any{"public_url": "https://mcp.example.com"}, "auth": map[string]any{"anonymous": true}}
	for _, key := range []string{"tools", "limits", "telemetry"} {
		if value, ok := shown[key]; ok {
			configuration[key] = value
		}
	}
	text, err := yaml.Marshal(configuration)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile("drawbridge.yaml", text, 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// named demands that the test that a block names exists.
func (r *pageRunner) named(b docs.Block) {
	if !regexp.MustCompile(`^Test[A-Za-z]+$`).MatchString(b.Test) {
		r.t.Errorf("%v: %q is no name of a test", b, b.Test)
	} else if out, err := exec.CommandContext(r.t.Context(), "git", "-C", r.root, "grep", "-q", "^func "+b.Test+"(", "--", "*_test.go").CombinedOutput(); err != nil {
		r.t.Errorf("%v: there is no test %s: %v%s", b, b.Test, err, out)
	}
}

// command runs a command, or says why not. Its output goes to a file if one is named: a command below may read it.
func (r *pageRunner) command(b docs.Block, words []string, output string) {
	program := filepath.Base(words[0])
	switch reason, known := notRun[program]; {
	case program == "drawbridge":
		r.drawbridge(b, words[1:], output)
	case program == "make" && len(words) > 1 && !bytes.Contains(r.makefile(), []byte("\n"+words[1]+":")):
		r.t.Errorf("%v: the Makefile has no target %s", b, words[1])
	case program == "export" && len(words) > 1:
		name, value, _ := strings.Cut(words[1], "=")
		r.environment[name] = value
	case known && reason == "":
	case known || b.Skip != "" || b.Test != "":
		r.told++
	default:
		r.t.Errorf("%v: no test runs %q; name one in the info string, test=\"TestX\", or say why not, skip=\"…\"", b, strings.Join(words, " "))
	}
}

// drawbridge runs a command of the program; of one that serves, or that its block skips, it parses the flags.
func (r *pageRunner) drawbridge(b docs.Block, args []string, output string) {
	for i, arg := range args {
		arg = shellQuote.ReplaceAllString(arg, "$1$2")
		if _, err := os.Stat(filepath.Join(r.root, filepath.FromSlash(arg))); err == nil && arg != "" {
			arg = filepath.Join(r.root, filepath.FromSlash(arg))
		}
		if i > 0 && args[i-1] == "--config" {
			arg = "drawbridge.yaml"
		}
		args[i] = arg
	}
	parseOnly := b.Skip != "" || len(args) == 0 || slices.Contains(lasting, args[0])
	if parseOnly {
		args = append(args, "--help")
		r.held++
	} else {
		r.ran++
	}
	var stdout, stderr bytes.Buffer
	if code := run(context.Background(), args, func(name string) string { return r.environment[name] }, &stdout, &stderr, nil); code != 0 {
		r.t.Errorf("%v: drawbridge %s: exit code %d\n%s%s", b, strings.Join(args, " "), code, stdout.String(), stderr.String())
	}
	if output != "" && !parseOnly && filepath.IsLocal(output) {
		if err := os.WriteFile(output, stdout.Bytes(), 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *pageRunner) makefile() []byte {
	text, err := os.ReadFile(filepath.Join(r.root, "Makefile"))
	if err != nil {
		r.t.Fatal(err)
	}
	return text
}

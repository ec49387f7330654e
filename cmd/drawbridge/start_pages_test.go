package main

import (
	"bytes"
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"drawbridge/cmd/drawbridge/demo"
	"drawbridge/test/docs"
)

// The addresses that the pages below docs/start print.
const (
	pageGateway = "http://127.0.0.1:8080"
	pageAdmin   = "http://127.0.0.1:9090"
	pageService = "http://127.0.0.1:9000"
)

// fence is a fenced block of a page.
type fence struct{ language, text string }

var fences = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")

// startPage returns the fenced blocks of a page below docs/start, with addresses replaced by those of the test.
func startPage(t *testing.T, name string, addresses ...string) []fence {
	t.Helper()
	text, err := os.ReadFile("../../docs/start/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []fence
	for _, m := range fences.FindAllStringSubmatch(strings.NewReplacer(addresses...).Replace(string(text)), -1) {
		blocks = append(blocks, fence{m[1], m[2]})
	}
	return blocks
}

// startConfiguration returns the configuration of the Start page.
func startConfiguration(t *testing.T, blocks []fence) string {
	t.Helper()
	for _, b := range blocks {
		if b.language == "yaml" {
			return b.text
		}
	}
	t.Fatal("docs/start/README.md shows no configuration")
	return ""
}

// serveStartPage serves the configuration of the Start page on free ports.
func serveStartPage(t *testing.T, service string) *served {
	t.Helper()
	text := startConfiguration(t, startPage(t, "README.md", pageService, service, "${SHOP_KEY}", demo.Key))
	s := serve(t, map[string]string{"drawbridge.yaml": "server: {listen: '127.0.0.1:0', shutdown_delay: 0s}\nadmin: {listen: '127.0.0.1:0'}\n" + text})
	s.await("document read", 1)
	return s
}

// shows checks that an output has what the page shows.
func shows(t *testing.T, command, output, shown string) {
	t.Helper()
	if part := docs.NotShown(output, shown); part != "" {
		t.Errorf("%s\nthe page shows\n%s\nthe output is\n%s", command, part, output)
	}
}

// TestStartGuide runs the commands of docs/start/README.md in order and compares their output with what the page shows.
func TestStartGuide(t *testing.T) {
	service := httptest.NewServer(demo.NewService(nil))
	defer service.Close()
	blocks := startPage(t, "README.md", pageService, service.URL)
	s := serveStartPage(t, service.URL)
	t.Chdir(t.TempDir())
	if err := os.WriteFile("drawbridge.yaml", []byte(startConfiguration(t, blocks)), 0o600); err != nil {
		t.Fatal(err)
	}
	environment := func(name string) string { return map[string]string{"SHOP_KEY": demo.Key}[name] }
	line, word := regexp.MustCompile(`(?m)^bin/drawbridge ([a-z]+.*)$`), regexp.MustCompile(`'[^']*'|\S+`)
	ran := 0
	for i, b := range blocks {
		m := line.FindStringSubmatch(b.text)
		if b.language != "sh" || m == nil || strings.HasPrefix(m[1], "demo ") {
			continue
		}
		var stdout, stderr bytes.Buffer
		output := &stdout
		if strings.HasPrefix(m[1], "serve ") {
			stdout.WriteString(strings.NewReplacer(strings.TrimSuffix(s.mcp, "/mcp"), pageGateway, s.admin, pageAdmin).Replace(s.log.String()))
		} else {
			args := word.FindAllString(m[1], -1)
			for n := range args {
				args[n] = strings.Trim(args[n], "'")
			}
			if code := run(t.Context(), args, environment, &stdout, &stderr, nil); code != 0 || stdout.Len() == 0 {
				t.Errorf("%s: exit code %d\n%s%s", m[1], code, stdout.String(), stderr.String())
			}
		}
		ran++
		if i+1 < len(blocks) && blocks[i+1].language == "text" {
			shows(t, m[1], output.String(), strings.ReplaceAll(blocks[i+1].text, "\n\"level\"", "…\"level\""))
		}
	}
	if ran < 5 {
		t.Errorf("docs/start/README.md has %d commands", ran)
	}
}

// TestCurlPage sends the requests of docs/start/curl.md to a gateway in front of the sample service.
func TestCurlPage(t *testing.T) {
	for _, program := range []string{"curl", "sh"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	service := httptest.NewServer(demo.NewService(nil))
	defer service.Close()
	s := serveStartPage(t, service.URL)
	blocks := startPage(t, "curl.md", pageGateway+"/mcp", s.mcp)
	ran := 0
	for i, b := range blocks {
		if b.language != "sh" || !strings.Contains(b.text, s.mcp) {
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		c := exec.CommandContext(ctx, "sh", "-c", b.text)
		c.Env = append(os.Environ(), "NO_PROXY=*", "no_proxy=*")
		output, err := c.Output()
		cancel()
		if err != nil {
			t.Errorf("%s%v", b.text, err)
			continue
		}
		ran++
		if i+1 == len(blocks) || blocks[i+1].language != "text" {
			t.Errorf("the page does not show the output of\n%s", b.text)
			continue
		}
		shows(t, b.text, string(output), blocks[i+1].text)
	}
	if ran < 5 {
		t.Errorf("docs/start/curl.md has %d requests", ran)
	}
}

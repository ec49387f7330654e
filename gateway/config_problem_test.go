package gateway_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"drawbridge/config"
	"drawbridge/test/gatewaytest"
)

// TestNameClashes: that the name of a tool depends on another document is told once, and holds as long as both are there.
func TestNameClashes(t *testing.T) {
	p := started(t, "apis: [{spec: ., base_url: 'http://127.0.0.1:1'}]\n")
	for _, step := range []struct {
		what    string
		file    string
		text    string
		clashes int
		names   string // without the hashes
	}{
		{"one", "a.yaml", gatewaytest.Document("Same", "list"), 0, "same_list"},
		{"two", "b.yaml", gatewaytest.Document("Same", "list"), 1, "same-_list same-_list"},
		{"two, still", "b.yaml", gatewaytest.Document("Same", "list", "other"), 1, "same-_list same-_list same-_other"},
		{"another title", "b.yaml", gatewaytest.Document("Else", "list"), 0, "else_list same_list"},
	} {
		p.Write(map[string]string{step.file: step.text})
		if err := p.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.Eventually(step.what, func() bool {
			names := strings.Fields(regexp.MustCompile("-[0-9a-f]{8}").ReplaceAllString(strings.Join(p.Tools(), " "), "-"))
			slices.Sort(names) // which hash is the first depends on where the files are
			return len(p.NameClashes()) == step.clashes && strings.Join(names, " ") == step.names
		})
	}
	if n := p.logged("names clash"); n != 1 {
		t.Errorf("%d warnings, log %s", n, p.log)
	}
}

// TestNameClashesOfApprovedTools holds that names of tools clash whether or not tools have to be approved, since those that
// are held back have names, too.
func TestNameClashesOfApprovedTools(t *testing.T) {
	const apis = "apis: [{spec: a.yaml, name: a, base_url: 'http://127.0.0.1:1'}, {spec: b.yaml, name: b, base_url: 'http://127.0.0.1:1'}]\n"
	p := gatewaytest.Run(t, map[string]string{"a.yaml": gatewaytest.Document("A", "list"), "b.yaml": gatewaytest.Document("B", "list"), "drawbridge.yaml": "tools: {prefix: never}\n" + apis})
	p.Eventually("two APIs", func() bool { return len(p.NameClashes()) == 1 })
	for _, approved := range []int{2, 1} {
		tools := p.Lock().Tools()[:approved]
		p.Write(map[string]string{
			"approved.lock":   string(config.NewLock(tools).Encode()),
			"drawbridge.yaml": "tools: {prefix: never, lock: approved.lock}\n" + apis,
		})
		if err := p.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if clashes, served := p.NameClashes(), p.Tools(); len(clashes) != 1 || len(served) != approved {
			t.Errorf("clashes %q of %q, want one, and %d tools", clashes, served, approved)
		}
	}
}

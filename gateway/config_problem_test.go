package gateway

import (
	"regexp"
	"slices"
	"strings"
	"testing"
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
		{"one", "a.yaml", document("Same", "list"), 0, "same_list"},
		{"two", "b.yaml", document("Same", "list"), 1, "same-_list same-_list"},
		{"two, still", "b.yaml", document("Same", "list", "other"), 1, "same-_list same-_list same-_other"},
		{"another title", "b.yaml", document("Else", "list"), 0, "else_list same_list"},
	} {
		p.write(map[string]string{step.file: step.text})
		if err := p.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.eventually(step.what, func() bool {
			names := strings.Fields(regexp.MustCompile("-[0-9a-f]{8}").ReplaceAllString(strings.Join(p.tools(), " "), "-"))
			slices.Sort(names) // which hash is the first depends on where the files are
			return len(p.NameClashes()) == step.clashes && strings.Join(names, " ") == step.names
		})
	}
	if n := p.logged("names clash"); n != 1 {
		t.Errorf("%d warnings, log %s", n, p.log)
	}
}

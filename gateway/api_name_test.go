package gateway

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"drawbridge/config"
)

// TestNames is a case of pains row 118.
func TestNames(t *testing.T) {
	for title, want := range map[string]string{
		"Orders API": "orders-api", "  ": "api", "Ünïted": "united", "订单服务": "ding-dan-fu-wu", "用户API v2": "yong-hu-api-v2", "注文サービス": "zhu-wen-sabisu", "주문 관리": "jumun-gwanri", "🙂": "api", "A very long title of some service": "a-very-long-title-of",
		"GitHub's official OpenAPI": "github-official-openapi", "GitHub’s": "github", "'s": "api", "Crow's-nest": "crow-nest", "Bob'sled": "bob-sled", "Rock 's roll": "rock-roll",
		"Supercalifragilisticexpialidocious API": "supercalifragilisticexpi", "twenty-four characters xx": "twenty-four-characters", "exactly twentyfour chars": "exactly-twentyfour-chars",
	} {
		if got := apiName(title); got != want {
			t.Errorf("apiName(%q) = %q, want %q", title, got, want)
		}
	}
	d := &deployment{}
	for _, spec := range []string{"a.yaml", "b.yaml", "https://orders.internal/x.json"} {
		s := &source{config: config.API{Spec: config.Location(spec)}, label: nameFromLocation(spec), loaded: &loaded{title: "Same"}}
		d.sources = append(d.sources, s)
	}
	d.sources[2].loaded = nil
	clashes := d.nameSources()
	var names []string
	for _, s := range d.sources {
		names = append(names, s.name)
	}
	if want := []string{"same-a42a65b8", "same-0f9a30d3", "orders-internal"}; !slices.Equal(names, want) {
		t.Errorf("names = %v, want %v", names, want)
	}
	if len(clashes) != 1 || !strings.HasPrefix(clashes[0], `a.yaml and b.yaml would all be named "same", `) {
		t.Errorf("clashes = %q", clashes)
	}
}

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

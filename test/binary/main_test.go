package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestProgram: the program is built without what makes the linker keep every exported method of every type (ADR 0062), and what its
// modules cost is found.
func TestProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "drawbridge")
	build := exec.CommandContext(t.Context(), "go", "build", "-tags", "grpcnotrace", "-ldflags=-w", "-o", path, "../../cmd/drawbridge")
	build.Env = append(build.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p, err := read(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range p.symbols {
		if s.pkg == "text/template" && s.code && strings.Contains(s.name, "evalField") {
			t.Errorf("the program has %s, which calls methods by name: find what executes a template with go build -ldflags=-dumpdep", s.name)
		}
	}
	all := p.costs(p.module)
	for _, name := range []string{"drawbridge", std, "cel.dev/cel-go", "github.com/redis/go-redis/v9"} {
		if i := slices.IndexFunc(all, func(c cost) bool { return c.name == name }); i < 0 || all[i].code < 100_000 || all[i].sum() > p.loaded {
			t.Errorf("%s: %d of %v", name, i, all)
		}
	}
}

func TestPackageOf(t *testing.T) {
	for name, want := range map[string]string{
		"main.main": "main", "drawbridge/gateway/call.(*Call).run": "drawbridge/gateway/call", "go.yaml.in/yaml/v4.Marshal": "go.yaml.in/yaml/v4",
		"github.com/nlopes/slack%2ego.New": "github.com/nlopes/slack.go", "slices.SortFunc[go.shape.[]drawbridge/config.API]": "slices",
		"type:*main.x": "", "go:string.*": "", "runtime.text": "runtime", "_start": "",
	} {
		if got := packageOf(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

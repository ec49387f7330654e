package fence

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The top level is fixed, so that whoever looks sees the architecture, and the output of a measurement that was
// committed by accident is noticed.
func TestTopLevel(t *testing.T) {
	fixed := []string{
		"go.mod", "go.sum", "cmd", "gateway", "openapi", "auth", "config", "deploy", "docs", "Dockerfile", "Makefile",
		"README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "RELEASE.md", "test",
	}
	command := exec.Command("git", "ls-files")
	command.Dir = filepath.Join("..", "..")
	tracked, err := command.Output()
	if err != nil {
		t.Skipf("this is not a checkout of git: git ls-files: %v", err)
	}
	have := map[string]bool{}
	for file := range strings.Lines(string(tracked)) {
		name, _, _ := strings.Cut(strings.TrimSpace(file), "/")
		if !have[name] && !slices.Contains(fixed, name) && !strings.HasPrefix(name, ".") {
			t.Errorf("%q is tracked at the top level, where only these and dotfiles may stand: %s", name, strings.Join(fixed, ", "))
		}
		have[name] = true
	}
	for _, name := range fixed {
		if !have[name] {
			t.Errorf("%q is missing at the top level", name)
		}
	}
}

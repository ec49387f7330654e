package fence

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestLeaksAreLookedFor holds that every package with tests fails when they leave a goroutine behind.
func TestLeaksAreLookedFor(t *testing.T) {
	command := exec.CommandContext(t.Context(), "go", "list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}", "./...")
	command.Dir = "../.."
	list, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := 0
	for dir := range strings.FieldsSeq(string(list)) {
		packages++
		t.Run(filepath.Base(dir), func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(string(text), "goleak.VerifyTestMain(") || strings.Contains(string(text), "goleak.Find(") {
					return
				}
			}
			t.Errorf("%s has no TestMain that looks for leaks: goleak.VerifyTestMain(m)", dir)
		})
	}
	if packages < 10 {
		t.Errorf("go list printed %d packages", packages)
	}
}

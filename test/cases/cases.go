// Package cases runs the cases of a package: .txtar files that say in their first paragraph why they exist.
package cases

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// Run runs a subtest for each file that matches the pattern, named after the file. It fails if there is none, and for files
// that don't say why they exist.
func Run(t *testing.T, pattern string, run func(t *testing.T, file string, a *txtar.Archive)) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases match %s (%v)", pattern, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(bytes.TrimSpace(a.Comment)) == 0 {
				t.Errorf("%s does not say why it exists", file)
			}
			run(t, file, a)
		})
	}
}

// Write writes a case, with what the code does as its expectations.
func Write(t *testing.T, file string, a *txtar.Archive) {
	t.Helper()
	if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
		t.Fatal(err)
	}
}

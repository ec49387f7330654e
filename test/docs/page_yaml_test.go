package docs

import (
	"os"
	"path/filepath"
	"testing"

	"drawbridge/config"
)

// TestPages: what these pages show can be pasted as it stands.
func TestPages(t *testing.T) {
	for _, page := range []string{"docs/limits.md", "docs/resilience.md", "docs/answers.md"} {
		for _, b := range blocks(t, page) {
			file := filepath.Join(t.TempDir(), "drawbridge.yaml")
			if err := os.WriteFile(file, []byte(b.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, problems := config.Load(file, func(string) string { return "" }); len(problems) > 0 {
				t.Errorf("%s:%d: %v", page, b.line, problems)
			}
		}
	}
}

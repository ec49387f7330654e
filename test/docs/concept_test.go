package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// conceptRow is a row of docs/contributing/concepts.md: the concept, its word, the file.
var conceptRow = regexp.MustCompile("(?m)^\\| (.+) \\| `([^`]+)` \\| \\[([^]]+)\\]\\(\\.\\./\\.\\./([^)]+)\\) \\|$")

// TestConcepts holds that a maintainer finds a concept by its usual name: the file of each exists, and its path has the word.
func TestConcepts(t *testing.T) {
	rows := conceptRow.FindAllStringSubmatch(read(t, "docs/contributing/concepts.md"), -1)
	if len(rows) < 55 {
		t.Errorf("%d concepts", len(rows))
	}
	for _, row := range rows {
		concept, word, shown, path := row[1], row[2], row[3], row[4]
		if shown != path {
			t.Errorf("%s: the link to %s shows %s", concept, path, shown)
		}
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(path))); err != nil {
			t.Errorf("%s: %v", concept, err)
		}
		if !regexp.MustCompile(word).MatchString(path) {
			t.Errorf("%s: %s does not have the word %s", concept, path, word)
		}
	}
}

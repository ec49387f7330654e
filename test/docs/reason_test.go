package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReasons: whoever finds in the log why a token was refused finds on the page on tokens what to do. What is wrong with
// a proof says itself.
func TestReasons(t *testing.T) {
	page := read(t, "docs/auth.md")
	files, err := filepath.Glob(filepath.Join(root, "auth/*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	reason := regexp.MustCompile(`(?:reject\(|reason: )"([^"]+)"`)
	found := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range reason.FindAllStringSubmatch(string(text), -1) {
			found++
			if m[1] != "proof: " && !strings.Contains(page, "`"+m[1]+"`") {
				t.Errorf("docs/auth.md does not say what to do about %q", m[1])
			}
		}
	}
	if found < 40 {
		t.Errorf("%d reasons were found", found)
	}
}

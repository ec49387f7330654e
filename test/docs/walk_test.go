package docs

import (
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// walkPackage is a line of a drawing that names a package, with a remark after it or without one.
	walkPackage = regexp.MustCompile(`^[│├└─ ]*((?:cmd|config|openapi|auth|gateway)(?:/[a-z0-9]+)*)(?: ───.*)?$`)
	// walkHop is a line that names a file of the package above it and what it declares.
	walkHop = regexp.MustCompile(`^[│ ]*([a-z0-9_]+\.go) +(\S+)`)
)

// TestWalks holds the drawings of docs/contributing/walks.md against the sources: each file exists and declares the name beside it.
func TestWalks(t *testing.T) {
	const page = "docs/contributing/walks.md"
	current, drawing, hops := "", false, 0
	files := map[string]*declared{}
	for i, line := range strings.Split(read(t, page), "\n") {
		if strings.HasPrefix(line, "```") {
			current, drawing = "", !drawing
		}
		if !drawing {
			continue
		}
		if m := walkPackage.FindStringSubmatch(line); m != nil {
			current = m[1]
			continue
		}
		m := walkHop.FindStringSubmatch(line)
		if m == nil {
			if strings.Contains(line, ".go ") {
				t.Errorf("%s:%d: expected a file and a name, got %q", page, i+1, line)
			}
			continue
		}
		hops++
		file, name := path.Join(current, m[1]), m[2]
		if files[file] == nil {
			syntax, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, filepath.FromSlash(file)), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Errorf("%s:%d: %v", page, i+1, err)
				continue
			}
			files[file] = &declared{names: map[string]bool{}, embedded: map[string][]string{}}
			files[file].add(syntax)
		}
		if !files[file].declares(name) {
			t.Errorf("%s:%d: %s does not declare %s", page, i+1, file, name)
		}
	}
	if hops < 60 {
		t.Errorf("%d hops were found", hops)
	}
}

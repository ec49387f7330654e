package fence

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestModules holds the third-party modules of the program against modules.txt: each is code of a stranger in the process that holds all
// credentials, so a new one is a decision, with an ADR that names it and what it adds to the size of the program. (pains row 111)
func TestModules(t *testing.T) {
	listed := run(t, "env", "GOOS=linux", "GOARCH=amd64", "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "./cmd/drawbridge")
	linked := strings.Fields(string(listed))
	slices.Sort(linked)
	linked = slices.Compact(linked)
	text, err := os.ReadFile("modules.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := strings.Fields(string(text))
	for _, m := range linked {
		if !slices.Contains(known, m) {
			t.Errorf("the program links %q, which test/fence/modules.txt does not list: write an ADR that names it and its size, then add it there and to the count in docs/security.md", m)
		}
	}
	for _, m := range known {
		if !slices.Contains(linked, m) {
			t.Errorf("test/fence/modules.txt lists %q, which the program does not link any more: take it out, and out of the count in docs/security.md", m)
		}
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("links %d third-party modules", len(linked)); !strings.Contains(string(page), want) {
		t.Errorf("docs/security.md does not say that the program %s", want)
	}
}

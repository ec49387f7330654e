package fence

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	table = "test/fence/packages.txt"
	page  = "docs/contributing/packages.md"
)

var update = flag.Bool("update", false, "write "+page)

// allowed is what the table allows.
type allowed struct {
	everywhere []string // packages that every package may import
	byPackage  map[string]imports
}

// imports is what one package may import, and the decisions that explain it.
type imports struct {
	packages  []string // of this module, relative to it
	modules   []string // third-party import paths; what is below one is allowed too
	decisions []string // numbers of ADRs
}

// readAllowed reads the table. A line without an indent names a package; below it stand its imports and decisions, one a line.
func readAllowed(t *testing.T) allowed {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", table))
	if err != nil {
		t.Fatal(err)
	}
	all := allowed{byPackage: map[string]imports{}}
	current := ""
	for line := range strings.Lines(string(text)) {
		entry := strings.TrimSpace(line)
		if entry == "" || strings.HasPrefix(entry, "#") {
			continue
		}
		if !strings.HasPrefix(line, "\t") {
			if _, twice := all.byPackage[entry]; twice {
				t.Errorf("%s lists %q twice", table, entry)
			}
			if current = entry; entry != everyPackage {
				all.byPackage[entry] = imports{}
			}
			continue
		}
		if current == everyPackage {
			all.everywhere = append(all.everywhere, entry)
			continue
		}
		i := all.byPackage[current]
		if number, ok := strings.CutPrefix(entry, "adr/"); ok {
			i.decisions = append(i.decisions, number)
		} else if isModule(entry) {
			i.modules = append(i.modules, entry)
		} else {
			i.packages = append(i.packages, entry)
		}
		all.byPackage[current] = i
	}
	return all
}

// everyPackage is the line of the table above the packages that every package may import.
const everyPackage = "every package"

// isModule reports whether an import path is third-party: its first element has a dot.
func isModule(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return strings.Contains(first, ".")
}

// mayImport reports whether the package of that name may import path.
func (a allowed) mayImport(name, path string) bool {
	if own, ok := strings.CutPrefix(path, module+"/"); ok {
		return slices.Contains(a.everywhere, own) || slices.Contains(a.byPackage[name].packages, own)
	}
	if !isModule(path) || within(path, a.byPackage[name].modules) {
		return true
	}
	return name != "gateway/mcp" && !slices.Contains(a.everywhere, name) && within(path, free) && !within(path, notFree)
}

// TestPackagesPage: the page on the packages has what the table allows, and what each package says of itself.
func TestPackagesPage(t *testing.T) {
	file := filepath.Join("..", "..", page)
	want := renderPage(t, readAllowed(t), list(t, "./..."))
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil { //nolint:gosec // a page of the documentation
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Errorf("%s is not what %s and the doc comments give: go test ./test/fence -update writes it", page, table)
	}
}

// renderPage writes the tables, one for each folder at the top.
func renderPage(t *testing.T, all allowed, packages []listed) []byte {
	t.Helper()
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Packages\n\n`go test ./test/fence -update` writes this page from the first sentence of each package's doc comment and from [packages.txt](../../%s), which says what a package may import. "+
		"A new arrow between packages, or a new module, is a design change: it begins with an ADR.\n\n", table)
	fmt.Fprintf(&b, "Every package may import %s. All but these and `gateway/mcp` may import the API of OpenTelemetry, the types of Prometheus and golang.org/x/sync. "+
		"`make house` prints how large each package is.\n", code(all.everywhere, "and"))
	top := ""
	for _, p := range packages {
		name := p.name()
		if isTest(name) {
			continue
		}
		i := all.byPackage[name]
		if folder, _, _ := strings.Cut(name, "/"); folder != top {
			top = folder
			fmt.Fprintf(&b, "\n## %s\n\n| package | purpose | may import | third-party modules | decisions |\n|---|---|---|---|---|\n", top)
		}
		var decisions []string
		for _, number := range i.decisions {
			decisions = append(decisions, decision(t, number))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", name, purpose(p.Doc), code(i.packages, ""), code(i.modules, ""), strings.Join(decisions, ", "))
	}
	return b.Bytes()
}

var (
	subject  = regexp.MustCompile(`^(Package|Command) \S+ `)
	docLinks = regexp.MustCompile(`\[([A-Za-z.]+)\]`)
)

// purpose is the first sentence of a doc comment without its subject, as a cell of a table.
func purpose(doc string) string {
	text := strings.TrimSuffix(subject.ReplaceAllString(doc, ""), ".")
	return strings.ReplaceAll(docLinks.ReplaceAllString(text, "`$1`"), "|", "\\|")
}

// code lists names as code; a word stands before the last, if there is one.
func code(names []string, before string) string {
	quoted := make([]string, 0, len(names))
	for _, name := range names {
		quoted = append(quoted, "`"+name+"`")
	}
	if n := len(quoted); before != "" && n > 1 {
		quoted = append(quoted[:n-2], quoted[n-2]+" "+before+" "+quoted[n-1])
	}
	return strings.Join(quoted, ", ")
}

// decision links to the ADR of that number.
func decision(t *testing.T, number string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("..", "..", "docs", "contributing", "adr", number+"-*.md"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s names ADR %s: found %v", table, number, found)
	}
	return fmt.Sprintf("[%s](adr/%s)", number, filepath.Base(found[0]))
}

package endpoint_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestCodes holds that the codes of the load report are a closed set that is documented: each constant named code…, Code…
// or reason… stands in a table of docs/load-report.md, once, and nothing else does.
func TestCodes(t *testing.T) {
	declared := map[string]bool{}
	for _, dir := range []string{"..", "../source", "../plan", "../report", "../../openapi", "../../openapi/fetch", "../../openapi/tree", "../../openapi/schema"} {
		names, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				spec, ok := n.(*ast.ValueSpec)
				if !ok || len(spec.Values) != 1 || !regexp.MustCompile(`^([cC]ode|reason)[A-Z]`).MatchString(spec.Names[0].Name) {
					return true
				}
				if lit, ok := spec.Values[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
					code, err := strconv.Unquote(lit.Value)
					if err != nil || !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(code) {
						t.Errorf("%s: the code %s is no kebab-case word", name, lit.Value)
					}
					declared[code] = true
				}
				return true
			})
		}
	}
	if len(declared) < 80 {
		t.Fatalf("only %d codes were found", len(declared))
	}
	text, err := os.ReadFile("../../docs/load-report.md")
	if err != nil {
		t.Fatal(err)
	}
	_, tables, found := strings.Cut(string(text), "\n## Codes\n")
	if !found {
		t.Fatal("the report's documentation has no section Codes")
	}
	var documented []string
	for line := range strings.Lines(tables) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 || !strings.Contains(cells[1], "`") {
			continue
		}
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
			if slices.Contains(documented, m[1]) {
				t.Errorf("the code %q is documented twice", m[1])
			}
			documented = append(documented, m[1])
		}
		if len(cells) != 5 {
			t.Errorf("a row has %d cells, want 3: %s", len(cells)-2, line)
		}
	}
	for code := range declared {
		if !slices.Contains(documented, code) {
			t.Errorf("the code %q is not in docs/load-report.md", code)
		}
	}
	for _, code := range documented {
		if !declared[code] {
			t.Errorf("docs/load-report.md has the code %q, which nothing declares", code)
		}
	}
}

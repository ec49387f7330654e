package fence

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "drawbridge"

// Free everywhere except in gateway/mcp and in what every package may import: the vocabulary of telemetry and of concurrency, no mechanism.
var free = []string{
	"go.opentelemetry.io/otel",
	"github.com/prometheus/client_golang/prometheus",
	"golang.org/x/sync",
}

// The OpenTelemetry SDK and its exporters live below the API's path, and are not free.
var notFree = []string{
	"go.opentelemetry.io/otel/sdk",
	"go.opentelemetry.io/otel/exporters",
	"github.com/prometheus/client_golang/prometheus/promhttp",
}

// listed is the part of `go list -json` that the tests read.
type listed struct {
	ImportPath string
	Doc        string // the first sentence of the doc comment
	Imports    []string
}

// name is the path of a package below the module.
func (l listed) name() string { return strings.TrimPrefix(l.ImportPath, module+"/") }

// isTest reports whether a package runs the program from outside, or its tests do.
func isTest(name string) bool { return name == "test" || strings.HasPrefix(name, "test/") }

func TestArrowsAndFences(t *testing.T) {
	allowed := readAllowed(t)
	for _, p := range list(t, "./...") {
		name := p.name()
		if isTest(name) {
			continue // what runs the program from outside may import anything; see TestBinary
		}
		if _, ok := allowed.byPackage[name]; !ok {
			t.Errorf("%s does not list package %q: a new package is a design change", table, name)
			continue
		}
		for _, i := range p.Imports {
			if !allowed.mayImport(name, i) {
				t.Errorf("package %q imports %q, which %s does not allow it", name, i, table)
			}
		}
	}
}

// within reports whether path is one of the prefixes or stands below one.
func within(path string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool {
		return path == p || strings.HasPrefix(path, p+"/")
	})
}

// The official SDKs are our judges in tests and nothing else (docs/contributing/adr/0001).
func TestBinary(t *testing.T) {
	sdks := []string{"github.com/modelcontextprotocol", "github.com/mark3labs/mcp-go", "github.com/metoro-io/mcp-golang"}
	judges := []string{"github.com/getkin/kin-openapi/openapi3filter", "github.com/google/go-cmp", "go.uber.org/goleak", "github.com/rogpeppe/go-internal", "golang.org/x/tools", "testing"}
	seen := 0
	for _, p := range list(t, "-deps", "./cmd/drawbridge") {
		seen++
		if within(p.ImportPath, sdks) {
			t.Errorf("the binary contains %q: an MCP SDK may be imported by tests only", p.ImportPath)
		}
		if within(p.ImportPath, judges) {
			t.Errorf("the binary contains %q, which belongs to tests", p.ImportPath)
		}
	}
	if seen == 0 {
		t.Fatal("go list -deps ./cmd/drawbridge printed nothing")
	}
}

// TestTableIsTrue: each package of the table exists, and imports each package of the module that the table allows it.
func TestTableIsTrue(t *testing.T) {
	imports := map[string][]string{}
	for _, p := range list(t, "./...") {
		imports[p.name()] = p.Imports
	}
	for name, a := range readAllowed(t).byPackage {
		have, exists := imports[name]
		if !exists {
			t.Errorf("%s lists %q, which does not exist", table, name)
			continue
		}
		for _, own := range a.packages {
			if !slices.Contains(have, module+"/"+own) {
				t.Errorf("%s allows %q to import %q, which it does not", table, name, own)
			}
		}
	}
}

// A file holds one concept. At 600 lines there is a second one in it.
func TestNoLongFiles(t *testing.T) {
	const most = 600
	for _, file := range sources(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(text, []byte("\n")); n > most && !bytes.HasPrefix(text, []byte("// Code generated ")) {
			t.Errorf("%s has %d lines, more than %d: look for the second concept in it", file, n, most)
		}
	}
}

func list(t *testing.T, args ...string) []listed {
	t.Helper()
	var packages []listed
	d := json.NewDecoder(bytes.NewReader(run(t, "go", append([]string{"list", "-json=ImportPath,Doc,Imports"}, args...)...)))
	for {
		var p listed
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatalf("decode go list: %v", err)
		}
		packages = append(packages, p)
	}
}

// sources lists the Go files of the repository, wherever git or a source archive put it.
func sources(t *testing.T) []string {
	t.Helper()
	root := filepath.Join("..", "..")
	var files []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"bin", "out", "node_modules"}, d.Name())) {
			return fs.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(path, ".go") {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("walk the repository: %v", err)
	}
	return files
}

// run runs a command in the root of the repository and returns what it printed.
func run(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir = filepath.Join("..", "..")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return out
}

package schema

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drawbridge/openapi/tree"

	"drawbridge/openapi/jsonschema"
)

// dialectOf reads the version of a document.
func dialectOf(root *tree.Node) (Dialect, bool) {
	switch version := root.Get("openapi").Text(); {
	case root.Get("swagger") != nil:
		return Swagger20, true
	case strings.HasPrefix(version, "3.0"):
		return OpenAPI30, true
	case version != "":
		return OpenAPI31, true
	}
	return 0, false
}

// schemasOf lists the named schemas of a document, and every "schema" of its paths.
func schemasOf(root *tree.Node) []*tree.Node {
	var out []*tree.Node
	for _, list := range []*tree.Node{root.Get("definitions"), root.Get("components").Get("schemas")} {
		for _, s := range list.Members() {
			out = append(out, s)
		}
	}
	var walk func(n *tree.Node)
	walk = func(n *tree.Node) {
		for name, v := range n.Members() {
			switch {
			case name == "schema":
				out = append(out, v)
			case name != "example" && name != "examples" && name != "default" && !strings.HasPrefix(name, "x-"):
				walk(v)
			}
		}
		for _, v := range n.Items() {
			walk(v)
		}
	}
	for _, place := range []string{"paths", "parameters", "responses", "components"} {
		walk(root.Get(place))
	}
	return out
}

func loadFile(t testing.TB, path string) *tree.Set {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	open := func(_ context.Context, location, _ string, _ int) ([]byte, error) {
		if strings.Contains(location, "://") {
			return nil, fs.ErrPermission
		}
		return os.ReadFile(location)
	}
	set, _, err := tree.Load(t.Context(), path, data, open, tree.Limits{})
	if err != nil {
		t.Logf("%s: %v", path, err)
		return nil
	}
	return set
}

// TestCorpus converts every schema of the documents in the folder that OPENAPI_CORPUS names, as an argument, as a body
// and as an answer: what comes out must compile, which includes the meta-schema, and keep to its limits.
// With SCHEMA_DUMP the schemas are also written to that file, one JSON array a document, for other validators.
func TestCorpus(t *testing.T) {
	dir := os.Getenv("OPENAPI_CORPUS")
	if dir == "" {
		t.Skip("OPENAPI_CORPUS is not set")
	}
	var dump *os.File
	if name := os.Getenv("SCHEMA_DUMP"); name != "" {
		var err error
		if dump, err = os.Create(name); err != nil {
			t.Fatal(err)
		}
		defer dump.Close()
	}
	var paths []string
	for _, pattern := range []string{"*", "*/*"} {
		found, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, p := range found {
			if ext := filepath.Ext(p); ext == ".json" || ext == ".yaml" || ext == ".yml" {
				paths = append(paths, p)
			}
		}
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) { convertAll(t, path, dump) })
	}
}

func convertAll(t *testing.T, path string, dump *os.File) {
	data, _ := os.ReadFile(path)
	if len(data) > 0 && !bytes.Contains(data[:min(len(data), 100_000)], []byte("openapi")) && !bytes.Contains(data, []byte("swagger")) {
		t.Skip("part of another document")
	}
	set := loadFile(t, path)
	if set == nil {
		t.Skip("not readable")
	}
	dialect, ok := dialectOf(set.Root())
	if !ok {
		t.Skip("part of another document")
	}
	codes := map[string]int{}
	messages := map[string]bool{}
	c := NewConverter(set, dialect, func(w tree.Warning) {
		if codes[w.Code]++; codes[w.Code] <= 3 && !messages[w.String()] {
			messages[w.String()] = true
			t.Logf("%s: %s", w.Code, strings.TrimPrefix(w.String(), filepath.Dir(path)))
		}
	}, Limits{})
	schemas := schemasOf(set.Root())
	var all []json.RawMessage
	bytes, largest, portableBytes := 0, 0, 0
	start := time.Now()
	outputs := 0
	slowest := time.Duration(0)
	for _, n := range schemas {
		began := time.Now()
		property, err := c.Object([]Property{{Name: "x", Schema: n}})
		if err != nil {
			t.Errorf("%s: Object: %v", n.Pointer(), err)
			continue
		}
		all = append(all, property)
		portable := Portable(jsonschema.Parse(property), 0)
		checkClients(t, portable)
		portableBytes += len(portable)
		c.Plain(n)
		c.Summary(n)
		if c.IsObject(n) {
			root, err := c.Root(n, nil)
			if err != nil {
				t.Errorf("%s: Root: %v", n.Pointer(), err)
				continue
			}
			all = append(all, root)
			checkClients(t, Portable(jsonschema.Parse(root), 0))
			Example(jsonschema.Parse(root), ExampleOptions{}) // must not take long
		}
		if out := c.Output(n); out != nil {
			outputs++
			if len(out.Schema) > 4<<10 {
				t.Errorf("%s: the output schema takes %d bytes", n.Pointer(), len(out.Schema))
			}
			all = append(all, out.Schema)
			checkPortableOutput(t, PortableOutput(out.Schema))
		}
		slowest = max(slowest, time.Since(began))
	}
	elapsed := time.Since(start)
	for _, s := range all {
		bytes += len(s)
		largest = max(largest, len(s))
		if len(s) > 64<<10 {
			t.Errorf("a schema takes %d bytes: %.200s", len(s), s)
		}
	}
	t.Logf("%d schemas in %v (slowest %v), %d bytes, largest %d, %d bytes of arguments in the portable profile, outputs %d, warnings %v",
		len(schemas), elapsed, slowest, bytes, largest, portableBytes, outputs, codes)
	if dump != nil {
		if err := json.NewEncoder(dump).Encode(all); err != nil {
			t.Fatal(err)
		}
	}
	compileAll(t, all)
}

// compileAll compiles schemas, equal ones and the inside of large documents once.
func compileAll(t *testing.T, all []json.RawMessage) {
	seen := map[string]bool{}
	total := 0
	for _, s := range all {
		if seen[string(s)] {
			continue
		}
		seen[string(s)] = true
		if total += len(s); total > 8<<20 && len(seen)%50 != 0 {
			continue
		}
		if _, err := Compile(s); err != nil {
			t.Errorf("compile: %v\n%.2000s", err, s)
			return
		}
	}
}

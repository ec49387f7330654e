package openapi

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/schema"
)

// TestPublishedPathsAreAccepted checks that a value is valid for the published schema of a path parameter if and only
// if it is sent, and that it stays within its segment, for all ways in which a document describes values (pains rows
// 175, 176, 179 and 180).
func TestPublishedPathsAreAccepted(t *testing.T) {
	declared := map[string]string{
		"plain":     "schema: {type: string}",
		"pattern":   `schema: {type: string, pattern: "^.{1,40}$"}`,
		"named":     `schema: {type: string, pattern: "[a-z/]+"}`,
		"class":     `schema: {type: string, pattern: "^[a-z./-]*$"}`,
		"closed":    `schema: {type: string, pattern: "^[a-z.]*$"}`,
		"multi":     "x-multi-segment: true, schema: {type: string}",
		"encoded":   `description: "URL-encoded", schema: {type: string}`,
		"example":   `schema: {type: string, example: "a/b"}`,
		"resource":  `schema: {type: string, pattern: "^depots/[^/]+$"}`,
		"composed":  `schema: {type: string, pattern: "^.*$", allOf: [{maxLength: 30}]}`,
		"reference": `schema: {$ref: "#/components/schemas/Any"}`,
		"inferred":  `schema: {type: string, format: path}`,
		"root":      `description: Empty for the root, schema: {type: string, format: path}`,
	}
	spec := "openapi: 3.1.0\ninfo: {title: T, version: '1'}\npaths:\n"
	for name, said := range declared {
		end := "/end"
		if name == "inferred" || name == "root" {
			end = "" // only in the last position
		}
		spec += fmt.Sprintf("  /%s/{v}%s: {get: {operationId: %s, parameters: [{name: v, in: path, required: true, %s}], responses: {'200': {description: OK}}}}\n", name, end, name, said)
	}
	spec += "components: {schemas: {Any: {type: string, pattern: '.', anyOf: [{maxLength: 30}]}}}\n"
	file := filepath.Join(t.TempDir(), "spec.yaml")
	if err := os.WriteFile(file, []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	doc, err := Load(t.Context(), file, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	api, err := doc.Compile(t.Context(), CompileOptions{})
	if err != nil || len(api.Operations) != len(declared) {
		t.Fatal(err, api.Skipped)
	}
	r := rand.New(rand.NewPCG(1, 2))
	letters := []string{"a", "b", ".", "..", "/", "/", "-", "depots/", "é", " "}
	sent := map[string]int{}
	for _, op := range api.Operations {
		v, err := op.validator()
		if err != nil {
			t.Fatal(err)
		}
		for range 3000 {
			var b strings.Builder
			for range r.IntN(7) {
				b.WriteString(letters[r.IntN(len(letters))])
			}
			value := b.String()
			args := append(append([]byte(`{"v":`), jsonscan.AppendString(nil, []byte(value))...), '}')
			fits := len(v.Validate(schema.Decode(args))) == 0
			req, err := op.NewRequest(t.Context(), &url.URL{Scheme: "https", Host: "api.example", Path: "/base"}, args)
			if fits != (err == nil) {
				t.Fatalf("%s: %q fits %s: %t; sent: %v", op.ID, value, op.Input, fits, err)
			}
			if err != nil {
				continue
			}
			if value == "" && op.ID == "root" && req.URL.EscapedPath() == "/base/root/" {
				continue
			}
			if strings.Contains(value, "/") {
				sent[op.ID]++
			}
			if path := req.URL.EscapedPath(); !regexp.MustCompile("^/base/"+op.ID+"/.+"+strings.TrimPrefix(op.Path, "/"+op.ID+"/{v}")+"$").MatchString(path) || filepath.Clean(path) != path {
				t.Fatalf("%s: %q is sent as %s", op.ID, value, path)
			}
		}
	}
	for name := range declared {
		with := name == "named" || name == "class" || name == "multi" || name == "encoded" || name == "example" || name == "resource" || name == "inferred" || name == "root"
		if (sent[name] > 0) != with {
			t.Errorf("%s: %d values with slashes were sent", name, sent[name])
		}
	}
}

// TestSlashesLeadNowhere holds that slashes in values don't lead to other paths that the document describes, however they are written: below
// another base of the same origin, of an operation that is skipped, or with parts that servers cut off (ADR 0055, ADR 0069).
func TestSlashesLeadNowhere(t *testing.T) {
	const spec = `openapi: 3.1.0
info: {title: T, version: "1"}
servers: [{url: "https://api.example/v1"}]
paths:
  /files/{path}: {get: {operationId: inferred, parameters: [{$ref: "#/components/parameters/Path"}], responses: {"200": {description: OK}}}}
  /raw/{path}: {get: {operationId: raw, parameters: [{$ref: "#/components/parameters/Raw"}], responses: {"200": {description: OK}}}}
  /files/{folder}/trash: {put: {operationId: trash, parameters: [{$ref: "#/components/parameters/Folder"}], responses: {"200": {description: OK}}}}
  /files/{folder}/skipped: {get: {operationId: skipped, parameters: [{$ref: "#/components/parameters/Folder"}, {name: x, in: elsewhere, required: true, schema: {type: string}}], responses: {"200": {description: OK}}}}
  /{folder}/keys:
    servers: [{url: "https://api.example/v1/files"}]
    get: {operationId: below, parameters: [{$ref: "#/components/parameters/Folder"}], responses: {"200": {description: OK}}}
  /v1/files/{folder}/log:
    servers: [{url: "https://api.example"}]
    get: {operationId: above, parameters: [{$ref: "#/components/parameters/Folder"}], responses: {"200": {description: OK}}}
  /{folder}/keys/raw:
    servers: [{url: "https://api.example/v1/raw"}]
    get: {operationId: rawBelow, parameters: [{$ref: "#/components/parameters/Folder"}], responses: {"200": {description: OK}}}
components:
  parameters:
    Path: {name: path, in: path, required: true, schema: {type: string}}
    Raw: {name: path, in: path, required: true, x-multi-segment: true, schema: {type: string}}
    Folder: {name: folder, in: path, required: true, schema: {type: string}}
`
	file := filepath.Join(t.TempDir(), "spec.yaml")
	if err := os.WriteFile(file, []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	doc, err := Load(t.Context(), file, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	api, err := doc.Compile(t.Context(), CompileOptions{})
	if err != nil || len(api.Operations) != 6 || len(api.Skipped) != 1 {
		t.Fatal(err, len(api.Operations), api.Skipped)
	}
	for id, values := range map[string]map[string]bool{
		"inferred": {
			"a/b": true, "a/trash": false, "a/Trash": false, "a/trash;v=1": false, "a;x/trash": false, "a/trash?x": false, "a/trash#x": false, "a/b;c?d": true,
			"a/skipped": false, "a/keys": false, "a/log": false, "a/keys;x": false, "a/keys/more": true, "trash": true,
		},
		"raw": {"a/b": true, "a/keys": true, "a/keys/raw": false, "a/keys/raw/b": true},
	} {
		op := api.Operations[slices.IndexFunc(api.Operations, func(op *Operation) bool { return op.ID == id })]
		for value, sent := range values {
			if _, err := op.NewRequest(t.Context(), nil, append(jsonscan.AppendString([]byte(`{"path":`), value), '}')); (err == nil) != sent {
				t.Errorf("%s: %q: %v", id, value, err)
			}
		}
	}
}

// TestNeighborsAreShared holds that operations whose values may hold slashes share the lists of paths that they leave alone: a list for each
// would take memory with the square of their number.
func TestNeighborsAreShared(t *testing.T) {
	spec := "openapi: 3.0.3\ninfo: {title: Files, version: \"1\"}\npaths:\n"
	for i := range 20 {
		spec += fmt.Sprintf("  /f%d/{path}: {get: {operationId: f%d, servers: [{url: 'https://files.example/v%d'}], "+
			"parameters: [{name: path, in: path, required: true, schema: {type: string}}], responses: {'200': {description: OK}}}}\n", i, i, i%2)
	}
	file := filepath.Join(t.TempDir(), "spec.yaml")
	if err := os.WriteFile(file, []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	doc, err := Load(t.Context(), file, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	api, err := doc.Compile(t.Context(), CompileOptions{})
	if err != nil || len(api.Operations) != 20 {
		t.Fatal(err, api.Skipped)
	}
	lists := map[*neighbor]bool{}
	for _, op := range api.Operations {
		if len(op.neighbors) != 3 {
			t.Fatalf("%s has %d lists", op.ID, len(op.neighbors))
		}
		for _, n := range op.neighbors {
			if len(n.paths) > 0 {
				lists[&n.paths[0]] = true
			}
		}
	}
	if len(lists) != 3 { // of two bases, and of their origin
		t.Errorf("%d lists", len(lists))
	}
}

package openapi

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"drawbridge/openapi/fetch"
)

// copied is a document of two files, for TestCopy.
const (
	copiedRoot = `openapi: 3.1.0
info: {title: Copied, version: '7'}
servers: [{url: /v1}]
paths:
  /things:
    post:
      operationId: make
      requestBody: {content: {application/json: {schema: {$ref: 'parts.yaml#/Thing'}}}}
      responses: {'200': {description: ok}}
`
	copiedPart = "Thing: {type: object, properties: {name: {type: string}}, required: [name]}\n"
)

// TestCopy checks that a document is loaded from its copy without its origin, with the same result, and that the copy
// contains no query.
func TestCopy(t *testing.T) {
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/moved":
			http.Redirect(w, r, "/api/openapi.yaml?signature=hidden-too", http.StatusFound)
		case r.URL.Path == "/api/openapi.yaml":
			w.Header().Set("ETag", `"1"`)
			_, _ = w.Write([]byte(copiedRoot))
		case r.URL.Path == "/api/parts.yaml":
			_, _ = w.Write([]byte(copiedPart))
		default:
			http.NotFound(w, r)
		}
	}))
	dir := t.TempDir()
	for name, text := range map[string]string{"openapi.yaml": copiedRoot, "parts.yaml": copiedPart} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	copies := map[string]*fetch.Copy{}
	for _, location := range []string{served.URL + "/api/openapi.yaml?key=hidden", served.URL + "/moved?key=hidden", filepath.Join(dir, "openapi.yaml")} {
		o := LoadOptions{Client: served.Client(), Keep: true}
		d, err := Load(t.Context(), location, o)
		if err != nil {
			t.Fatal(err)
		}
		copies[location] = d.Copy
	}
	served.Close()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for location, c := range copies {
		for _, f := range c.Files {
			if strings.Contains(f.Location+c.Location+c.Page, "hidden") {
				t.Errorf("the copy of %s holds a query: %s", location, f.Location)
			}
		}
		d, err := LoadCopy(t.Context(), location, c, LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		api, err := d.Compile(t.Context(), CompileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(api.Operations) != 1 || len(api.Problems) > 1 { // a file has one: no server is declared
			t.Fatalf("%s: %d operations, problems %v", location, len(api.Operations), api.Problems)
		}
		input, _ := api.Operations[0].Published(ProfileFull)
		if d.Title != "Copied" || !strings.Contains(string(input), `"name"`) {
			t.Errorf("%s: %q, input %s", location, d.Title, input)
		}
		if base := api.Operations[0].Base; strings.HasPrefix(location, "http") && (base == nil || !strings.HasPrefix(base.String(), served.URL+"/v1")) {
			t.Errorf("%s: calls go to %v", location, base)
		}
	}
	for name, tt := range map[string]struct {
		copy fetch.Copy
		want string
	}{
		"nothing":        {fetch.Copy{}, "it holds no document"},
		"another origin": {fetch.Copy{Location: "http://evil.example/a", Files: []fetch.File{{Location: "http://evil.example/a", Data: []byte(copiedRoot)}}}, "it is of another origin"},
		"a file":         {fetch.Copy{Location: "/etc/passwd", Files: []fetch.File{{Location: "/etc/passwd", Data: []byte("x")}}}, "it is that of another document"},
		"no document":    {fetch.Copy{Location: "http://a.example/", Files: []fetch.File{{Location: "http://a.example/", Data: []byte("x: 1")}}}, "not an OpenAPI document"},
	} {
		_, err := LoadCopy(t.Context(), "http://a.example/?key=hidden", &tt.copy, LoadOptions{})
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

package openapi

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"drawbridge/openapi/fetch"
)

// TestSmall checks that no more than the limit is read of a document that is too large for now, for any distribution of
// its bytes over files, and that none of its files is left out because of that.
func TestSmall(t *testing.T) {
	pad := func(text string, n int) string { return text + strings.Repeat(" ", n-len(text)) }
	root := referring("p.json")
	for _, tt := range []struct {
		name       string
		root, file int // bytes
		small      int64
		want       error
	}{
		{"small", 500, 500, 1000, nil},
		{"any", 5000, 5000, 0, nil},
		{"the document", 1001, 500, 1000, fetch.ErrLarge},
		{"a file", 500, 1001, 1000, fetch.ErrLarge},
		{"both together", 500, 501, 1000, fetch.ErrLarge},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{"spec": pad(root, tt.root), "p.json": pad(parameterFile, tt.file)}
			web, dir := slowWeb{}, t.TempDir()
			for name, text := range files {
				page := web["https://a.example/"+name]
				page.body, page.after = text, time.Nanosecond
				web["https://a.example/"+name] = page
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for _, location := range []string{"https://a.example/spec", filepath.Join(dir, "spec")} {
				o := LoadOptions{Client: &http.Client{Transport: web}, Small: tt.small}
				d, err := Load(t.Context(), location, o)
				if !errors.Is(err, tt.want) || err == nil && len(d.problems) > 0 {
					t.Errorf("%s: %v, %v", location, err, d)
				}
				if err != nil && err.Error() != fmt.Sprintf("document %q: document is large", location) {
					t.Error(err)
				}
				if err != nil {
					continue
				}
				o.Previous = &d.Stamp
				if _, err = Load(t.Context(), location, o); !errors.Is(err, fetch.ErrUnchanged) {
					t.Errorf("%s again: %v", location, err)
				}
			}
		})
	}
}

// TestSmallPage checks that a document within a script counts with its full size, and that other scripts of the page
// don't count if all may be read.
func TestSmallPage(t *testing.T) {
	script := `let options = {"swaggerDoc": {"openapi": "3.0.3", "info": {"title": "Behind", "version": "1"}, "paths": {}}}` + strings.Repeat(" ", 2000)
	web := slowWeb{}
	for name, text := range map[string]string{
		"":                     `<!DOCTYPE html><html><body><script src="./swagger-ui-bundle.js"></script><script src="./swagger-ui-init.js"></script></body></html>`,
		"swagger-ui-bundle.js": "", "swagger-ui-init.js": script,
	} {
		page := web["https://a.example/"+name]
		page.body, page.after = text, time.Nanosecond
		web["https://a.example/"+name] = page
	}
	o := LoadOptions{Client: &http.Client{Transport: web}, Small: 1000}
	if _, err := Load(t.Context(), "https://a.example/", o); !errors.Is(err, fetch.ErrLarge) {
		t.Error(err)
	}
	o.Small = 0
	if d, err := Load(t.Context(), "https://a.example/", o); err != nil || d.Title != "Behind" {
		t.Errorf("%v, %v", d, err)
	}
}

// TestLargeSince checks that files that have grown since they were read count, too, while they are compared with their
// stamp.
func TestLargeSince(t *testing.T) {
	const files, size = 20, 1000
	web := slowWeb{}
	put := func(name, text string) {
		page := web["https://a.example/"+name]
		page.body, page.after = text, time.Nanosecond
		web["https://a.example/"+name] = page
	}
	root := "openapi: 3.0.3\ninfo: {title: R, version: '1'}\npaths:\n  /a:\n    get:\n      responses: {}\n      parameters:\n"
	for i := range files {
		root += fmt.Sprintf("        - {$ref: 'p%02d.json'}\n", i)
		put(fmt.Sprintf("p%02d.json", i), fmt.Sprintf(`{"name": "p%02d", "in": "query", "schema": {"type": "string"}}`, i))
	}
	put("spec", root)
	asked := &recorded{next: web, names: map[string]bool{}}
	o := LoadOptions{Client: &http.Client{Transport: asked}, Small: 10 * size}
	d, err := Load(t.Context(), "https://a.example/spec", o)
	if err != nil {
		t.Fatal(err)
	}
	o.Previous = &d.Stamp
	for i := range files {
		put(fmt.Sprintf("p%02d.json", i), fmt.Sprintf(`{"name": "p%02d", "in": "query", "schema": {"type": "string"}}`, i)+strings.Repeat(" ", size))
	}
	clear(asked.names)
	if _, err = Load(t.Context(), "https://a.example/spec", o); !errors.Is(err, fetch.ErrLarge) {
		t.Error(err)
	}
	if n := len(asked.names); n > files/2+1 {
		t.Errorf("%d files were read", n)
	}
}

// recorded records the requested paths.
type recorded struct {
	next  http.RoundTripper
	names map[string]bool
}

func (r *recorded) RoundTrip(req *http.Request) (*http.Response, error) {
	r.names[req.URL.Path] = true
	return r.next.RoundTrip(req)
}

// TestNoMoreThanMemory checks that the text of a document counts as part of the memory that it may take.
func TestNoMoreThanMemory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "spec")
	if err := os.WriteFile(file, []byte(strings.Repeat(" ", 3<<20)), 0o600); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("document %q: is larger than 2 MiB; the limit is there to protect the gateway", file)
	if _, err := Load(t.Context(), file, LoadOptions{Limits: Limits{Memory: 2 << 20}}); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

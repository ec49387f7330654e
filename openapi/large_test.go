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
)

// TestSmall: of a document that is larger than it may be for now no more is read, however its bytes are spread over files; none of its
// files is left out for that.
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
		{"the document", 1001, 500, 1000, ErrLarge},
		{"a file", 500, 1001, 1000, ErrLarge},
		{"both together", 500, 501, 1000, ErrLarge},
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
				if _, err = Load(t.Context(), location, o); !errors.Is(err, ErrUnchanged) {
					t.Errorf("%s again: %v", location, err)
				}
			}
		})
	}
}

// TestNoMoreThanMemory: the text of a document is part of the memory that it may take.
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

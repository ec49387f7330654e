package openapi

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSize checks that the memory of operations, including skipped ones, is known, and that compilation stops at the
// limit.
func TestSize(t *testing.T) {
	file := filepath.Join(t.TempDir(), "d.json")
	var paths []string
	for i := range 100 {
		paths = append(paths, fmt.Sprintf(`"/p%d":{"get":{"parameters":[{"name":"q","in":"query","schema":{"type":"string"}}],"responses":{}}}`, i))
	}
	for i := range 10 {
		paths = append(paths, fmt.Sprintf(`"/q%d":{"get":7},"/r%d":{"$ref":"#/missing"}`, i, i))
	}
	if err := os.WriteFile(file, []byte(`{"openapi":"3.1.0","info":{"title":"S","version":"1"},"paths":{`+strings.Join(paths, ",")+`}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	doc, err := Load(t.Context(), file, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := doc.Compile(t.Context(), CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var want int64
	for i := range whole.Skipped {
		want += skippedBytes + whole.Skipped[i].size()
	}
	for _, op := range whole.Operations {
		want += toolBytes + op.size() + int64(len(op.Input)+len(op.Output))
	}
	if len(whole.Operations) != 100 || len(whole.Skipped) != 20 || whole.Size != want {
		t.Errorf("%d operations, %d skipped, %d bytes, want 100, 20 and %d", len(whole.Operations), len(whole.Skipped), whole.Size, want)
	}
	if _, err := doc.Compile(t.Context(), CompileOptions{MaxSize: want}); err != nil {
		t.Errorf("with room for all: %v", err)
	}
	for _, most := range []int64{want - 1, 1} {
		if _, err := doc.Compile(t.Context(), CompileOptions{MaxSize: most}); !errors.Is(err, ErrLargeAPI) {
			t.Errorf("with room for %d bytes: %v, want %v", most, err, ErrLargeAPI)
		}
	}
}

package fetch

import (
	"os"
	"path/filepath"
	"testing"
)

// write puts a file below a directory.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestRootHoldsWhenLinksChange checks that a folder that becomes a link while the document is read is not followed
// (pains row 138).
func TestRootHoldsWhenLinksChange(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "outside/p.json", "{}")
	spec := write(t, dir, "root/api/spec.yaml", "{}")
	write(t, dir, "root/common/p.json", "{}")
	src, err := New(spec, Options{Root: filepath.Join(dir, "root")})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	location := filepath.Join(dir, "root/common/p.json")
	if _, err := src.Open(t.Context(), location, spec, 1); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "root/common"), filepath.Join(dir, "root/before")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "outside"), filepath.Join(dir, "root/common")); err != nil {
		t.Fatal(err)
	}
	if _, err := src.Open(t.Context(), location, spec, 1); err == nil {
		t.Error("a file outside of root was read")
	}
}

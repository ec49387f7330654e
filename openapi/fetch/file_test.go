package fetch

import (
	"os"
	"path/filepath"
	"strings"
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

// TestOverlayRootHoldsWhenLinksChange reads an overlay again after it became a link that leads out of its directory.
func TestOverlayRootHoldsWhenLinksChange(t *testing.T) {
	dir := t.TempDir()
	document := write(t, dir, "document.json", "{}")
	secret := write(t, dir, "secret.yaml", "secret")
	own := write(t, dir, "team/overlay.yaml", "own")
	o := Options{Overlays: []string{own}, OverlayRoot: filepath.Join(dir, "team")}
	if _, _, err := readOverlaid(t, document, o, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(own); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, own); err != nil {
		t.Fatal(err)
	}
	if _, _, err := readOverlaid(t, document, o, nil); err == nil || !strings.Contains(err.Error(), "is not in or below root") {
		t.Errorf("an overlay outside of its directory: %v", err)
	}
}

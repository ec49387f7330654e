package openapi

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFileReferencesBelowRoot checks that documents whose parts are in a sibling folder (CAMARA, OpenSearch) are read
// with root, and nothing outside of it, for any symbolic links (pains row 138).
func TestFileReferencesBelowRoot(t *testing.T) {
	dir := t.TempDir()
	outside := write(t, dir, "outside/p.json", parameterFile)
	root := filepath.Join(dir, "root")
	write(t, dir, "root/common/p.json", parameterFile)
	write(t, dir, "root/common/deep/back.json", `{"$ref": "../../api/same.json"}`)
	write(t, dir, "root/api/same.json", parameterFile)
	for link, target := range map[string]string{
		"root/common/out.json": outside, "root/common/up.json": "../../outside/p.json", "root/folder": "../outside", "root/inner": "common", "link": "root",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		ref, root string
		read      bool
	}{
		{"../common/p.json", root, true},
		{"../common/p.json", root + "/api/..", true},
		{"../common/p.json", filepath.Join(dir, "link"), true},
		{"../common/deep/back.json", root, true},
		{"../inner/p.json", root, true},
		{"same.json", root, true},
		{root + "/common/p.json", root, true},
		{"../common/p.json", "", false},
		{"../common/p.json", root + "/api", false},
		{"../../outside/p.json", root, false},
		{"../%2e%2e/outside/p.json", root, false},
		{"../../root2/../outside/p.json", root, false},
		{"../common/out.json", root, false},
		{"../common/up.json", root, false},
		{"../folder/p.json", root, false},
		{outside, root, false},
		{"file://" + outside, root, false},
		{"/etc/passwd", root, false},
	} {
		t.Run(tt.ref, func(t *testing.T) {
			names, problems := arguments(t, write(t, dir, "root/api/spec.yaml", referring(tt.ref)), LoadOptions{Root: tt.root})
			if read := len(names) == 1; read != tt.read {
				t.Errorf("read = %v, want %v; problems: %s", read, tt.read, problems)
			}
			if !tt.read && problems == "" {
				t.Error("nothing is said of the reference that was refused")
			}
		})
	}
}

// TestDocumentOutsideOfRoot checks that a document outside of root is not read, even through a symbolic link below it.
func TestDocumentOutsideOfRoot(t *testing.T) {
	dir := t.TempDir()
	spec := write(t, dir, "elsewhere/spec.yaml", referring("p.json"))
	write(t, dir, "root/p.json", parameterFile)
	link := filepath.Join(dir, "root", "spec.yaml")
	if err := os.Symlink(spec, link); err != nil {
		t.Fatal(err)
	}
	for _, location := range []string{spec, link} {
		_, err := Load(t.Context(), location, LoadOptions{Root: filepath.Join(dir, "root")})
		if err == nil || !strings.Contains(err.Error(), "is not in or below root") {
			t.Errorf("%s: %v", location, err)
		}
	}
}

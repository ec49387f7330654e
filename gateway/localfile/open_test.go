package localfile

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	f, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(f); string(text) != "text" {
		t.Errorf("read %q, %v", text, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	for _, path := range []string{link, dir, filepath.Join(dir, "none")} {
		if f, err := Open(path); err == nil {
			_ = f.Close()
			t.Errorf("%s is opened", path)
		}
	}
}

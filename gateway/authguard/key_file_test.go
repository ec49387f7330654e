package authguard

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWritableKeyFile holds that keys are not read from a place where every user of the machine can put them.
func TestWritableKeyFile(t *testing.T) {
	b := &Builder{StateDir: t.TempDir(), Recover: func(_ string, step func()) bool { step(); return false }}
	f := b.keyFileOf("https://idp.example.com", nil)
	if err := f.Store(t.Context(), []byte("keys")); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Dir(f.path)
	for _, c := range []struct {
		file, folder os.FileMode
		isRead       bool
	}{
		{0o600, 0o700, true}, {0o640, 0o750, true}, {0o660, 0o770, true}, {0o602, 0o700, false}, {0o666, 0o755, false},
		{0o600, 0o777, false}, {0o600, 0o702, false}, {0o600, 0o777 | os.ModeSticky, false},
	} {
		if err := os.Chmod(f.path, c.file); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(folder, c.folder); err != nil {
			t.Fatal(err)
		}
		if text, err := f.Load(t.Context()); (err == nil) != c.isRead {
			t.Errorf("file %o in folder %o: read %q, %v", c.file, c.folder, text, err)
		}
	}
}

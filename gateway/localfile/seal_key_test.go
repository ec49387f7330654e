package localfile

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSealKeyFile holds that a key is made once, for its owner alone, and used again; that a file that can't be used is logged, kept aside and
// replaced; and that anything else is left alone. (pains row 116)
func TestSealKeyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "seal")
	var log bytes.Buffer
	get := func() []byte {
		t.Helper()
		log.Reset()
		key, err := LoadSealKey(path, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil || len(key) != keySize {
			t.Fatalf("%x %v", key, err)
		}
		return key
	}
	first := get()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if again := get(); !bytes.Equal(again, first) || log.Len() > 0 {
		t.Errorf("another key, log %s", &log)
	}
	if err := os.Chmod(path, 0o660); err != nil { // as a volume with fsGroup has it
		t.Fatal(err)
	}
	if again := get(); !bytes.Equal(again, first) {
		t.Error("a file of the group was replaced")
	}
	for reason, spoil := range map[string]func() error{
		"mode 0644":                  func() error { return os.Chmod(path, 0o644) },
		"does not hold a key":        func() error { return os.WriteFile(path, []byte("garbage!"), 0o600) },
		"holds a key of 0 bytes":     func() error { return os.WriteFile(path, nil, 0o600) },
		"holds a key of 3 bytes":     func() error { return os.WriteFile(path, []byte("AAAA\n"), 0o600) },
		"does not hold a key in bas": func() error { return os.Truncate(path, 7) },
	} {
		before := get()
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		spoilt, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if after := get(); bytes.Equal(after, before) || !strings.Contains(log.String(), reason) || !strings.Contains(log.String(), "are lost") || strings.Contains(log.String(), string(bytes.TrimSpace(spoilt))) && len(spoilt) > 8 {
			t.Errorf("%s: log %s", reason, &log)
		}
		if aside, err := os.ReadFile(path + asideSuffix); err != nil || !bytes.Equal(aside, spoilt) {
			t.Errorf("%s: the file was not kept: %v", reason, err)
		}
	}
	large, link := filepath.Join(t.TempDir(), "large"), filepath.Join(t.TempDir(), "link")
	if err := os.WriteFile(large, make([]byte, maxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{large, link, t.TempDir(), filepath.Join(t.TempDir(), "none", "seal")} {
		if key, err := LoadSealKey(other, slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("%s: %x", other, key)
		}
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), tempPrefix+"*")); err != nil || len(left) > 0 {
		t.Errorf("%q %v", left, err)
	}
}

package localfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A failure leaves what was there, and nothing else.
func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	path := filepath.Join(dir, "file")
	content := func() string {
		t.Helper()
		text, err := os.ReadFile(path)
		entries, _ := os.ReadDir(dir)
		if err != nil || len(entries) != 1 {
			t.Fatal(err, entries)
		}
		return string(text)
	}
	for _, text := range []string{"one", "two"} {
		if err := Replace(path, ".temp-", []byte(text)); err != nil || content() != text {
			t.Errorf("%q: %v", text, err)
		}
	}
	want := errors.New("half")
	err := ReplaceWith(path, ".temp-", func(f *os.File) error {
		if _, err := f.WriteString("thr"); err != nil {
			t.Error(err)
		}
		return want
	})
	if !errors.Is(err, want) || content() != "two" {
		t.Errorf("after a failure %q: %v", content(), err)
	}
	if err := os.Mkdir(path+".d", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Replace(path+".d", ".temp-", nil); err == nil {
		t.Error("a folder was replaced")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".temp-*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

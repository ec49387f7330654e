//go:build unix

package localfile

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

// TestPipe holds that a named pipe without a writer is refused rather than waited for.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := Open(path); !errors.Is(err, ErrIrregular) {
		t.Errorf("Open = %v, %v", f, err)
	}
}

//go:build !unix

package localfile

import (
	"fmt"
	"os"
)

// open has no flag that refuses links, so it compares what the path is with what was opened.
func open(path string) (*os.File, error) {
	named, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !named.Mode().IsRegular() {
		return nil, fmt.Errorf("open %s: %w", path, ErrIrregular)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if opened, err := f.Stat(); err != nil || !os.SameFile(named, opened) {
		_ = f.Close() // nothing was read
		return nil, fmt.Errorf("open %s: %w", path, ErrIrregular)
	}
	return f, nil
}

package localfile

import (
	"errors"
	"fmt"
	"os"
)

// ErrIrregular is wrapped by the error of [Open] for a path that is not a regular file.
var ErrIrregular = errors.New("not a regular file")

// Open opens a regular file for reading, but not through a symbolic link as the last element of the path. The caller closes it.
func Open(path string) (*os.File, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("open %s: %w", path, ErrIrregular)
	}
	if err != nil {
		_ = f.Close() // nothing was read
		return nil, err
	}
	return f, nil
}

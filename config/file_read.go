package config

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// readFile reads a regular file of at most maxDocument bytes.
func readFile(path string) ([]byte, error) {
	if isDirectory(path) {
		return nil, errors.New("is a directory, not a file")
	}
	data, _, err := readAtMost(named(path), maxDocument)
	if errors.Is(err, errTooLarge) {
		err = errors.New("it is larger than 64 MiB")
	}
	return data, err
}

// maxRegular bounds a file that is named by ${file:…} or ca_file.
const maxRegular = 1 << 20

// readRegular reads a small regular file. The error does not repeat the path.
func readRegular(path string) ([]byte, fs.FileInfo, error) {
	return small(readAtMost(named(path), maxRegular))
}

// small returns what was read of a small file, with an error that does not repeat the path.
func small(data []byte, info fs.FileInfo, err error) ([]byte, fs.FileInfo, error) {
	switch {
	case errors.Is(err, errTooLarge):
		return nil, nil, errors.New("is larger than 1 MiB")
	case err != nil:
		return nil, nil, errors.New(reason(err))
	}
	return data, info, nil
}

var (
	errIrregular = errors.New("is not a regular file")
	errTooLarge  = errors.New("is too large")
)

// named opens the file at a path.
func named(path string) func(flag int) (*os.File, error) {
	return func(flag int) (*os.File, error) { return os.OpenFile(path, flag, 0) }
}

// readAtMost reads a regular file that has no more bytes than most.
func readAtMost(open func(flag int) (*os.File, error), most int64) ([]byte, fs.FileInfo, error) {
	f, err := open(os.O_RDONLY | syscall.O_NONBLOCK) // a pipe would be waited for
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errIrregular
	}
	if err != nil {
		return nil, nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = errTooLarge
	}
	return data, info, err
}

// reason returns what went wrong with a file without repeating its path.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return err.Error()
}

// readBelow reads a file of a directory; no link leads out of the directory, also if files change meanwhile.
func readBelow(dir, name string, most int64) ([]byte, fs.FileInfo, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = root.Close() }() // nothing was written
	return readAtMost(func(flag int) (*os.File, error) { return root.OpenFile(name, flag, 0) }, most)
}

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
	data, _, err := readAtMost(path, maxDocument)
	if errors.Is(err, errTooLarge) {
		err = errors.New("it is larger than 64 MiB")
	}
	return data, err
}

// maxRegular bounds a file that is named by ${file:…} or ca_file.
const maxRegular = 1 << 20

// readRegular reads a small regular file. The error does not repeat the path.
func readRegular(path string) ([]byte, fs.FileInfo, error) {
	data, info, err := readAtMost(path, maxRegular)
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

// readAtMost reads a regular file that has no more bytes than most.
func readAtMost(path string, most int64) ([]byte, fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would be waited for
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

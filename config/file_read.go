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
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would be waited for
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	switch info, err := f.Stat(); {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errors.New("is a directory, not a file")
	case !info.Mode().IsRegular():
		return nil, errors.New("is not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxDocument+1))
	if err == nil && len(data) > maxDocument {
		err = errors.New("it is larger than 64 MiB")
	}
	return data, err
}

// reason returns what went wrong with a file without repeating its path.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return err.Error()
}

// maxRegular bounds a file that is named by ${file:…} or ca_file.
const maxRegular = 1 << 20

// readRegular reads a small regular file. The error does not repeat the path.
func readRegular(path string) ([]byte, fs.FileInfo, error) {
	// Stat first: to open a named pipe would wait for its writer.
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, errors.New(reason(err))
	}
	if !info.Mode().IsRegular() {
		return nil, nil, errors.New("is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, errors.New(reason(err))
	}
	defer func() { _ = f.Close() }() // nothing was written
	data, err := io.ReadAll(io.LimitReader(f, maxRegular+1))
	switch {
	case err != nil:
		return nil, nil, errors.New(reason(err))
	case len(data) > maxRegular:
		return nil, nil, errors.New("is larger than 1 MiB")
	}
	return data, info, nil
}

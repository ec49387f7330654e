package localfile

import (
	"os"
	"path/filepath"
)

// ReplaceWith atomically replaces the file at path by a new one with mode 0600, which write writes. It creates a missing folder. Temporary
// files are in the same folder; their names begin with prefix, so that the program can find and remove those that a crash has left.
func ReplaceWith(path, prefix string, write func(*os.File) error) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, prefix+"*") // with mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // the error that counts is the first
		}
	}()
	if err = write(f); err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	_ = syncDirectory(dir) // so that the name survives a crash of the machine; not all file systems support it
	return nil
}

// Replace is [ReplaceWith] for a content in memory.
func Replace(path, prefix string, text []byte) error {
	return ReplaceWith(path, prefix, func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
}

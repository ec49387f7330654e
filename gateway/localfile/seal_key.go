package localfile

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
)

const (
	keySize = 32 // bytes
	// maxFile is the maximum size in bytes of a file with a key. A larger file is something else, and is left alone.
	maxFile = 1 << 10
	// asideSuffix ends the name of a file that was replaced.
	asideSuffix = ".replaced"
	// tempPrefix begins the name of a file that is being made.
	tempPrefix = ".seal-key-"
)

// unusableKey is the error of a file that has no key, or one that is not secret, so that it is replaced.
type unusableKey struct{ reason string }

func (e *unusableKey) Error() string { return e.reason }

// LoadSealKey returns the key in a file (server.seal_key_file), and creates a missing file. A file without a usable key is moved aside and
// replaced, with a log line, because handles sealed with its key are lost. The error names the reason and what to do.
func LoadSealKey(path string, log *slog.Logger) ([]byte, error) {
	key, err := read(path)
	var unusable *unusableKey
	switch {
	case err == nil:
		return key, nil
	case errors.As(err, &unusable):
		if err := os.Rename(path, path+asideSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%q %s, and can't be moved aside: %w", path, unusable.reason, err)
		}
		log.Warn("replaced the file of server.seal_key_file; sessions, cursors, tasks, links and consents of clients are lost, and clients start over",
			"path", path, "reason", unusable.reason, "kept_as", path+asideSuffix)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if err := create(path); err != nil {
		return nil, fmt.Errorf("make %q: %w", path, err)
	}
	if unusable == nil {
		log.Info("created the file of server.seal_key_file", "path", path)
	}
	if key, err = read(path); err != nil { // which may be that of a process that was faster
		return nil, fmt.Errorf("read %q after it was made: %w", path, err)
	}
	return key, nil
}

// read returns the key in a file. The error is an *unusableKey if the file may be replaced.
func read(path string) ([]byte, error) {
	f, err := Open(path)
	if errors.Is(err, ErrIrregular) {
		return nil, fmt.Errorf("%q is not a regular file; name a file that the gateway may make", path)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%q has %d bytes and is no file with a key; name another, or remove it", path, info.Size())
	}
	if reason := exposed(info); reason != "" {
		return nil, &unusableKey{reason}
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", path, err)
	}
	key, err := base64.StdEncoding.Strict().DecodeString(string(bytes.TrimSpace(text)))
	switch {
	case err != nil:
		return nil, &unusableKey{"does not hold a key in base64"}
	case len(key) < keySize:
		return nil, &unusableKey{fmt.Sprintf("holds a key of %d bytes, less than %d", len(key), keySize)}
	}
	return key, nil
}

// create writes a new key. The file appears whole, for its owner alone, and never replaces another: of processes
// that start at the same time, one makes it.
func create(path string) (err error) {
	dir := filepath.Dir(path)
	temp := filepath.Join(dir, tempPrefix+rand.Text())
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if gone := os.Remove(temp); err == nil && !errors.Is(gone, fs.ErrNotExist) {
			err = gone
		}
	}()
	key := make([]byte, keySize)
	rand.Read(key) // never fails (crypto/rand)
	_, err = f.WriteString(base64.StdEncoding.EncodeToString(key) + "\n")
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Link(temp, path); err != nil && !errors.Is(err, fs.ErrExist) {
		if err := os.Rename(temp, path); err != nil { // a volume without hard links
			return err
		}
	}
	return syncDirectory(dir)
}

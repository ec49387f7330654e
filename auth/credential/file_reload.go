package credential

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"
)

// maxFile is the maximum size of a key or certificate file in bytes.
const maxFile = 1 << 20

// reloader holds a value parsed from files, and parses them again when they have changed. It
// compares contents instead of modification times: files swapped by Kubernetes keep their path, and
// two writes may have the same time.
type reloader[T any] struct {
	paths    []string
	parse    func(contents [][]byte) (T, error)
	interval time.Duration // minimum time between two checks
	now      func() time.Time
	open     func(path string) (*os.File, error)            // openFile if nil
	read     func(path string) ([]byte, fs.FileMode, error) // by open if nil

	mu            sync.Mutex
	digest        [sha256.Size]byte // of the contents that were parsed last
	worldReadable []string          // paths of world-readable files
	checkedAt     time.Time
	value         sealed[T] // of the newest usable version; nil if there is none
	err           error
}

// get returns the value of the newest usable version of the files. It fails only if there has been
// none; a later error is reported by [reloader.problem] and leaves the value in place, so that a
// half-written file does no harm.
func (w *reloader[T]) get() (T, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	if w.checkedAt.IsZero() || now.Sub(w.checkedAt) >= w.interval || now.Before(w.checkedAt) {
		w.reload()
		w.checkedAt = now
	}
	if w.value == nil {
		var none T
		return none, w.err
	}
	return w.value(), nil
}

// problem returns the reason that the current files can't be used; nil if they can.
func (w *reloader[T]) problem() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// exposed returns the paths of world-readable files.
func (w *reloader[T]) exposed() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.worldReadable
}

// maxReads limits how often changing files are read again.
const maxReads = 5

// reload reads the files. Changed files are read until two reads agree: a file written in place
// while it is read may yield the beginning of the old and the end of the new content, which may
// pass for a certificate. The caller holds w.mu.
func (w *reloader[T]) reload() {
	var current, previous fileVersion
	for n := range maxReads {
		var err error
		if current, err = w.readAll(); err != nil {
			w.err, w.digest = err, [sha256.Size]byte{}
			return
		}
		if current.digest == w.digest {
			w.worldReadable = current.worldReadable
			return
		}
		if n > 0 && current.digest == previous.digest {
			break
		}
		previous = current
	}
	w.worldReadable, w.digest = current.worldReadable, current.digest
	value, err := w.parse(current.contents)
	if w.err = err; err == nil {
		w.value = seal(value)
	}
}

// fileVersion is the content of the files at one time.
type fileVersion struct {
	contents      [][]byte
	worldReadable []string // paths of world-readable files
	digest        [sha256.Size]byte
}

// readAll reads the files once.
func (w *reloader[T]) readAll() (v fileVersion, err error) {
	read := w.read
	if read == nil {
		read = w.readFile
	}
	h := sha256.New()
	for _, path := range w.paths {
		content, mode, err := read(path)
		if err != nil {
			return fileVersion{}, err
		}
		if mode&0o004 != 0 {
			v.worldReadable = append(v.worldReadable, path)
		}
		v.contents = append(v.contents, content)
		fmt.Fprintf(h, "%d ", len(content))
		h.Write(content)
	}
	v.digest = [sha256.Size]byte(h.Sum(nil))
	return v, nil
}

// openFile opens a file. Opening a pipe must not block the request that needs a signature.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// readFile reads a regular file of limited size, and returns its permissions.
func (w *reloader[T]) readFile(path string) ([]byte, fs.FileMode, error) {
	open := w.open
	if open == nil {
		open = openFile
	}
	f, err := open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("credential: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, fmt.Errorf("credential: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("credential: %q is not a regular file", path)
	}
	content, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, 0, fmt.Errorf("credential: %w", err)
	}
	if len(content) > maxFile {
		return nil, 0, fmt.Errorf("credential: %q has more than %d bytes", path, maxFile)
	}
	return content, info.Mode().Perm(), nil
}

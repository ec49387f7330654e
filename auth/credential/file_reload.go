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

// maxFile is the size of the largest file of keys or certificates, in bytes.
const maxFile = 1 << 20

// watched is a value that is made of files, and made anew when they have
// changed. It reads them instead of asking for their times: what Kubernetes
// swaps keeps its path, and two writes may fall into one tick of the clock.
type watched[T any] struct {
	paths []string
	parse func(contents [][]byte) (T, error)
	every time.Duration // how old a look at the files may be
	now   func() time.Time
	read  func(path string) ([]byte, fs.FileMode, error) // nil: readFile

	mu     sync.Mutex
	digest [sha256.Size]byte // of what was last tried
	open   []string          // the paths that every user may read
	looked time.Time
	value  sealed[T] // of the newest version that could be used; nil: none could
	err    error
}

// get returns the value of the newest version of the files that could be
// used. The error is that of the very first attempt; a later one leaves what
// was there, so that a half-written file ends nothing, and stands in [watched.problem].
func (w *watched[T]) get() (T, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	if w.looked.IsZero() || now.Sub(w.looked) >= w.every || now.Before(w.looked) {
		w.look()
		w.looked = now
	}
	if w.value == nil {
		var none T
		return none, w.err
	}
	return w.value(), nil
}

// problem says why the files as they are now can't be used; nil if they can.
func (w *watched[T]) problem() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// exposed returns the paths that every user of the machine may read.
func (w *watched[T]) exposed() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.open
}

// mostReads is how often files are read that are others each time.
const mostReads = 5

// look reads the files. Those that have changed are read until they are the same twice: one that is written in place while it is read may come as the
// begin of what it was and the end of what it is, which can pass for a certificate. The caller holds w.mu.
func (w *watched[T]) look() {
	var now, before version
	for n := range mostReads {
		var err error
		if now, err = w.readAll(); err != nil {
			w.err, w.digest = err, [sha256.Size]byte{}
			return
		}
		if now.digest == w.digest {
			w.open = now.open
			return
		}
		if n > 0 && now.digest == before.digest {
			break
		}
		before = now
	}
	w.open, w.digest = now.open, now.digest
	value, err := w.parse(now.contents)
	if w.err = err; err == nil {
		w.value = seal(value)
	}
}

// version is what the files hold.
type version struct {
	contents [][]byte
	open     []string // the paths that every user may read
	digest   [sha256.Size]byte
}

// readAll reads the files once.
func (w *watched[T]) readAll() (v version, err error) {
	read := w.read
	if read == nil {
		read = readFile
	}
	h := sha256.New()
	for _, path := range w.paths {
		content, mode, err := read(path)
		if err != nil {
			return version{}, err
		}
		if mode&0o004 != 0 {
			v.open = append(v.open, path)
		}
		v.contents = append(v.contents, content)
		fmt.Fprintf(h, "%d ", len(content))
		h.Write(content)
	}
	v.digest = [sha256.Size]byte(h.Sum(nil))
	return v, nil
}

// readFile reads a regular file of a bounded size, and returns who may read it.
func readFile(path string) ([]byte, fs.FileMode, error) {
	// To open a pipe must not block: whoever signs waits for it.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
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

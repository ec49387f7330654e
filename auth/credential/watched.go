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

// look reads the files. The caller holds w.mu.
func (w *watched[T]) look() {
	contents := make([][]byte, len(w.paths))
	h := sha256.New()
	var open []string
	for i, path := range w.paths {
		content, mode, err := readFile(path)
		if err != nil {
			w.err, w.digest = err, [sha256.Size]byte{}
			return
		}
		if mode&0o004 != 0 {
			open = append(open, path)
		}
		contents[i] = content
		fmt.Fprintf(h, "%d ", len(content))
		h.Write(content)
	}
	w.open = open
	digest := [sha256.Size]byte(h.Sum(nil))
	if digest == w.digest {
		return
	}
	w.digest = digest
	value, err := w.parse(contents)
	if w.err = err; err == nil {
		w.value = seal(value)
	}
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

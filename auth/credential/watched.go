package credential

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"sync"
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
	looked time.Time
	value  T
	good   bool // value was made of some version of the files
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
	if !w.good {
		return w.value, w.err
	}
	return w.value, nil
}

// problem says why the files as they are now can't be used; nil if they can.
func (w *watched[T]) problem() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// look reads the files. The caller holds w.mu.
func (w *watched[T]) look() {
	contents := make([][]byte, len(w.paths))
	h := sha256.New()
	for i, path := range w.paths {
		content, err := readFile(path)
		if err != nil {
			w.err, w.digest = err, [sha256.Size]byte{}
			return
		}
		contents[i] = content
		fmt.Fprintf(h, "%d ", len(content))
		h.Write(content)
	}
	digest := [sha256.Size]byte(h.Sum(nil))
	if digest == w.digest {
		return
	}
	w.digest = digest
	value, err := w.parse(contents)
	if w.err = err; err == nil {
		w.value, w.good = value, true
	}
}

// readFile reads a file of a bounded size.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("credential: %w", err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("credential: %w", err)
	}
	if len(content) > maxFile {
		return nil, fmt.Errorf("credential: %q has more than %d bytes", path, maxFile)
	}
	return content, nil
}

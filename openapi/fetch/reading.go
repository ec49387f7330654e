package fetch

import (
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"sync"

	"drawbridge/openapi/pacing"
	"drawbridge/openapi/tree"
)

// reading collects the digests of the files that were read, and the files if a copy is kept.
type reading struct {
	mu      sync.Mutex
	digests map[string][sha256.Size]byte
	files   map[string][]byte // nil if they are not kept
	pace    *pacing.Pace      // of reading
	// warned belongs to one goroutine.
	warned []tree.Warning
}

func (r *reading) warnings() []tree.Warning { return r.warned }

// warn adds a problem with the charset of a file; "" adds none.
func (r *reading) warn(location, problem string) {
	if problem != "" {
		at := tree.Position{File: location, Line: 1, Column: 1}
		r.warned = append(r.warned, tree.Warning{Position: at, Code: tree.CodeEncoding, Message: problem})
	}
}

func (r *reading) keep() { r.files = make(map[string][]byte) }

func (r *reading) kept() map[string][]byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.files
}

func (r *reading) add(location string, data []byte) {
	sum := digest(data, r.pace)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.digests == nil {
		r.digests = make(map[string][sha256.Size]byte)
	}
	r.digests[location] = sum
	if r.files != nil {
		r.files[location] = data
	}
}

// stamp returns the names of the files and a digest of names and contents. The files after the root document are
// sorted, since the order of reading may change from one load to the next.
func (r *reading) stamp(files []string) Stamp {
	r.mu.Lock()
	defer r.mu.Unlock()
	files = slices.Clone(files)
	if len(files) > 1 {
		slices.Sort(files[1:])
	}
	h := sha256.New()
	for _, f := range files {
		d := r.digests[f]
		fmt.Fprintf(h, "%d:%s", len(f), f)
		h.Write(d[:])
	}
	s := Stamp{Files: files}
	h.Sum(s.Digest[:0])
	return s
}

// pieceBytes is the size of the largest single copy. The runtime can't interrupt a copy: a garbage collection, and all
// calls with it, would wait while many MiB are copied into new memory.
const pieceBytes = 256 << 10

// readLimited reads all of r, which has about size bytes, -1 if that is unknown, and at most max.
func readLimited(r io.Reader, size, max int64, pace *pacing.Pace) ([]byte, error) {
	tooLarge := sizeError(max)
	if size > max {
		return nil, tooLarge
	}
	r = io.LimitReader(r, max+1)
	var pieces [][]byte
	total := 0
	next := make([]byte, 0, size+1) // one more, to detect the end
	if size < 0 {
		next = make([]byte, 0, pieceBytes)
	}
	for {
		pace.Step()
		n, err := r.Read(next[len(next):min(cap(next), len(next)+pieceBytes)])
		next = next[:len(next)+n]
		if total += n; int64(total) > max {
			return nil, tooLarge
		}
		if err == io.EOF {
			return joined(append(pieces, next), total), nil
		}
		if err != nil {
			return nil, err
		}
		if len(next) == cap(next) {
			pieces = append(pieces, next)
			next = make([]byte, 0, pieceBytes)
		}
	}
}

// joined concatenates pieces and releases each of them.
func joined(pieces [][]byte, total int) []byte {
	if len(pieces) == 1 {
		return pieces[0]
	}
	all := make([]byte, 0, total)
	for i, p := range pieces {
		for part := range slices.Chunk(p, pieceBytes) {
			all = append(all, part...)
		}
		pieces[i] = nil
	}
	return all
}

// sizeError is the error of a file that exceeds this number of bytes.
type sizeError int64

func (e sizeError) Error() string {
	return fmt.Sprintf("is larger than %d MiB; the limit is there to protect the gateway", int64(e)>>20)
}

// digest returns the SHA-256 of a text.
func digest(data []byte, pace *pacing.Pace) (sum [sha256.Size]byte) {
	h := sha256.New()
	for piece := range slices.Chunk(data, pieceBytes) {
		_, _ = h.Write(piece)
		pace.Step()
	}
	h.Sum(sum[:0])
	return sum
}

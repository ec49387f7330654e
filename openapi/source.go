package openapi

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"drawbridge/openapi/tree"
)

const (
	defaultMaxBytes = 64 << 20         // S1
	fetchTimeout    = 30 * time.Second // S1: for one file, with its body
)

// A source reads a root document and the files it refers to, and holds the policy of which those may be (S2). It
// remembers what it read, for the Stamp. It is safe for concurrent use.
type source interface {
	// root reads the root document. It returns ErrUnchanged when the server says that it is the one of previous.
	root(ctx context.Context, previous *Stamp) ([]byte, error)
	// open reads a referenced file; it is a tree.Opener.
	open(ctx context.Context, location, from string, depth int) ([]byte, error)
	// base is the location that references are relative to.
	base() string
	// stamp describes the files among all that were read, the root first.
	stamp(files []string) Stamp
	// keep makes kept return the contents of all files that are read from now on.
	keep()
	kept() map[string][]byte
	// found returns the problems that were met before a file was parsed.
	found() []Problem
	io.Closer
}

// newSource makes the source of a location: a URL when it has the scheme http or https, else a file path.
func newSource(location string, o LoadOptions) (source, error) {
	maxBytes := o.mostBytes()
	others, err := newOrigins(o.AllowRefs, o.RefClient, o.Limits.Pace)
	if err != nil {
		return nil, err
	}
	scheme, _, found := strings.Cut(location, "://")
	switch {
	case !found:
		s, err := newFileSource(location, o.Root, others, maxBytes)
		if err != nil {
			return nil, err
		}
		s.pace = o.Limits.Pace
		return s, nil
	case strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"):
		s, err := newURLSource(location, o.Client, others, maxBytes)
		if err != nil {
			return nil, err
		}
		s.pace = o.Limits.Pace
		s.small = o.Small > 0 && maxBytes == o.Small
		return s, nil
	}
	return nil, fmt.Errorf("location %q has the scheme %q; give an http or https URL, or a file path", location, scheme)
}

// A reading collects the digests of the files that were read, and if it is to keep them, the files.
type reading struct {
	mu      sync.Mutex
	digests map[string][sha256.Size]byte
	files   map[string][]byte // nil: they are not kept
	pace    *Pace             // of reading
	// problems are those that were met before a file was parsed; they are for one goroutine.
	problems []Problem
}

func (r *reading) found() []Problem { return r.problems }

// note adds a problem with the charset of a file, "" if there is none.
func (r *reading) note(location, problem string) {
	if problem != "" {
		at := tree.Position{File: location, Line: 1, Column: 1}
		r.problems = append(r.problems, Problem{Position: at, Code: tree.CodeEncoding, Message: problem})
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

// stamp returns the names of the files and one digest over names and contents. The files behind the root are sorted,
// since the order of reading may change from one load to the next.
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

// A fileSource reads files in or below one directory, after symbolic links are followed: that of the root document, or
// LoadOptions.Root.
type fileSource struct {
	reading
	location string
	others   *origins
	max      int64
	name     string // of the root document in dir
	dir      *os.Root
	bounds   string // says in messages where files may be
}

func newFileSource(location, root string, others *origins, maxBytes int64) (*fileSource, error) {
	real, err := filepath.EvalSymlinks(location)
	if err != nil {
		return nil, withoutPath(err)
	}
	s := &fileSource{location: location, others: others, max: maxBytes, name: filepath.Base(real), bounds: "in or below its own directory (or root, in the configuration)"}
	base := filepath.Dir(real)
	if root != "" {
		if base, err = filepath.EvalSymlinks(root); err != nil {
			return nil, fmt.Errorf("root %q: %w", root, withoutPath(err))
		}
		if s.name, err = nameBelow(base, real); err != nil {
			return nil, fmt.Errorf("is not in or below root, %q", root)
		}
		s.bounds = "in or below root"
	}
	// What the names stand for may change from here on. What is opened is below dir all the same.
	if s.dir, err = os.OpenRoot(base); err != nil {
		return nil, withoutPath(err)
	}
	return s, nil
}

// nameBelow returns the path of a file relative to the directory that it is in or below. Either may be relative to the working directory.
func nameBelow(dir, file string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if file, err = filepath.Abs(file); err != nil {
		return "", err
	}
	name, err := filepath.Rel(dir, file)
	if err == nil && !filepath.IsLocal(name) {
		err = errors.New("it is elsewhere")
	}
	return name, err
}

func (s *fileSource) base() string { return s.location }
func (s *fileSource) Close() error { return s.dir.Close() }

func (s *fileSource) root(ctx context.Context, _ *Stamp) ([]byte, error) {
	data, err := s.read(ctx, s.name)
	if err == nil {
		s.add(s.location, data)
	}
	return data, err
}

func (s *fileSource) open(ctx context.Context, location, from string, depth int) ([]byte, error) {
	if scheme, _, found := strings.Cut(location, ":"); found && isScheme(scheme) {
		u, err := url.Parse(location)
		if err != nil || !s.others.has(u) {
			return nil, fmt.Errorf("a document from a file may only refer to files %s and to the origins in allow_refs, not to this %q URL", s.bounds, scheme)
		}
		data, got, err := s.others.open(ctx, u, depth, s.max)
		if err == nil {
			s.note(location, got.charset)
			s.add(location, data)
		}
		return data, err
	}
	if scheme, _, found := strings.Cut(from, ":"); found && isScheme(scheme) {
		return nil, errors.New("a document of another origin may only refer to the origins in allow_refs")
	}
	// Both are relative to the working directory or both absolute, since the tree joins one to the other; what is
	// absolute in the document itself falls out here unless it is below the directory anyway.
	name, err := filepath.Rel(filepath.Dir(s.location), location)
	if err == nil {
		name = filepath.Join(filepath.Dir(s.name), name)
	}
	if err != nil || !filepath.IsLocal(name) {
		return nil, fmt.Errorf("a document may only refer to files %s", s.bounds)
	}
	data, err := s.read(ctx, name)
	if err == nil {
		s.add(location, data)
	}
	return data, err
}

// read reads a file below dir; os.Root refuses symbolic links that lead out of it.
func (s *fileSource) read(ctx context.Context, name string) ([]byte, error) {
	// A device or a pipe could block for ever, a pipe even when it is opened, and a directory gives a puzzling error. What
	// was opened is looked at, not what has the name: that may be another file by then.
	f, err := s.dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, withoutPath(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is not a regular file")
	}
	return readLimited(contextReader{ctx, f}, info.Size(), s.max, s.pace)
}

// A contextReader reads no further once its context has ended.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

func isScheme(s string) bool {
	if len(s) < 2 { // one letter is a drive
		return false
	}
	for _, c := range s {
		if (c|0x20 < 'a' || c|0x20 > 'z') && c != '+' && c != '-' && c != '.' && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// withoutPath drops operation and path of a file error: the caller names the location, and the path may be one that
// the document made up.
func withoutPath(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// pieceBytes is the most of a document that is copied at one go. The runtime can't interrupt a copy, and what waits for that, a
// collection or all calls, would wait for one of many MiB into memory that is touched for the first time.
const pieceBytes = 256 << 10

// readLimited reads all of r, which is expected to hold about size bytes (-1: unknown) and may hold at most max.
func readLimited(r io.Reader, size, max int64, pace *Pace) ([]byte, error) {
	tooLarge := sizeError(max)
	if size > max {
		return nil, tooLarge
	}
	r = io.LimitReader(r, max+1)
	var pieces [][]byte
	total := 0
	next := make([]byte, 0, size+1) // one more, to see the end
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

// joined makes one text of pieces, and gives each back as it goes.
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

// sizeError tells of a file that has more bytes than this.
type sizeError int64

func (e sizeError) Error() string {
	return fmt.Sprintf("is larger than %d MiB; the limit is there to protect the gateway", int64(e)>>20)
}

// digest returns the SHA-256 of a text.
func digest(data []byte, pace *Pace) (sum [sha256.Size]byte) {
	h := sha256.New()
	for piece := range slices.Chunk(data, pieceBytes) {
		_, _ = h.Write(piece)
		pace.Step()
	}
	h.Sum(sum[:0])
	return sum
}

package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// fileSource reads files in or below one directory after symbolic links are followed: that of the root document or
// Options.Root.
type fileSource struct {
	reading
	location string
	others   *origins
	max      int64
	name     string // of the root document in dir
	dir      *os.Root
	bounds   string // permitted location of files, for messages
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
	// From here on files and links may change, but only files below dir can be opened.
	if s.dir, err = os.OpenRoot(base); err != nil {
		return nil, withoutPath(err)
	}
	return s, nil
}

// nameBelow returns the path of a file relative to a directory that contains it. Both may be relative to the working
// directory.
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

func (s *fileSource) base() string                       { return s.location }
func (s *fileSource) urls() (found, configured *url.URL) { return nil, nil }
func (s *fileSource) hint([]byte) string                 { return "" }
func (s *fileSource) Close() error                       { return s.dir.Close() }

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
			s.warn(location, got.charset)
			s.add(location, data)
		}
		return data, err
	}
	if scheme, _, found := strings.Cut(from, ":"); found && isScheme(scheme) {
		return nil, errors.New("a document of another origin may only refer to the origins in allow_refs")
	}
	// Both are relative to the working directory or both absolute, since the tree joins one to the other. A path that is absolute in
	// the document itself is refused here unless it is below the directory anyway.
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

// read reads a file below dir; os.Root refuses symbolic links that leave it.
func (s *fileSource) read(ctx context.Context, name string) ([]byte, error) {
	// A device or a pipe could block forever, a pipe even in open, and a directory yields a confusing error. The check
	// uses the open file, since the name may refer to another one by then.
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

// contextReader stops reading once its context has ended.
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

// isScheme reports whether a text is the scheme of a URL rather than the letter of a drive.
func isScheme(s string) bool {
	if len(s) < 2 {
		return false
	}
	for _, c := range s {
		if (c|0x20 < 'a' || c|0x20 > 'z') && c != '+' && c != '-' && c != '.' && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// withoutPath removes operation and path from a file error: the caller adds the location, and the document may have
// invented the path.
func withoutPath(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

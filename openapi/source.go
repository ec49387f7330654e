package openapi

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
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
	open(ctx context.Context, location string) ([]byte, error)
	// base is the location that references are relative to.
	base() string
	// stamp describes the files among all that were read, the root first.
	stamp(files []string) Stamp
	io.Closer
}

// newSource makes the source of a location: a URL when it has the scheme http or https, else a file path.
func newSource(location string, client *http.Client, maxBytes int64) (source, error) {
	if maxBytes <= 0 {
		maxBytes = defaultMaxBytes
	}
	scheme, _, found := strings.Cut(location, "://")
	switch {
	case !found:
		return newFileSource(location, maxBytes)
	case strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"):
		return newURLSource(location, client, maxBytes)
	}
	return nil, fmt.Errorf("location %q has the scheme %q; give an http or https URL, or a file path", location, scheme)
}

// A reading collects the digests of the files that were read.
type reading struct {
	mu      sync.Mutex
	digests map[string][sha256.Size]byte
}

func (r *reading) add(location string, data []byte) {
	sum := sha256.Sum256(data)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.digests == nil {
		r.digests = make(map[string][sha256.Size]byte)
	}
	r.digests[location] = sum
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

// A fileSource reads files in or below the directory of the root document, after symbolic links are followed.
type fileSource struct {
	reading
	location string
	max      int64
	name     string // of the root document in dir
	dir      *os.Root
}

func newFileSource(location string, maxBytes int64) (*fileSource, error) {
	real, err := filepath.EvalSymlinks(location)
	if err != nil {
		return nil, withoutPath(err)
	}
	dir, err := os.OpenRoot(filepath.Dir(real))
	if err != nil {
		return nil, withoutPath(err)
	}
	return &fileSource{location: location, max: maxBytes, name: filepath.Base(real), dir: dir}, nil
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

func (s *fileSource) open(ctx context.Context, location string) ([]byte, error) {
	if scheme, _, found := strings.Cut(location, ":"); found && isScheme(scheme) {
		return nil, fmt.Errorf("a document from a file may only refer to files in or below its own directory, not to a %q URL", scheme)
	}
	// Both are relative to the working directory or both absolute, since the tree joins one to the other; what is
	// absolute in the document itself falls out here unless it is below the directory anyway.
	name, err := filepath.Rel(filepath.Dir(s.location), location)
	if err != nil || !filepath.IsLocal(name) {
		return nil, errors.New("a document may only refer to files in or below its own directory")
	}
	data, err := s.read(ctx, name)
	if err == nil {
		s.add(location, data)
	}
	return data, err
}

// read reads a file below dir; os.Root refuses symbolic links that lead out of it.
func (s *fileSource) read(ctx context.Context, name string) ([]byte, error) {
	// A device or a pipe could block for ever, a pipe even when it is opened, and a directory gives a puzzling error.
	info, err := s.dir.Stat(name)
	if err != nil {
		return nil, withoutPath(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is not a regular file")
	}
	f, err := s.dir.Open(name)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer f.Close()
	return readLimited(contextReader{ctx, f}, info.Size(), s.max)
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

// readLimited reads all of r, which is expected to hold about size bytes (-1: unknown) and may hold at most max.
func readLimited(r io.Reader, size, max int64) ([]byte, error) {
	tooLarge := fmt.Errorf("is larger than %d MiB; the limit is there to protect the gateway", max>>20)
	if size > max {
		return nil, tooLarge
	}
	var b bytes.Buffer
	if size > 0 {
		b.Grow(int(size) + bytes.MinRead) // ReadFrom wants to see the end without growing
	}
	if _, err := b.ReadFrom(io.LimitReader(r, max+1)); err != nil {
		return nil, err
	}
	if int64(b.Len()) > max {
		return nil, tooLarge
	}
	return b.Bytes(), nil
}

// A urlSource fetches documents of one origin.
type urlSource struct {
	reading
	client *http.Client
	max    int64

	location           *url.URL // after redirects, once the root is read
	etag, lastModified string
}

func newURLSource(location string, client *http.Client, maxBytes int64) (*urlSource, error) {
	u, err := url.Parse(location)
	if err != nil {
		var e *url.Error
		if errors.As(err, &e) {
			err = e.Err
		}
		return nil, fmt.Errorf("parse URL: %w", err)
	}
	if u.Host == "" {
		return nil, fmt.Errorf("URL %q has no host", u.Redacted())
	}
	if u.User != nil {
		return nil, errors.New("URL holds a user name or password; give it as the credential of the API instead")
	}
	if client == nil {
		return nil, errors.New("documents by URL are not allowed here")
	}
	u.Fragment, u.RawFragment = "", ""
	return &urlSource{client: client, max: maxBytes, location: u}, nil
}

func (s *urlSource) base() string { return s.location.String() }
func (s *urlSource) Close() error { return nil }

func (s *urlSource) stamp(files []string) Stamp {
	t := s.reading.stamp(files)
	t.ETag, t.LastModified = s.etag, s.lastModified
	return t
}

func (s *urlSource) root(ctx context.Context, previous *Stamp) ([]byte, error) {
	// The validators speak of the root document alone, so they say nothing about one that has other files.
	if previous != nil && len(previous.Files) > 1 {
		previous = nil
	}
	data, got, err := s.get(ctx, s.location, previous)
	if err != nil {
		return nil, err
	}
	s.etag, s.lastModified = got.etag, got.lastModified
	// References are relative to where the document was found in the end (RFC 3986 section 5.1.3). The client
	// follows redirects of the same origin only; a foreign one would move the origin that may be referred to.
	if sameOrigin(got.url, s.location) {
		s.location = got.url
	}
	s.add(s.base(), data)
	return data, nil
}

func (s *urlSource) open(ctx context.Context, location string) ([]byte, error) {
	u, err := url.Parse(location)
	if err != nil || !sameOrigin(u, s.location) || u.User != nil {
		return nil, fmt.Errorf("a document may only refer to its own origin, %s", originOf(s.location))
	}
	u.Fragment, u.RawFragment = "", ""
	data, got, err := s.get(ctx, u, nil)
	if err != nil {
		return nil, err
	}
	if !sameOrigin(got.url, s.location) {
		return nil, fmt.Errorf("a document may only refer to its own origin, %s", originOf(s.location))
	}
	s.add(location, data)
	return data, nil
}

// fetched is what an answer says of the file that it holds.
type fetched struct {
	url                *url.URL // where it was found, after redirects
	etag, lastModified string
}

// get fetches one URL. The headers are fixed, but for the validators of previous.
func (s *urlSource) get(ctx context.Context, u *url.URL, previous *Stamp) ([]byte, fetched, error) {
	var none fetched
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, none, err
	}
	req.Header.Set("Accept", "application/openapi+json, application/json, application/openapi+yaml, application/yaml;q=0.9, */*;q=0.5")
	if previous != nil && previous.ETag != "" {
		req.Header.Set("If-None-Match", previous.ETag)
	} else if previous != nil && previous.LastModified != "" {
		req.Header.Set("If-Modified-Since", previous.LastModified)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		var e *url.Error
		if errors.As(err, &e) {
			err = e.Err // the caller names the location
		}
		return nil, none, fmt.Errorf("fetch: %w", err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotModified && previous != nil:
		return nil, none, ErrUnchanged
	case resp.StatusCode == http.StatusUnauthorized, resp.StatusCode == http.StatusForbidden:
		return nil, none, fmt.Errorf("fetch: the server answered %q; if the document is protected, give the API a credential", resp.Status)
	case resp.StatusCode != http.StatusOK:
		return nil, none, fmt.Errorf("fetch: the server answered %q", resp.Status)
	}
	data, err := readLimited(resp.Body, resp.ContentLength, s.max)
	if err != nil {
		return nil, none, fmt.Errorf("fetch: %w", err)
	}
	got := fetched{url: u, etag: resp.Header.Get("ETag"), lastModified: resp.Header.Get("Last-Modified")}
	if resp.Request != nil && resp.Request.URL != nil {
		got.url = resp.Request.URL
	}
	return data, got, nil
}

// originOf returns scheme, host and port of a URL in one form, the port always written (RFC 6454 section 4).
func originOf(u *url.URL) string {
	scheme := strings.ToLower(u.Scheme)
	port := u.Port()
	if port == "" {
		port = cmp.Or(map[string]string{"http": "80", "https": "443"}[scheme], "0")
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return scheme + "://" + host + ":" + port
}

func sameOrigin(a, b *url.URL) bool { return originOf(a) == originOf(b) }

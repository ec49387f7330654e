package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"drawbridge/openapi/pacing"
	"drawbridge/openapi/tree"
)

const (
	defaultMaxBytes = 64 << 20         // S1
	fetchTimeout    = 30 * time.Second // of one file with its body (S1)
)

var (
	// ErrUnchanged is returned by [Source.Root] if the files match the stamp.
	ErrUnchanged = errors.New("document is unchanged")
	// ErrChanged is returned by [Source.Reread] if the files don't match the stamp.
	ErrChanged = errors.New("document has changed")
	// ErrLarge is the error of a document that exceeds Options.Small, of which no more was read.
	ErrLarge = errors.New("document is large")
	// ErrProtected is wrapped by the error of a file that the server refuses to anonymous clients.
	ErrProtected = errors.New("if the document is protected, give the API a credential")

	// errNotFound marks the error of a response with 404. It adds nothing to the text.
	errNotFound = errors.New("")
)

// Stamp identifies the content of a document.
type Stamp struct {
	ETag, LastModified string   // validators of the answer, for a document by URL
	Digest             [32]byte // SHA-256 over the names and contents of all files and overlays
	Files              []string // locations of all files that were read, the root document first
	Page               string   // URL of the page that led to the document; "" if there was none
	Overlays           []OverlayStamp
}

// Options limit the origins of a document's files and their cost.
type Options struct {
	Client *http.Client // fetches documents by URL, with its own dial guard and redirect rule; nil if URLs are refused
	// Root is the directory that must contain a document from a file, and all files that it refers to, after symbolic
	// links are followed. "" is the directory of the document.
	Root string
	// AllowRefs are origins ("https://schemas.example.com") that a document may refer to besides its own: at most 50 documents, five
	// levels deep (S2). RefClient fetches them and must carry no credential (E4); if it is nil, none are fetched.
	AllowRefs []string
	RefClient *http.Client
	// Overlays are the locations of overlays, in the order in which they are applied: files, and URLs, which OverlayClient fetches if they
	// have another origin than the document. It must carry no credential (E4); if it is nil, none of those are fetched.
	Overlays      []string
	OverlayClient *http.Client
	OverlayRoot   string // the directory that must contain overlays from files, after symbolic links are followed; "" is any

	MaxBytes   int64         // of one file, and of a copy; 0 for 64 MiB
	MaxMemory  int64         // limit of memory for the text of one file; 0 if unlimited
	MaxOverlay int64         // bytes of one overlay; 0 for MaxBytes
	Small      int64         // limit of all files together, beyond which the error is ErrLarge; 0 if unlimited
	Timeout    time.Duration // of fetching all files together; 0 if unlimited
	Pace       *pacing.Pace  // of reading
	Keep       bool          // makes Source.Copy available

	// UsualPaths are searched on the origin of a location that does not exist (404); the error names the one with a
	// document.
	UsualPaths []string
}

// mostBytes returns the limit of one file in bytes.
func (o Options) mostBytes() int64 {
	most := o.MaxBytes
	if most <= 0 {
		most = defaultMaxBytes
	}
	for _, less := range []int64{o.MaxMemory, o.Small} {
		if less > 0 {
			most = min(most, less)
		}
	}
	return most
}

// Source reads the root document of a location and the files that it refers to, and decides which of those may be read
// (S2). It must not be used concurrently.
type Source struct {
	backend backend
	options Options
	clock   clock
	read    int64             // bytes of all files so far
	known   map[string][]byte // files that Root has read besides the root document
	err     error
	// overlays are nil until Root has read them, except those of a copy.
	overlays []File
	warned   []tree.Warning // about overlays
}

// backend reads files of one kind of location, and records them for the stamp.
type backend interface {
	// root reads the root document. It returns ErrUnchanged if the server confirms that it is the one of previous.
	root(ctx context.Context, previous *Stamp) ([]byte, error)
	// open reads a file that the one at from refers to; it is a tree.Opener.
	open(ctx context.Context, location, from string, depth int) ([]byte, error)
	// base is the location that references are relative to.
	base() string
	// stamp describes the files among all that were read, the root document first.
	stamp(files []string) Stamp
	// keep makes stamp retain the contents of all files that are read from now on.
	keep()
	kept() map[string][]byte
	// warnings returns the problems that were found before a file was parsed.
	warnings() []tree.Warning
	// urls returns the URL of the root document and the configured one; nil for files.
	urls() (found, configured *url.URL)
	// hint is appended to the error of a root document that can't be parsed.
	hint(root []byte) string
	io.Closer
}

// New returns the source of a location: a URL if it has the scheme http or https, otherwise a file path.
func New(location string, o Options) (*Source, error) {
	others, err := newOrigins(o.AllowRefs, o.RefClient, o.Pace)
	if err != nil {
		return nil, err
	}
	scheme, _, found := strings.Cut(location, "://")
	switch {
	case !found:
		b, err := newFileSource(location, o.Root, others, o.mostBytes())
		if err != nil {
			return nil, err
		}
		b.pace = o.Pace
		return newSource(b, o), nil
	case strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"):
		b, err := newURLSource(location, o.Client, others, o.mostBytes())
		if err != nil {
			return nil, err
		}
		b.pace, b.usualPaths = o.Pace, o.UsualPaths
		b.small = o.Small > 0 && o.mostBytes() == o.Small
		return newSource(b, o), nil
	}
	return nil, fmt.Errorf("location %q has the scheme %q; give an http or https URL, or a file path", location, scheme)
}

func newSource(b backend, o Options) *Source {
	if o.Keep {
		b.keep()
	}
	return &Source{backend: b, options: o, clock: clock{left: o.Timeout, bounded: o.Timeout > 0}}
}

// Root reads the overlays and the root document; if the location is the page of an API viewer, it reads the document
// that the page shows. If all files are those of previous, which may be nil, the error is ErrUnchanged.
func (s *Source) Root(ctx context.Context, previous *Stamp) ([]byte, error) {
	var data []byte
	err := s.clock.run(ctx, func(ctx context.Context) (err error) {
		if err = s.readOverlays(ctx); err != nil {
			return err
		}
		if data, err = s.backend.root(ctx, s.validators(previous)); err != nil || previous == nil {
			return err
		}
		var unchanged bool
		if s.known, unchanged = s.compare(ctx, previous, s.options.mostBytes()-int64(len(data))); unchanged {
			return ErrUnchanged
		}
		return nil
	})
	s.read = int64(len(data))
	for _, f := range s.overlays {
		s.read += int64(len(f.Data))
	}
	if s.isLarge(err) {
		return nil, ErrLarge
	}
	return data, err
}

// Open reads a file that the one at from refers to; it is a tree.Opener.
func (s *Source) Open(ctx context.Context, location, from string, depth int) (text []byte, err error) {
	text, known := s.known[location]
	if !known {
		err = s.clock.run(ctx, func(ctx context.Context) error {
			text, err = s.backend.open(ctx, location, from, depth)
			return err
		})
		if s.clock.bounded && s.clock.left <= 0 && s.err == nil {
			s.err = context.DeadlineExceeded
		}
	}
	if s.read += int64(len(text)); s.isLarge(err) && s.err == nil {
		s.err = ErrLarge
	}
	return text, err
}

// IsKnown reports whether Open returns a file without reading it.
func (s *Source) IsKnown(location string) bool {
	_, known := s.known[location]
	return known
}

// Err returns the error, ErrLarge or that of the time limit, that concerns the document as a whole: it must not be used
// without the files that are missing because of it.
func (s *Source) Err() error { return s.err }

// isLarge reports whether a file could not be read because it, or all files together, exceed Options.Small.
func (s *Source) isLarge(err error) bool {
	var size sizeError
	return s.options.Small > 0 && (s.read > s.options.Small || errors.As(err, &size) && int64(size) == s.options.Small)
}

// Location returns the location of the root document after redirects and a page, once Root has read it.
func (s *Source) Location() string { return s.backend.base() }

// URLs returns the URL of the root document, once Root has read it, and the one that New was given; nil for a file.
func (s *Source) URLs() (found, configured *url.URL) { return s.backend.urls() }

// Stamp returns the stamp of a document with these files, the root document first.
func (s *Source) Stamp(files []string) Stamp {
	return s.backend.stamp(files).overlaid(s.overlayStamps())
}

// Copy returns the copy of a document; nil without Options.Keep.
func (s *Source) Copy(of Stamp) *Copy {
	if !s.options.Keep {
		return nil
	}
	c := copyOf(of, s.backend.kept())
	if c != nil {
		c.Overlays = overlayFiles(s.overlays)
	}
	return c
}

// Reread reads the files of a stamp again and returns a copy of them, which requires Options.Keep. The files are not
// parsed. If they don't match the stamp, the error is ErrChanged.
func (s *Source) Reread(ctx context.Context, of Stamp) (c *Copy, err error) {
	err = s.clock.run(ctx, func(ctx context.Context) error {
		if err := s.readOverlays(ctx); err != nil {
			return err
		}
		if _, err := s.backend.root(ctx, nil); err != nil {
			return err
		}
		s.compare(ctx, &of, s.options.mostBytes()) // to read them
		if c = s.Copy(of); c == nil || !c.Is(of) {
			return ErrChanged
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Warnings returns the problems that were found before a file was parsed.
func (s *Source) Warnings() []tree.Warning { return slices.Concat(s.backend.warnings(), s.warned) }

// Hint returns the advice to append to the error of a root document that can't be parsed.
func (s *Source) Hint(root []byte) string { return s.backend.hint(root) }

// Close releases the directory of a document from a file.
func (s *Source) Close() { _ = s.backend.Close() } // the directory was only read

// clock limits the time for fetching.
type clock struct {
	left    time.Duration
	bounded bool
}

func (c *clock) run(ctx context.Context, fetch func(ctx context.Context) error) error {
	if !c.bounded {
		return fetch(ctx)
	}
	begin := time.Now()
	ctx, cancel := context.WithTimeout(ctx, c.left)
	defer cancel()
	defer func() { c.left -= time.Since(begin) }()
	return fetch(ctx)
}

// compare reads the files of a stamp again and reports whether all are unchanged. It returns them, so that none is read
// twice, unless they exceed most bytes.
func (s *Source) compare(ctx context.Context, previous *Stamp, most int64) (map[string][]byte, bool) {
	b, cache := s.backend, make(map[string][]byte)
	if len(previous.Files) == 0 || previous.Files[0] != b.base() {
		return cache, false
	}
	for _, f := range previous.Files[1:] {
		// The file that refers to it is not in the stamp, and not needed: a file that is fetched with a credential is
		// never one that documents of other origins refer to.
		data, err := b.open(ctx, f, b.base(), 1)
		if err != nil {
			return cache, false // Open will return the same error if the file is still referred to
		}
		if most -= int64(len(data)); most < 0 {
			return nil, false // Open will count them, too
		}
		cache[f] = data
	}
	return cache, s.Stamp(previous.Files).Digest == previous.Digest
}

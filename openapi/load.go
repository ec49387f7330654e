package openapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"drawbridge/openapi/pacing"
	"drawbridge/openapi/tree"
)

// ErrUnchanged is returned by Load when the document is the one that LoadOptions.Previous describes.
var ErrUnchanged = errors.New("document is unchanged")

// ErrLarge is returned by Load for a document of more than LoadOptions.Small bytes, of which no more than that was read.
var ErrLarge = errors.New("document is large")

// A Stamp is enough to know whether a document has changed since it was read.
type Stamp struct {
	ETag, LastModified string   // validators of the answer, for a document by URL
	Digest             [32]byte // SHA-256 over the names and contents of all files
	Files              []string // locations of every file read, the root document first
	Page               string   // URL of the page that led to the document; "": none did
}

// Limits bounds what a document may take; a zero field has the default of requirement S3.
type Limits = tree.Limits

// Pace has the work on documents make way for calls; it is safe for concurrent use.
type Pace = pacing.Pace

// NewPace returns a [Pace] for work that makes way once serving tells that there is somebody to make way for, and rests while
// waited tells that somebody waits.
func NewPace(serving, waited func() bool) *Pace { return pacing.New(serving, waited) }

// LoadOptions says how a document may be read.
type LoadOptions struct {
	Client   *http.Client // fetches documents by URL; it brings its own guard and redirect rule. Nil: URLs are refused
	Previous *Stamp       // of an earlier Load; a document that has not changed since gives ErrUnchanged
	Limits   Limits
	// Keep makes Document.Copy.
	Keep bool
	// Small is how many bytes the files may have, all together; with more the error is [ErrLarge]. 0: what Limits say.
	Small int64
	// Timeout is the time that the files may take to come, all together; 0: any. What is made of them is bounded by Limits.
	Timeout time.Duration

	// Root is the directory that a document from a file, and the files that it refers to, must be in or below, after symbolic links
	// are followed. "": the document's own directory.
	Root string
	// AllowRefs lists origins ("https://schemas.example.com") that a document may take parts from, besides its own: at
	// most 50 documents, five levels deep (S2). RefClient fetches them; it must carry no credential (E4). Nil: none is.
	AllowRefs []string
	RefClient *http.Client
}

// A Document is one OpenAPI document with the files it refers to. It is safe for concurrent use, and it is large:
// drop it after Compile.
type Document struct {
	Location string // as given to Load; for a URL, where it was found after redirects
	Title    string // info.title
	Version  string // info.version: of the API
	Standard string // "2.0", "3.0.3" …
	Stamp    Stamp
	// Copy is what it takes to load the document again without its origin; nil without LoadOptions.Keep.
	Copy *Copy

	set      *tree.Set
	dialect  dialect
	url      *url.URL // of a document that was fetched, else nil
	origin   *url.URL // that its location was given with: a page may lead to another
	problems []Problem
}

// dialect is what the versions of the standard come down to, for this package.
type dialect uint8

const (
	swagger2 dialect = iota
	openapi30
	openapi31 // and later
)

// Load reads the document at location, an http(s) URL or a file path, and the files it refers to. A document from a
// file may refer to files in or below its own directory or LoadOptions.Root (symbolic links followed), one from a URL to its own origin, both
// to AllowRefs (S2); other references count as missing. A URL may be that of a page of an API viewer, which names the
// document. Every error names the location. Load never panics, whatever the document.
func Load(ctx context.Context, location string, o LoadOptions) (d *Document, err error) {
	defer func() {
		if r := recover(); r != nil {
			d, err = nil, fmt.Errorf("document %q: internal error while reading it: %v", location, r)
		}
	}()
	src, err := newSource(location, o)
	if err != nil {
		return nil, fmt.Errorf("document %q: %w", location, err)
	}
	defer src.Close()
	d, err = load(ctx, src, o)
	if errors.Is(err, ErrUnchanged) {
		return nil, ErrUnchanged
	}
	if err != nil {
		return nil, fmt.Errorf("document %q: %w", location, err)
	}
	if u, ok := src.(*urlSource); ok {
		d.url, d.origin = u.location, u.origin
	}
	return d, nil
}

// mostBytes is how many bytes one file may have.
func (o LoadOptions) mostBytes() int64 {
	most := o.Limits.Bytes
	if most <= 0 {
		most = defaultMaxBytes
	}
	for _, less := range []int64{o.Limits.Memory, o.Small} {
		if less > 0 {
			most = min(most, less)
		}
	}
	return most
}

// isLarge tells whether a file could not be read for being larger than LoadOptions.Small, or makes all that were read so.
func (o LoadOptions) isLarge(read int64, err error) bool {
	var size sizeError
	return o.Small > 0 && (read > o.Small || errors.As(err, &size) && int64(size) == o.Small)
}

// load reads the document of a source.
func load(ctx context.Context, src source, o LoadOptions) (*Document, error) {
	if o.Keep {
		src.keep()
	}
	clock := fetchClock{left: o.Timeout, bounded: o.Timeout > 0}
	var data []byte
	var cache map[string][]byte
	if err := clock.run(ctx, func(ctx context.Context) (err error) {
		if data, err = src.root(ctx, o.Previous); err != nil || o.Previous == nil {
			return err
		}
		var unchanged bool
		if cache, unchanged = compare(ctx, src, o.Previous, o.mostBytes()-int64(len(data))); unchanged {
			return ErrUnchanged
		}
		return nil
	}); o.isLarge(int64(len(data)), err) {
		return nil, ErrLarge
	} else if err != nil {
		return nil, err
	}
	if err := o.Limits.Pace.Take(ctx); err != nil {
		return nil, err
	}
	ctx, late := context.WithCancelCause(ctx)
	defer late(nil)
	holds, read := true, int64(len(data)) // holds: the turn
	defer func() {
		if holds {
			o.Limits.Pace.Give()
		}
	}()
	open := func(ctx context.Context, location, from string, depth int) (text []byte, err error) {
		defer func() {
			if read += int64(len(text)); o.isLarge(read, err) {
				late(ErrLarge) // no file is left out for that
			}
		}()
		if text, ok := cache[location]; ok {
			return text, nil
		}
		// Others have the turn while this document waits for its files.
		o.Limits.Pace.Give()
		holds = false
		err = clock.run(ctx, func(ctx context.Context) error {
			text, err = src.open(ctx, location, from, depth)
			return err
		})
		if clock.bounded && clock.left <= 0 {
			late(context.DeadlineExceeded) // no file is left out for that
		}
		if again := o.Limits.Pace.Take(ctx); again != nil {
			return nil, again
		}
		holds = true
		return text, err
	}
	markup := isMarkup(data)
	set, warnings, err := tree.Load(ctx, src.base(), data, open, o.Limits)
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	if err != nil {
		hint := ""
		if u, remote := src.(*urlSource); remote && markup && u.page == "" {
			hint = pageHint
		}
		return nil, fmt.Errorf("%w%s", err, hint)
	}
	d := &Document{Location: src.base(), Stamp: src.stamp(set.Files()), set: set, problems: src.found()}
	for _, w := range warnings {
		d.problems = append(d.problems, newProblem(w))
	}
	if o.Keep {
		d.Copy = copyOf(d.Stamp, src.kept())
	}
	d.identify()
	return d, nil
}

// fetchClock bounds the time that fetching takes.
type fetchClock struct {
	left    time.Duration
	bounded bool
}

func (c *fetchClock) run(ctx context.Context, fetch func(ctx context.Context) error) error {
	if !c.bounded {
		return fetch(ctx)
	}
	begin := time.Now()
	ctx, cancel := context.WithTimeout(ctx, c.left)
	defer cancel()
	defer func() { c.left -= time.Since(begin) }()
	return fetch(ctx)
}

// compare reads the files of an earlier load again and tells whether all are the same; what it read comes back, so
// that nothing is read twice, unless it is more than most bytes.
func compare(ctx context.Context, src source, previous *Stamp, most int64) (map[string][]byte, bool) {
	cache := make(map[string][]byte)
	if len(previous.Files) == 0 || previous.Files[0] != src.base() {
		return cache, false
	}
	for _, f := range previous.Files[1:] {
		// Who refers to it is not known any more, and need not be: what documents of other origins refer to is never one
		// that is fetched with a credential.
		data, err := src.open(ctx, f, src.base(), 1)
		if err != nil {
			return cache, false // the load that follows meets the same error, or no longer wants the file
		}
		if most -= int64(len(data)); most < 0 {
			return nil, false // the load that follows counts them, too, and says so
		}
		cache[f] = data
	}
	return cache, src.stamp(previous.Files).Digest == previous.Digest
}

// identify reads version, title and what else describes the document as a whole. The tree has refused versions that
// nobody knows.
func (d *Document) identify() {
	root := d.set.Root()
	version := root.Get("openapi")
	if version == nil {
		version = root.Get("swagger")
	}
	d.Standard = strings.Clone(version.Text())
	switch {
	case strings.HasPrefix(d.Standard, "2"):
		d.dialect = swagger2
	case strings.HasPrefix(d.Standard, "3.0"):
		d.dialect = openapi30
	default:
		d.dialect = openapi31
	}
	info := root.Get("info")
	d.Title = strings.Clone(info.Get("title").Text())
	d.Version = strings.Clone(info.Get("version").Text())
}

package openapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"drawbridge/openapi/fetch"
	"drawbridge/openapi/overlay"
	"drawbridge/openapi/pacing"
	"drawbridge/openapi/tree"
)

// Limits bounds the cost of a document; a zero field has the default of requirement S3.
type Limits = tree.Limits

// Pace makes the work on documents yield to calls; it is safe for concurrent use.
type Pace = pacing.Pace

// NewPace returns a [Pace] for work that yields once serving reports true, and rests while waited reports that requests
// wait.
func NewPace(serving, waited func() bool) *Pace { return pacing.New(serving, waited) }

// LoadOptions are the settings for reading a document.
type LoadOptions struct {
	Client   *http.Client // fetches documents by URL, with its own guard and redirect rule; nil if URLs are refused
	Previous *fetch.Stamp // of an earlier Load; an unchanged document gives ErrUnchanged
	Limits   Limits
	// Keep makes Document.Copy available.
	Keep bool
	// Small limits the total size of the files in bytes, beyond which the error is [fetch.ErrLarge]; 0 if only Limits
	// apply.
	Small int64
	// Timeout limits the time for fetching all files; 0 means no limit. Limits bounds their content.
	Timeout time.Duration

	// Root is the directory that must contain a document from a file, and the files that it refers to, after symbolic
	// links are followed. "" is the document's own directory.
	Root string
	// AllowRefs lists origins ("https://schemas.example.com") that a document may include parts from, besides its own:
	// at most 50 documents, five levels deep (S2). RefClient fetches them; it must carry no credential (E4). If it is
	// nil, none are fetched.
	AllowRefs []string
	RefClient *http.Client
	// Overlays are the locations of overlays, files or URLs, in the order in which they are applied to the document
	// before anything else is done with it. OverlayClient fetches those of other origins than the document's; it must
	// carry no credential (E4). If it is nil, none are fetched.
	Overlays      []string
	OverlayClient *http.Client
	// OverlayRoot is the directory that must contain overlays from files, after symbolic links are followed. "" is any.
	OverlayRoot string
	// UsualPaths are searched if the location does not exist: see [fetch.Options].
	UsualPaths []string
}

// fetching returns the options of package fetch.
func (o LoadOptions) fetching() fetch.Options {
	return fetch.Options{
		Client: o.Client, Root: o.Root, AllowRefs: o.AllowRefs, RefClient: o.RefClient,
		Overlays: o.Overlays, OverlayRoot: o.OverlayRoot, OverlayClient: o.OverlayClient, MaxOverlay: overlay.MaxBytes,
		MaxBytes: o.Limits.Bytes, MaxMemory: o.Limits.Memory, Small: o.Small, Timeout: o.Timeout, Pace: o.Limits.Pace, Keep: o.Keep, UsualPaths: o.UsualPaths,
	}
}

// A Document is one OpenAPI document with the files it refers to. It is safe for concurrent use, and it is large: drop
// it after Compile.
type Document struct {
	Location string // as given to Load; for a URL, the one after redirects
	Title    string // info.title
	Version  string // info.version: of the API
	Standard string // "2.0", "3.0.3" …
	Stamp    fetch.Stamp
	// Copy holds the files to load the document again without its origin; nil without LoadOptions.Keep.
	Copy *fetch.Copy
	// Overlays holds the result of each action of the overlays, in their order.
	Overlays []overlay.Action

	set      *tree.Set
	used     pacing.Used // of its budget, by Load
	dialect  dialect
	url      *url.URL // of a document that was fetched; otherwise nil
	origin   *url.URL // the configured location: a page may lead to another
	problems []Problem
}

// Tree returns the files of the document with the overlays applied and values repaired, for reports that need the places
// of what the author wrote.
func (d *Document) Tree() *tree.Set { return d.set }

// dialect is the distinction between versions of the standard that matters in this package.
type dialect uint8

const (
	swagger2 dialect = iota
	openapi30
	openapi31 // and later
)

// Load reads the document at location, an http(s) URL or a file path, and the files it refers to. A document from a
// file may refer to files in or below its own directory or LoadOptions.Root (symbolic links followed), one from a URL
// to its own origin, both to AllowRefs (S2); other references count as missing. A URL may be that of a page of an API
// viewer, which names the document. Every error names the location. Load never panics, for any document.
func Load(ctx context.Context, location string, o LoadOptions) (d *Document, err error) {
	defer func() {
		if r := recover(); r != nil {
			if ended := pacing.Cause(r); ended != nil {
				d, err = nil, fmt.Errorf("document %q: %w", location, ended)
				return
			}
			d, err = nil, fmt.Errorf("document %q: internal error while reading it: %v", location, r)
		}
	}()
	src, err := fetch.New(location, o.fetching())
	if err != nil {
		return nil, fmt.Errorf("document %q: %w", location, err)
	}
	defer src.Close()
	d, err = load(ctx, src, o)
	if errors.Is(err, fetch.ErrUnchanged) {
		return nil, fetch.ErrUnchanged
	}
	if err != nil {
		return nil, fmt.Errorf("document %q: %w", location, err)
	}
	return d, nil
}

// Reread reads the files of a document that was loaded with these options again, without loading it. The error is
// [fetch.ErrChanged] if they don't match the stamp; every error names the location.
func Reread(ctx context.Context, location string, stamp fetch.Stamp, o LoadOptions) (*fetch.Copy, error) {
	o.Keep = true
	src, err := fetch.New(location, o.fetching())
	if err != nil {
		return nil, fmt.Errorf("document %q: %w", location, err)
	}
	defer src.Close()
	files, err := src.Reread(ctx, stamp)
	if err != nil {
		return nil, fmt.Errorf("document %q: %w", location, err)
	}
	return files, nil
}

// load reads the document of a source.
func load(ctx context.Context, src *fetch.Source, o LoadOptions) (*Document, error) {
	data, err := src.Root(ctx, o.Previous)
	if err != nil {
		return nil, err
	}
	o.Limits.Pace = o.Limits.Pace.Bound(loadBudget)
	if err := o.Limits.Pace.Take(ctx); err != nil {
		return nil, err
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	hasTurn := true
	defer func() {
		if hasTurn {
			o.Limits.Pace.Give()
		}
	}()
	open := func(ctx context.Context, location, from string, depth int) ([]byte, error) {
		if hasTurn && !src.IsKnown(location) {
			// Other documents get the turn while this one waits for its files.
			o.Limits.Pace.Give()
			hasTurn = false
		}
		text, err := src.Open(ctx, location, from, depth)
		if err := src.Err(); err != nil {
			fail(err)
		}
		if !hasTurn {
			if err := o.Limits.Pace.Take(ctx); err != nil {
				return nil, err
			}
			hasTurn = true
		}
		return text, err
	}
	hint := src.Hint(data)
	var actions []overlay.Action
	set, warnings, err := tree.LoadEdited(ctx, src.Location(), data, open, overlays(src, &actions), o.Limits)
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	if err != nil {
		return nil, fmt.Errorf("%w%s", err, hint)
	}
	d := &Document{Location: src.Location(), Stamp: src.Stamp(set.Files()), Overlays: actions, set: set, used: o.Limits.Pace.Used()}
	d.url, d.origin = src.URLs()
	d.Copy = src.Copy(d.Stamp)
	for _, w := range append(src.Warnings(), warnings...) {
		d.problems = append(d.problems, newProblem(w))
	}
	d.identify()
	return d, nil
}

// overlays returns the edit that applies the overlays of a source and reports the results of their actions; nil if it
// has none.
func overlays(src *fetch.Source, actions *[]overlay.Action) tree.Edit {
	if len(src.Overlays()) == 0 {
		return nil
	}
	return func(e *tree.Editor) (err error) {
		var files []overlay.File
		for _, f := range src.Overlays() {
			files = append(files, overlay.File{Location: f.Location, Data: f.Data})
		}
		*actions, err = overlay.Apply(e, src.Location(), files)
		return err
	}
}

// LoadCopy loads a document from its copy, by all the rules and limits of [Load]; its references resolve only to files
// of the copy. location is the argument of Load. The copy is refused if Load would not read the document now because
// its origin is neither that of location nor allowed.
func LoadCopy(ctx context.Context, location string, c *fetch.Copy, o LoadOptions) (d *Document, err error) {
	defer func() {
		if r := recover(); r != nil {
			if ended := pacing.Cause(r); ended != nil {
				d, err = nil, fmt.Errorf("copy of document %q: %w", fetch.Redacted(location), ended)
				return
			}
			d, err = nil, fmt.Errorf("copy of document %q: internal error while reading it: %v", fetch.Redacted(location), r)
		}
	}()
	src, err := fetch.FromCopy(location, c, o.fetching())
	if err != nil {
		return nil, fmt.Errorf("copy of document %q: %w", fetch.Redacted(location), err)
	}
	o.Previous = nil
	if d, err = load(ctx, src, o); err != nil {
		return nil, fmt.Errorf("copy of document %q: %w", fetch.Redacted(location), err)
	}
	return d, nil
}

// identify reads version, title and other properties of the document as a whole. The tree has refused unknown versions.
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

package fetch

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"drawbridge/openapi/origin"
	"drawbridge/openapi/pacing"
	"drawbridge/openapi/tree"
)

// OverlayStamp identifies the content of an overlay.
type OverlayStamp struct {
	Location string
	Digest   [sha256.Size]byte
}

// readOverlays reads all overlays. One that can't be read is an error of the document, since it may be the one that
// hides an operation.
func (s *Source) readOverlays(ctx context.Context) error {
	if s.overlays != nil {
		return nil // those of a copy
	}
	for _, location := range s.options.Overlays {
		data, err := s.readOverlay(ctx, location)
		if err != nil {
			return fmt.Errorf("overlay %q: %w", location, err)
		}
		s.overlays = append(s.overlays, File{Location: location, Data: data})
	}
	return nil
}

func (s *Source) readOverlay(ctx context.Context, location string) ([]byte, error) {
	most := s.options.mostBytes()
	if bound := s.options.MaxOverlay; bound > 0 {
		most = min(most, bound)
	}
	if !strings.Contains(location, "://") {
		return readFile(ctx, location, s.options.OverlayRoot, most, s.options.Pace)
	}
	u, err := url.Parse(location)
	if err != nil || u.User != nil {
		return nil, errors.New("the location is no URL without user info")
	}
	u = withoutFragment(u)
	// The client of the document carries the credential of the API, which is for the document's origin alone (E4).
	_, document := s.backend.urls()
	own := document != nil && origin.Same(u, document)
	client := s.options.OverlayClient
	if own {
		client = s.options.Client
	}
	if client == nil {
		return nil, errors.New("overlays by URL are not allowed here")
	}
	data, got, err := get(ctx, client, u, nil, most, s.options.Pace)
	switch {
	case errors.Is(err, ErrProtected) && !own:
		return nil, errors.New("fetch: the server refuses it to anonymous clients; the credential of the API is sent only to the origin of its document")
	case err != nil:
		return nil, err
	case !origin.Same(got.url, u):
		return nil, errors.New("fetch: it was redirected to another origin")
	}
	if got.charset != "" {
		s.warned = append(s.warned, tree.Warning{Position: tree.Position{File: location, Line: 1, Column: 1}, Code: tree.CodeEncoding, Message: got.charset})
	}
	return data, nil
}

// readFile reads a file that the configuration names, below root unless that is "".
func readFile(ctx context.Context, location, root string, most int64, pace *pacing.Pace) ([]byte, error) {
	f, err := newFileSource(location, root, nil, most)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // the file was only read
	f.pace = pace
	return f.read(ctx, f.name)
}

// Overlays returns the overlays, once Root has read them.
func (s *Source) Overlays() []File { return s.overlays }

// overlayStamps returns the stamps of the overlays that were read.
func (s *Source) overlayStamps() (all []OverlayStamp) {
	for _, f := range s.overlays {
		all = append(all, OverlayStamp{f.Location, digest(f.Data, s.options.Pace)})
	}
	return all
}

// overlaid returns the stamp of a document with its overlays, from that of its files.
func (t Stamp) overlaid(overlays []OverlayStamp) Stamp {
	if len(overlays) == 0 {
		return t
	}
	h := sha256.New()
	h.Write(t.Digest[:])
	for _, o := range overlays {
		fmt.Fprintf(h, "%d:%s", len(o.Location), o.Location)
		h.Write(o.Digest[:])
	}
	t.Overlays = overlays
	h.Sum(t.Digest[:0])
	return t
}

// validators returns the stamp for a conditional request of the root document; nil if the overlays have changed, so
// that the document has to be read anyway.
func (s *Source) validators(previous *Stamp) *Stamp {
	if previous == nil || !slices.Equal(previous.Overlays, s.overlayStamps()) {
		return nil
	}
	return previous
}

// overlayFiles returns the overlays as a copy keeps them.
func overlayFiles(overlays []File) (kept []File) {
	for _, f := range overlays {
		kept = append(kept, File{Redacted(f.Location), f.Data})
	}
	return kept
}

// overlaysOf returns the overlays of a copy under the locations of the configuration. A copy with other overlays is
// refused: operations that those hide might be exposed.
func overlaysOf(c *Copy, configured []string) ([]File, error) {
	if len(c.Overlays) != len(configured) {
		return nil, errors.New("it was stored with other overlays")
	}
	all := make([]File, len(configured))
	for i, location := range configured {
		if kept := c.Overlays[i].Location; kept != Redacted(location) && (strings.Contains(location, "://") || filepath.Base(kept) != filepath.Base(location)) {
			return nil, errors.New("it was stored with other overlays")
		}
		all[i] = File{location, c.Overlays[i].Data}
	}
	return all, nil
}

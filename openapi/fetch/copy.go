package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"drawbridge/openapi/origin"
)

// Copy holds the files of a document as they were read, to load it again without its origin. It is immutable, and as
// untrusted as the document.
type Copy struct {
	// Location is that of the root document, a URL without user info and query, which may be secret.
	Location string
	// ETag, LastModified and Page are those of [Stamp], the page without user info and query too.
	ETag, LastModified, Page string
	// Files are all files that were read, the root document first, under Location.
	Files []File
	// Overlays are the applied overlays in their order, each with a URL without user info and query.
	Overlays []File
}

// File is a file as it was read.
type File struct {
	Location string
	Data     []byte
}

// Bytes returns the total size of all files and overlays.
func (c *Copy) Bytes() (n int64) {
	for _, f := range slices.Concat(c.Files, c.Overlays) {
		n += int64(len(f.Data))
	}
	return n
}

// Is reports whether the copy is of the document with the stamp.
func (c *Copy) Is(s Stamp) bool {
	if len(c.Files) != len(s.Files) || len(c.Overlays) != len(s.Overlays) {
		return false
	}
	var r reading
	for i, location := range s.Files {
		if named := c.Files[i].Location; named != location && (i > 0 || named != Redacted(location)) {
			return false
		}
		r.add(location, c.Files[i].Data)
	}
	var overlays []OverlayStamp
	for i, o := range s.Overlays {
		if c.Overlays[i].Location != Redacted(o.Location) {
			return false
		}
		overlays = append(overlays, OverlayStamp{o.Location, digest(c.Overlays[i].Data, nil)})
	}
	return r.stamp(s.Files).overlaid(overlays).Digest == s.Digest
}

// copyOf makes the copy of a document from the kept files; nil if one is missing.
func copyOf(s Stamp, kept map[string][]byte) *Copy {
	c := &Copy{ETag: s.ETag, LastModified: s.LastModified, Page: Redacted(s.Page)}
	for i, location := range s.Files {
		data, ok := kept[location]
		if !ok {
			return nil
		}
		if i == 0 {
			location = Redacted(location)
			c.Location = location
		}
		c.Files = append(c.Files, File{location, data})
	}
	return c
}

// Redacted returns a location without the parts of a URL that may be secret: user info and query.
func Redacted(location string) string {
	if !strings.Contains(location, "://") {
		return location
	}
	u, err := url.Parse(location)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
	return u.String()
}

// copySource is the source of the files of a copy.
type copySource struct {
	reading
	copy        *Copy
	files       map[string][]byte
	url, origin *url.URL        // nil for a document from a file
	allowed     []origin.Origin // other origins
}

// FromCopy returns the source of a copy whose location is the one that New was given. A copy from an origin that is
// neither that of location nor allowed is refused.
func FromCopy(location string, c *Copy, o Options) (*Source, error) {
	b, err := newCopySource(location, c, o)
	if err != nil {
		return nil, err
	}
	s := newSource(b, o)
	if s.overlays, err = overlaysOf(c, o.Overlays); err != nil {
		return nil, err
	}
	return s, nil
}

func newCopySource(location string, c *Copy, o Options) (*copySource, error) {
	if len(c.Files) == 0 || c.Files[0].Location != c.Location {
		return nil, errors.New("it holds no document")
	}
	s := &copySource{reading: reading{pace: o.Pace}, copy: c, files: make(map[string][]byte, len(c.Files))}
	var size int64
	for _, f := range c.Files {
		s.files[f.Location] = f.Data
		size += int64(len(f.Data))
	}
	if limit := o.MaxBytes; limit > 0 && size > limit {
		return nil, fmt.Errorf("is larger than %d MiB; the limit is there to protect the gateway", limit>>20)
	}
	if remote := strings.Contains(location, "://"); remote != strings.Contains(c.Location, "://") {
		return nil, errors.New("it is that of another document")
	} else if !remote {
		return s, nil
	}
	var err error
	if s.origin, err = url.Parse(location); err != nil {
		return nil, errors.New("the location is no URL")
	}
	if s.url, err = url.Parse(c.Location); err != nil {
		return nil, errors.New("it is of a location that is no URL")
	}
	for _, text := range o.AllowRefs {
		if at, ok := origin.Parse(text); ok {
			s.allowed = append(s.allowed, at)
		}
	}
	if !s.allows(s.url) {
		return nil, errors.New("it is of another origin")
	}
	return s, nil
}

// allows reports whether a URL has the origin of the document or an allowed one.
func (s *copySource) allows(u *url.URL) bool {
	at, ok := origin.Of(u)
	return ok && (origin.Same(u, s.origin) || slices.Contains(s.allowed, at))
}

func (s *copySource) base() string                       { return s.copy.Location }
func (s *copySource) urls() (found, configured *url.URL) { return s.url, s.origin }
func (s *copySource) hint([]byte) string                 { return "" }
func (s *copySource) Close() error                       { return nil }

func (s *copySource) root(context.Context, *Stamp) ([]byte, error) {
	data := s.copy.Files[0].Data
	s.add(s.copy.Location, data)
	return data, nil
}

func (s *copySource) open(_ context.Context, location, _ string, _ int) ([]byte, error) {
	data, ok := s.files[location]
	if !ok {
		return nil, errors.New("it is not in the copy of the document")
	}
	if u, err := url.Parse(location); s.origin != nil && (err != nil || !s.allows(u)) {
		return nil, errors.New("it is of another origin, which allow_refs does not name any more")
	}
	s.add(location, data)
	return data, nil
}

func (s *copySource) stamp(files []string) Stamp {
	t := s.reading.stamp(files)
	t.ETag, t.LastModified, t.Page = s.copy.ETag, s.copy.LastModified, s.copy.Page
	return t
}

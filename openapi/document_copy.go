package openapi

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"drawbridge/gateway/origin"
)

// A Copy is what it takes to load a document again without its origin. It holds what was read, byte for byte, and is as
// little to be trusted as that. It is immutable.
type Copy struct {
	// Location is where the root document was found in the end. Of a URL it has neither user info nor query, which may be
	// secret.
	Location string
	// ETag, LastModified and Page are those of [Stamp], the page without user info and query too.
	ETag, LastModified, Page string
	// Files are all files that were read, the root document first, under Location.
	Files []File
}

// A File is one of a [Copy].
type File struct {
	Location string
	Data     []byte
}

// Bytes is the size of all files together.
func (c *Copy) Bytes() (n int64) {
	for _, f := range c.Files {
		n += int64(len(f.Data))
	}
	return n
}

// Is reports whether the copy is of the document that a stamp was made of.
func (c *Copy) Is(s Stamp) bool {
	if len(c.Files) != len(s.Files) {
		return false
	}
	var r reading
	for i, location := range s.Files {
		if named := c.Files[i].Location; named != location && (i > 0 || named != bare(location)) {
			return false
		}
		r.add(location, c.Files[i].Data)
	}
	return r.stamp(s.Files).Digest == s.Digest
}

// copyOf makes the copy of a document of what a source has kept.
func copyOf(s Stamp, kept map[string][]byte) *Copy {
	c := &Copy{ETag: s.ETag, LastModified: s.LastModified, Page: bare(s.Page)}
	for i, location := range s.Files {
		data, ok := kept[location]
		if !ok {
			return nil
		}
		if i == 0 {
			location = bare(location)
			c.Location = location
		}
		c.Files = append(c.Files, File{location, data})
	}
	return c
}

// bare returns a location without what may be secret in it.
func bare(location string) string {
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

// LoadCopy loads a document from its copy, by all the rules and limits of [Load]; its references lead to what the copy holds
// and nowhere else. location is what Load was given. The copy of a document that Load would not read now, since it is
// of an origin that is neither that of location nor allowed, is refused.
func LoadCopy(ctx context.Context, location string, c *Copy, o LoadOptions) (d *Document, err error) {
	defer func() {
		if r := recover(); r != nil {
			d, err = nil, fmt.Errorf("copy of document %q: internal error while reading it: %v", bare(location), r)
		}
	}()
	src, err := newCopySource(location, c, o)
	if err != nil {
		return nil, fmt.Errorf("copy of document %q: %w", bare(location), err)
	}
	o.Previous = nil
	if d, err = load(ctx, src, o); err != nil {
		return nil, fmt.Errorf("copy of document %q: %w", bare(location), err)
	}
	d.url, d.origin = src.url, src.origin
	return d, nil
}

// copySource is the source of the files of a copy.
type copySource struct {
	reading
	copy        *Copy
	files       map[string][]byte
	url, origin *url.URL        // nil of a document from a file
	allowed     []origin.Origin // other origins
}

func newCopySource(location string, c *Copy, o LoadOptions) (*copySource, error) {
	if len(c.Files) == 0 || c.Files[0].Location != c.Location {
		return nil, errors.New("it holds no document")
	}
	s := &copySource{reading: reading{pace: o.Limits.Pace}, copy: c, files: make(map[string][]byte, len(c.Files))}
	var size int64
	for _, f := range c.Files {
		s.files[f.Location] = f.Data
		size += int64(len(f.Data))
	}
	if limit := o.Limits.Bytes; limit > 0 && size > limit {
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
	if !s.lets(s.url) {
		return nil, errors.New("it is of another origin")
	}
	return s, nil
}

func (s *copySource) lets(u *url.URL) bool {
	at, ok := origin.Of(u)
	return ok && (origin.Same(u, s.origin) || slices.Contains(s.allowed, at))
}

func (s *copySource) base() string { return s.copy.Location }
func (s *copySource) Close() error { return nil }

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
	if u, err := url.Parse(location); s.origin != nil && (err != nil || !s.lets(u)) {
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

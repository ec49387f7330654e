package wire

import (
	"iter"
	"net/url"
	"strings"
)

const (
	// maxMatchSteps limits the attempts to find the values in a path.
	maxMatchSteps = 10_000
	// heldSlash represents an escaped slash, which does not separate segments.
	heldSlash = "\x00"
)

// Match reports whether an escaped path can result from the template, and returns the values by the index of the
// variables in Names. It errs on the side of a match, since its result protects operations, and services interpret
// paths in several ways: case, a slash at the end and repeated slashes are ignored. If there are too many ways to match
// a path, the values are nil.
func (t *Template) Match(path string) (values []string, ok bool) {
	m := matching{t: t, values: make([]string, len(t.names)), steps: maxMatchSteps}
	ok = m.from(0, plainPath(path))
	switch {
	case m.steps < 0:
		return nil, true
	case !ok:
		return nil, false
	}
	for i := range m.values {
		m.values[i] = strings.ReplaceAll(m.values[i], heldSlash, "/")
	}
	return m.values, true
}

type matching struct {
	t      *Template
	values []string
	steps  int
	below  bool // paths below one that matches do, too
}

// from matches the parts from index i on.
func (m *matching) from(i int, path string) bool {
	if m.steps--; m.steps < 0 {
		return false
	}
	if i == len(m.t.parts) {
		return path == "" || path == "/" || m.below && path[0] == '/'
	}
	p := m.t.parts[i]
	if p.literal != "" {
		literal := plainPath(p.literal)
		if len(path) < len(literal) || !strings.EqualFold(path[:len(literal)], literal) {
			return literal == "/" && path == "" && i == len(m.t.parts)-1 // the slash at the end belongs to the template
		}
		return m.from(i+1, path[len(literal):])
	}
	most := len(path)
	if slash := strings.IndexByte(path, '/'); slash >= 0 && !m.t.reserved[p.variable] {
		most = slash
	}
	for n := most; n > 0; n-- {
		if m.from(i+1, path[n:]) {
			m.values[p.variable] = path[:n]
			return true
		}
	}
	return false
}

// Claimed reports whether an escaped path that the template makes also matches one of the others that is more specific:
// services route the path to that one. It errs on the side of true, as Match does.
func (t *Template) Claimed(path string, others iter.Seq[*Template]) bool {
	plain := plainPath(path)
	m := matching{steps: maxClaimSteps}
	for other := range others {
		m.t, m.values = other, make([]string, len(other.names))
		if m.from(0, plain) && t.isAbove(other, &m.steps) || m.steps < 0 {
			return true
		}
	}
	return false
}

// Unfolded reports whether an escaped path matches one of the others only if each "%2F" in it is a separator of segments, as it is for
// services and proxies that decode the path before they route it. These may also cut off a query, a fragment and the parameters of segments
// that become visible. With below, a path below one that matches counts, too. It errs on the side of true, as Match does.
func Unfolded(path string, others iter.Seq[*Template], below bool) bool {
	sent, unfolded := plainPath(path), plainPath(encodedSlash.Replace(path))
	cutSent, cut := withoutParameters(sent), withoutParameters(unfolded)
	m := matching{steps: maxClaimSteps, below: below}
	for other := range others {
		m.t, m.values = other, make([]string, len(other.names))
		if m.from(0, unfolded) && !m.from(0, sent) || cut != unfolded && m.from(0, cut) && !m.from(0, cutSent) || m.steps < 0 {
			return true
		}
	}
	return false
}

// withoutParameters returns a decoded path without the parameters of its segments (RFC 3986 section 3.3), a query and a fragment.
func withoutParameters(path string) string {
	if i := strings.IndexAny(path, "?#"); i >= 0 {
		path = path[:i]
	}
	if !strings.Contains(path, ";") {
		return path
	}
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		segments[i], _, _ = strings.Cut(segment, ";")
	}
	return strings.Join(segments, "/")
}

var encodedSlash = strings.NewReplacer("%2F", "/", "%2f", "/")

// maxClaimSteps limits the attempts to find the values in a path for all other templates.
const maxClaimSteps = 200_000

// isAbove reports whether the paths of another template are a proper subset of those of this one. steps are the
// remaining attempts.
func (t *Template) isAbove(other *Template, steps *int) bool {
	makes := func(t *Template, path string) bool {
		m := matching{t: t, values: make([]string, len(t.names)), steps: *steps}
		ok := m.from(0, plainPath(path))
		*steps = m.steps
		return ok
	}
	return makes(t, other.sample("\x01")) && !makes(other, t.sample("\x01"+strings.Repeat("/\x01", maxSegments)))
}

// maxSegments is the number of additional segments in a sample of a value that may span several.
const maxSegments = 50

// sample returns a path that the template makes, unescaped, with a value for the variables that may span several
// segments.
func (t *Template) sample(spanning string) string {
	var b strings.Builder
	for _, p := range t.parts {
		switch {
		case p.literal != "":
			b.WriteString(p.literal)
		case t.reserved[p.variable]:
			b.WriteString(spanning)
		default:
			b.WriteString("\x01")
		}
	}
	return b.String()
}

// plainPath decodes an escaped path, and removes slashes that separate nothing.
func plainPath(path string) string {
	if !strings.ContainsAny(path, "%") && !strings.Contains(path, "//") {
		return path
	}
	path = strings.NewReplacer("%2F", heldSlash, "%2f", heldSlash).Replace(path)
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	return path
}

package config

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// URITemplate is a URI, or a template for URIs (RFC 6570): expressions {name} of level 1, each for the text between two of
// the characters / ? # &, and at the end {?a,b} for a query whose members may be missing. The zero value is no template. It is
// immutable.
type URITemplate struct {
	text   string
	pieces []string // in turn a literal and the name of a variable
	query  []string // the names of {?a,b}
	path   []uriSegment
}

// uriSegment is the text between two of the characters that no value holds: literals, and between any two of them a variable.
type uriSegment struct {
	literals, names []string // one literal more than names; those between names are not empty
	end             byte     // the character behind it; 0 at the end
}

// uriDelimiters end a segment.
const uriDelimiters = "/?#&"

// maxURI is the most bytes of a template, and of a URI that is held against one.
const (
	maxURITemplate = 2 << 10
	maxURI         = 4 << 10
)

var (
	uriScheme = regexp.MustCompile(`\A[A-Za-z][A-Za-z0-9+.-]*:[^:]`)
	uriName   = regexp.MustCompile(`\A[A-Za-z0-9_][A-Za-z0-9_.-]*\z`)
)

// ParseURITemplate reads a template, or a URI.
func ParseURITemplate(text string) (URITemplate, error) {
	var t URITemplate
	err := t.parse(text)
	return t, err
}

// String returns the template as it was written.
func (t URITemplate) String() string { return t.text }

// MarshalText returns the template as it was written.
func (t URITemplate) MarshalText() ([]byte, error) { return []byte(t.text), nil }

// IsZero reports whether there is no template.
func (t URITemplate) IsZero() bool { return t.text == "" }

// Fixed reports whether it is one URI, without variables.
func (t URITemplate) Fixed() bool { return len(t.pieces) <= 1 && len(t.query) == 0 }

// Variables returns the names of the variables, each once: those that every URI has, then those of its query.
func (t URITemplate) Variables() (always, query []string) {
	for i := 1; i < len(t.pieces); i += 2 {
		always = append(always, t.pieces[i])
	}
	return always, t.query
}

// Shape is the same for templates that differ in the names of their variables alone, and so match the same URIs.
func (t URITemplate) Shape() string {
	var b strings.Builder
	for i, piece := range t.pieces {
		if i%2 == 1 {
			piece = "{}"
		}
		b.WriteString(piece)
	}
	if len(t.query) > 0 {
		b.WriteString("{?" + strings.Join(slices.Sorted(slices.Values(t.query)), ",") + "}")
	}
	return b.String()
}

// Match returns the values of the variables in a URI, decoded; false if the template does not match.
func (t URITemplate) Match(uri string) (values map[string]string, ok bool) {
	if len(uri) > maxURI || t.path == nil {
		return nil, false
	}
	query, asked := "", false
	if len(t.query) > 0 {
		uri, query, asked = strings.Cut(uri, "?")
	}
	values = map[string]string{}
	take := func(name, escaped string) bool {
		value, err := url.PathUnescape(escaped)
		_, twice := values[name]
		values[name] = value
		return err == nil && !twice && utf8.ValidString(value)
	}
	for i := range t.path {
		segment := &t.path[i]
		text, rest := uri, ""
		if end := strings.IndexAny(uri, uriDelimiters); end >= 0 {
			if segment.end != uri[end] {
				return nil, false
			}
			text, rest = uri[:end], uri[end+1:]
		} else if segment.end != 0 {
			return nil, false
		}
		if !segment.match(text, take) {
			return nil, false
		}
		uri = rest
	}
	if !asked || query == "" {
		return values, true
	}
	for pair := range strings.SplitSeq(query, "&") {
		name, escaped, _ := strings.Cut(pair, "=")
		if name, err := url.PathUnescape(name); err != nil || !slices.Contains(t.query, name) || !take(name, escaped) {
			return nil, false
		}
	}
	return values, true
}

// match gives the values in a text to take; false if the text is not of the segment, or take refuses one. Where a text can be
// taken apart in more than one way, the first values are the longest. Time grows with the text alone: URIs come from anybody.
func (s *uriSegment) match(text string, take func(name, escaped string) bool) bool {
	last := len(s.names)
	if last == 0 {
		return text == s.literals[0]
	}
	text, begins := strings.CutPrefix(text, s.literals[0])
	text, ends := strings.CutSuffix(text, s.literals[last])
	if !begins || !ends {
		return false
	}
	for i := last - 1; i > 0 && text != ""; i-- {
		at := strings.LastIndex(text[:len(text)-1], s.literals[i])
		if at < 0 || !take(s.names[i], text[at+len(s.literals[i]):]) {
			return false
		}
		text = text[:at]
	}
	return text != "" && take(s.names[0], text)
}

// segments takes the pieces of a template apart at the characters that no value holds.
func segments(pieces []string) []uriSegment {
	all := []uriSegment{{literals: []string{""}}}
	for i, piece := range pieces {
		s := &all[len(all)-1]
		if i%2 == 1 {
			s.names, s.literals = append(s.names, piece), append(s.literals, "")
			continue
		}
		for {
			end := strings.IndexAny(piece, uriDelimiters)
			if end < 0 {
				s.literals[len(s.literals)-1] = piece
				break
			}
			s.literals[len(s.literals)-1], s.end = piece[:end], piece[end]
			all = append(all, uriSegment{literals: []string{""}})
			s, piece = &all[len(all)-1], piece[end+1:]
		}
	}
	return all
}

// Expand returns the URI for values; false if one is missing that every URI has, or is empty.
func (t URITemplate) Expand(value func(name string) (string, bool)) (uri string, ok bool) {
	var b strings.Builder
	for i, piece := range t.pieces {
		if i%2 == 1 {
			given, ok := value(piece)
			if !ok || given == "" {
				return "", false
			}
			piece = escapeURI(given)
		}
		b.WriteString(piece)
	}
	sign := byte('?')
	for _, name := range t.query {
		if given, ok := value(name); ok {
			b.WriteByte(sign)
			b.WriteString(escapeURI(name) + "=" + escapeURI(given))
			sign = '&'
		}
	}
	return b.String(), true
}

// escapeURI escapes all but the characters that RFC 3986 calls unreserved.
func escapeURI(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if alphanumeric(c) || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func (t *URITemplate) parse(text string) error {
	if len(text) > maxURITemplate {
		return fmt.Errorf("has %d bytes, more than %d", len(text), maxURITemplate)
	}
	if !uriScheme.MatchString(text) {
		return errors.New("must be a URI, which begins with a scheme: shop://orders/{id}")
	}
	p := URITemplate{text: text}
	for rest := text; ; {
		literal, after, open := strings.Cut(rest, "{")
		if err := checkURILiteral(literal); err != nil {
			return err
		}
		p.pieces = append(p.pieces, literal)
		if !open {
			break
		}
		inside, next, closed := strings.Cut(after, "}")
		if !closed {
			return errors.New("has a { without its }")
		}
		if names, ok := strings.CutPrefix(inside, "?"); ok {
			if next != "" || strings.Contains(text[:len(text)-len(inside)-2], "?") {
				return fmt.Errorf("{%s} must stand at the end, of what has no ? before it", inside)
			}
			p.query = strings.Split(names, ",")
			break
		}
		if literal == "" {
			return fmt.Errorf("needs something between {%s} and the variable before it", inside)
		}
		p.pieces = append(p.pieces, inside)
		rest = next
	}
	always, query := p.Variables()
	for i, name := range append(always, query...) {
		switch {
		case !uriName.MatchString(name):
			return fmt.Errorf("has the expression {%s}: supported are {name} and, at the end, {?a,b}, whose names have letters, digits and . _ -", name)
		case slices.Contains(append(always, query...)[:i], name):
			return fmt.Errorf("has the variable %q twice", name)
		}
	}
	p.path = segments(p.pieces)
	*t = p
	return nil
}

// checkURILiteral rejects characters that a URI can't have (RFC 3986), and fragments, which no server sees.
func checkURILiteral(text string) error {
	for i, r := range text {
		switch {
		case r == '#':
			return errors.New("can't have a fragment (#)")
		case r <= ' ' || r >= 0x7f || strings.ContainsRune("\"<>\\^`|}", r):
			return fmt.Errorf("holds %q, which can't stand in a URI", r)
		case r == '%':
			if _, err := url.PathUnescape(text[i:min(len(text), i+3)]); err != nil {
				return errors.New("holds a % without two hexadecimal digits behind it")
			}
		}
	}
	return nil
}

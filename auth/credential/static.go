package credential

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
)

// secret is a named part of a credential; the name is for errors.
type secret struct {
	name string
	read Secret
}

// staticCredential adds one credential to requests.
type staticCredential struct {
	field
	secrets []secret
	format  func(values []string) (string, error)

	last atomic.Pointer[rendered] // the current secrets, rendered
}

// rendered is a credential as sent in a request.
type rendered struct {
	from   []string // the secrets that it was rendered from
	text   string
	header []string // text as the values of a field, shared by all requests
}

// render returns the credential for the current secrets. It is rendered again only when they have
// changed.
func (a *staticCredential) render() (*rendered, error) {
	last := a.last.Load()
	same := last != nil
	var values [2]string
	for i, s := range a.secrets {
		v, err := s.read()
		if err != nil {
			return nil, fmt.Errorf("credential: read %s: %w", s.name, err)
		}
		if v = strings.TrimRight(v, "\r\n"); v == "" && s.name != "password" {
			return nil, fmt.Errorf("credential: %s is empty", s.name)
		}
		values[i] = v
		same = same && v == last.from[i]
	}
	if same {
		return last, nil
	}
	from := slices.Clone(values[:len(a.secrets)])
	text, err := a.format(from)
	if err != nil {
		return nil, err
	}
	r := &rendered{from: from, text: text, header: slices.Clip([]string{text})}
	a.last.Store(r)
	return r, nil
}

// apply returns a copy of req with the credential. Anything else with the credential's name is
// removed, so that arguments can't add a second one (R5 to R7).
func (a *staticCredential) apply(req *http.Request) (*http.Request, error) {
	r, err := a.render()
	if err != nil {
		return nil, err
	}
	return a.set(req, r.header), nil
}

// field is the part of a request that holds a credential.
type field struct {
	location Location
	name     string // of the header, parameter or cookie
}

// set returns a copy of req with the values of the field, of which there is one. Anything else with
// its name is removed.
func (f field) set(req *http.Request, values []string) *http.Request {
	own := req.WithContext(req.Context()) // a shallow copy
	switch f.location {
	case Header:
		own.Header = cloneHeader(req.Header, f.name)
		own.Header[f.name] = values
	case Query:
		u := *req.URL
		u.RawQuery = setQuery(u.RawQuery, f.name, values[0])
		own.URL = &u
	case Cookie:
		own.Header = cloneHeader(req.Header, "Cookie")
		own.Header["Cookie"] = []string{setCookie(req.Header["Cookie"], f.name, values[0])}
	}
	return own
}

// cloneHeader copies h without the named field, in any spelling that some server accepts for it:
// CGI and WSGI turn "-" into "_" (R6).
func cloneHeader(h http.Header, name string) http.Header {
	if !hasField(h, name) {
		return maps.Clone(nonNil(h))
	}
	clone := make(http.Header, len(h)+1)
	for k, v := range h {
		if !sameField(k, name) {
			clone[k] = v
		}
	}
	return clone
}

func nonNil(h http.Header) http.Header {
	if h == nil {
		return http.Header{}
	}
	return h
}

// hasField reports whether the field is present, in any spelling.
func hasField(h http.Header, name string) bool {
	for k := range h {
		if sameField(k, name) {
			return true
		}
	}
	return false
}

// sameField reports whether two header names are equal but for case and "_" for "-".
func sameField(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if fold(a[i]) != fold(b[i]) {
			return false
		}
	}
	return true
}

func fold(c byte) byte {
	switch {
	case c == '_':
		return '-'
	case 'A' <= c && c <= 'Z':
		return c + 'a' - 'A'
	}
	return c
}

// setQuery returns the query with exactly one pair of that name, the last one.
func setQuery(query, name, value string) string {
	var b strings.Builder
	b.Grow(len(query) + len(name) + len(value) + 8)
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" || sameParameter(pair, name) {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('&')
		}
		b.WriteString(pair)
	}
	if b.Len() > 0 {
		b.WriteByte('&')
	}
	b.WriteString(url.QueryEscape(name))
	b.WriteByte('=')
	b.WriteString(url.QueryEscape(value))
	return b.String()
}

// sameParameter reports whether a query pair sets the parameter, also if split at ";" as some
// servers do.
func sameParameter(pair, name string) bool {
	for part := range strings.SplitSeq(pair, ";") {
		key, _, _ := strings.Cut(part, "=")
		if decoded, err := url.QueryUnescape(key); key == name || err == nil && decoded == name {
			return true
		}
	}
	return false
}

// setCookie returns the cookies of the lines with exactly one of that name.
func setCookie(lines []string, name, value string) string {
	var b strings.Builder
	for _, line := range lines {
		for pair := range strings.SplitSeq(line, ";") {
			pair = strings.Trim(pair, " \t")
			if key, _, _ := strings.Cut(pair, "="); pair == "" || strings.Trim(key, " \t") == name {
				continue
			}
			b.WriteString(pair)
			b.WriteString("; ")
		}
	}
	b.WriteString(name)
	b.WriteByte('=')
	b.WriteString(value)
	return b.String()
}

func formatBasic(v []string) (string, error) {
	switch {
	case strings.Contains(v[0], ":"): // RFC 7617 section 2
		return "", errors.New("credential: username holds a colon")
	case hasControl(v[0]):
		return "", errors.New("credential: username holds a control character")
	case hasControl(v[1]):
		return "", errors.New("credential: password holds a control character")
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(v[0]+":"+v[1])), nil
}

// keyFormat returns the check of an API key for its location. Errors do not name the character,
// which is part of a secret.
func keyFormat(in Location) (func([]string) (string, error), error) {
	switch in {
	case Header: // a field value of visible characters and spaces (RFC 9110 section 5.5)
		return func(v []string) (string, error) {
			for i := range len(v[0]) {
				if c := v[0][i]; c < ' ' || c > '~' {
					return "", errors.New("credential: key holds a character that can't stand in a header")
				}
			}
			return v[0], nil
		}, nil
	case Query: // everything can be escaped
		return func(v []string) (string, error) { return v[0], nil }, nil
	case Cookie: // cookie-octet, RFC 6265 section 4.1.1
		return func(v []string) (string, error) {
			for i := range len(v[0]) {
				if c := v[0][i]; c <= ' ' || c > '~' || c == '"' || c == ',' || c == ';' || c == '\\' {
					return "", errors.New("credential: key holds a character that can't stand in a cookie")
				}
			}
			return v[0], nil
		}, nil
	}
	return nil, fmt.Errorf("credential: unknown place %d of an API key", in)
}

// checkName checks the name of an API key for its location.
func checkName(in Location, name string) error {
	if name == "" {
		return errors.New("credential: the API key needs a name")
	}
	if in == Query {
		return nil
	}
	for i := range len(name) {
		if !isTokenByte(name[i]) {
			return fmt.Errorf("credential: %q is not a name for a header or cookie", name)
		}
	}
	if in == Header {
		switch http.CanonicalHeaderKey(strings.ReplaceAll(name, "_", "-")) {
		case "Host", "Content-Length", "Content-Type", "Content-Encoding", "Transfer-Encoding", "Te", "Trailer", "Upgrade",
			"Connection", "Keep-Alive", "Expect", "Accept-Encoding", "Cookie", "Proxy", "Proxy-Connection":
			return fmt.Errorf("credential: an API key can't stand in header %q", name)
		}
	}
	return nil
}

// checkToken checks a b64token (RFC 6750 section 2.1), but allows all visible characters.
func checkToken(what, v string) error {
	for i := range len(v) {
		if v[i] <= ' ' || v[i] > '~' {
			return fmt.Errorf("credential: %s holds a space or a character that can't stand in a header", what)
		}
	}
	return nil
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// isTokenByte reports whether c is allowed in a token (RFC 9110 section 5.6.2).
func isTokenByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

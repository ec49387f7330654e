package wire

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// An Encoder writes the values of one parameter. It is immutable and safe for concurrent use.
type Encoder struct {
	p      Parameter
	layout layout
	json   bool         // content-typed, and the type is JSON
	form   *FormEncoder // content-typed, and the type is a form
	name   string       // p.Name as written in the request
	keep   class        // bytes of a value that are not percent-encoded
	names  class        // bytes of a name that are not percent-encoded
}

// NewEncoder compiles a parameter. It fails on combinations of style and location that the standard does not have, on
// names that are not allowed in the location, and on headers that no document may set (R6).
func NewEncoder(p Parameter) (*Encoder, error) { return newEncoder(p, false) }

func newEncoder(p Parameter, body bool) (*Encoder, error) {
	e := &Encoder{p: p}
	if err := e.checkName(); err != nil {
		return nil, err
	}
	switch {
	case p.ContentType != "":
		e.json = isJSON(p.ContentType) && !strings.HasSuffix(bare(p.ContentType), "*") // for a range, a string is sent unchanged
		e.p.Style, e.p.Explode, e.p.AllowReserved = p.In.Style(), false, false
		if bare(p.ContentType) == "application/x-www-form-urlencoded" {
			if e.form = p.Form; e.form == nil {
				form, err := NewFormEncoder(nil, Parameter{Style: ByType})
				if err != nil {
					return nil, err
				}
				e.form = form
			}
		}
	case p.In == QueryString:
		return nil, errors.New("a parameter that is the whole query must have content (OAS 3.2 \"in: querystring\")")
	}
	if e.p.Style == ByType && !body || int(e.p.Style) < len(legal) && legal[e.p.Style]&(1<<p.In) == 0 {
		return nil, fmt.Errorf("style %q is not possible in %s (OAS 3.2 \"Style Values\")", p.Style, p.In)
	}
	e.layout = layoutOf(e.p.Style, p.In, e.p.Explode)
	e.keep, e.names = unescaped(p.In, e.p.AllowReserved, body)
	e.name = p.Name
	if p.In != Header && e.p.Style != CookieStyle {
		e.name = string(appendEscaped(nil, p.Name, e.names, 0))
	}
	if p.In != Query && p.In != Cookie && p.In != QueryString { // members stay inside the parameter
		e.p.Taken = nil
	}
	return e, nil
}

// NewAccept returns the encoder of the header Accept, which [NewEncoder] forbids: a caller may choose it from the media
// types of the response that the document lists. The caller of NewAccept validates the choice.
func NewAccept() *Encoder {
	p := Parameter{Name: "Accept", In: Header, Style: Header.Style()}
	e := &Encoder{p: p, name: p.Name, layout: layoutOf(p.Style, p.In, p.Explode)}
	e.keep, e.names = unescaped(p.In, false, false)
	return e
}

// unescaped returns the characters of values and of names that are not escaped.
func unescaped(in Location, allowReserved, body bool) (values, names class) {
	switch {
	case body && !allowReserved:
		return formSafe, formSafe
	case body:
		return queryReserved, formSafe
	case allowReserved && in == Query:
		return queryReserved, unreserved
	case allowReserved && in == Path:
		return pathReserved, unreserved
	case allowReserved && in == Cookie:
		return cookieReserved, unreserved
	}
	return unreserved, unreserved
}

func (e *Encoder) checkName() error {
	name := e.p.Name
	switch {
	case name == "":
		return errors.New("the parameter has no name")
	case e.p.In == Header && !isToken(name):
		return fmt.Errorf("%q can't be the name of a header (RFC 9110 section 5.6.2)", name)
	case e.p.In == Header && ForbiddenHeader(name):
		return fmt.Errorf("the header %q is set by the gateway alone and can't be an argument", name)
	case e.p.In == Cookie && !isToken(name):
		return fmt.Errorf("%q can't be the name of a cookie (RFC 6265 section 4.1.1)", name)
	}
	return nil
}

// Undefined reports whether v is left out of the request because it has no value.
func (e *Encoder) Undefined(v []byte) bool {
	return e.p.ContentType == "" && (!e.p.AllowEmptyValue || e.p.In == Path) && !defined(v)
}

// Spans reports whether the value of a path parameter may span several segments.
func (e *Encoder) Spans() bool { return e.p.Slash == SlashRaw }

// EscapesSlashes reports whether the value of a path parameter may hold slashes, which are sent as "%2F".
func (e *Encoder) EscapesSlashes() bool {
	return e.p.Slash == SlashEncoded || e.p.Slash == SlashEscaped || e.p.Slash == SlashInferred
}

// InfersSlashes reports whether the value of a path parameter may hold slashes only because it seems to be a path.
func (e *Encoder) InfersSlashes() bool { return e != nil && e.p.Slash == SlashInferred }

// TakesEmpty reports whether a path parameter takes "", which leaves the last segment of the path empty.
func (e *Encoder) TakesEmpty() bool { return e != nil && e.p.In == Path && e.p.AllowEmptyValue }

// AppendPath appends the value of a path parameter. The error is a [*ValueError].
func (e *Encoder) AppendPath(dst, v []byte) ([]byte, error) {
	if e.p.ContentType == "" && !defined(v) {
		return dst, refuse("must not be empty: it is a part of the path")
	}
	start := len(dst)
	out, err := e.append(dst, v)
	if err != nil {
		if root := string(text(v)); e.TakesEmpty() && (root == "/" || root == "." || root == "./") {
			err = refuse(`must be "" for the root`)
		}
		return dst, err
	}
	if len(out) == start && !e.p.AllowEmptyValue {
		return dst, refuse("must not be empty: it is a part of the path")
	}
	return out, nil
}

// AppendQuery appends the pairs of a query parameter: none if v is undefined, several if it is exploded. A "&" is put
// before the first one, unless dst is empty or ends in "?" or "&". The error is a [*ValueError].
func (e *Encoder) AppendQuery(dst, v []byte) ([]byte, error) {
	return e.append(dst, v)
}

// HeaderValue returns the value of a header parameter, "" if v is undefined. The error is a [*ValueError].
func (e *Encoder) HeaderValue(v []byte) (string, error) {
	out, err := e.append(make([]byte, 0, len(v)), v)
	if err != nil {
		return "", err
	}
	return string(bytes.Trim(out, " ")), nil // white space around a value is not part of it (RFC 9110 section 5.5)
}

// CookiePairs appends the pairs of a cookie parameter to the value of a Cookie header: none if v is undefined. Pairs are
// separated by "; ", also from what dst already holds. The error is a [*ValueError].
func (e *Encoder) CookiePairs(dst, v []byte) ([]byte, error) {
	return e.append(dst, v)
}

func (e *Encoder) append(dst, v []byte) ([]byte, error) {
	dst, _, err := e.appendCounted(dst, v, 0)
	return dst, err
}

// appendCounted is append for one of several values that are sent together. repeated counts the bytes that the
// preceding ones have used.
func (e *Encoder) appendCounted(dst, v []byte, repeated repetition) ([]byte, repetition, error) {
	w := writer{e: e, dst: dst, repeated: repeated}
	if err := w.value(v); err != nil {
		return dst, w.repeated, err
	}
	if n := len(w.dst); (e.p.In == Query || e.p.In == QueryString) && n > len(dst) && w.dst[n-1] == '?' {
		// Only a value with allowReserved ends in "?". The next parameter would take it for the start of the query.
		w.dst = append(w.dst[:n-1], "%3F"...)
	}
	return w.dst, w.repeated, nil
}

// isJSON reports whether a media type, or range, is one whose values are written as JSON.
func isJSON(mediaType string) bool {
	mediaType, _, _ = strings.Cut(mediaType, ";")
	mediaType = strings.ToLower(strings.Trim(mediaType, " \t\r\n"))
	switch mediaType {
	case "application/json", "text/json", "application/*", "*/*":
		return true
	}
	return strings.HasSuffix(mediaType, "+json")
}

func isToken(s string) bool {
	for i := range len(s) {
		if classes[s[i]]&tokenChar == 0 {
			return false
		}
	}
	return s != ""
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

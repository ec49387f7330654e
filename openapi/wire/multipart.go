package wire

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"iter"
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// A Part describes the encoding of one property of a multipart body (OAS 3.2 "Encoding Object"). The zero value encodes
// by the type of the value: an object as JSON, a list as one part for each member, anything else as text.
type Part struct {
	// Types are the media types that the document allows, which may include ranges. The first that is not a range
	// becomes the Content-Type of values that are not files. A JSON type applies to a list as a whole, as in a
	// [FormEncoder].
	Types []string
	// Headers are sent with each part, in this order. Content-Disposition and Content-Type are not among them.
	Headers []PartHeader
	// File reports whether objects with the members of a file ([FileData] etc.), and strings that are data URLs, are
	// files. Other strings are text, unless Base64 makes them the content of a file.
	File   bool
	Base64 bool
	// Styled reports whether the document sets style or explode: the value is then written by Style and Explode as in a
	// query, without percent-encoding (OAS 3.2 "Encoding multipart Media Types"), and Types are not used.
	Styled  bool
	Style   Style
	Explode bool
	// XML encodes an object; if it is nil, objects are written as JSON.
	XML *XMLNode
}

// A PartHeader is a header of a part.
type PartHeader struct{ Name, Value string }

// A MultipartEncoder writes multipart bodies (RFC 2046 section 5.1, RFC 7578). It is immutable and safe for concurrent
// use.
type MultipartEncoder struct {
	named    bool // parts have names: multipart/form-data
	text     func(dst []byte, mediaType string, text []byte) ([]byte, error)
	parts    map[string]*Part
	order    map[string]int
	fallback *Part
	prefix   []*Part
}

// Multipart is a document's description of a multipart body.
type Multipart struct {
	// Named reports whether parts have names in a Content-Disposition (multipart/form-data). Parts of the other types
	// are identified by their order alone.
	Named bool
	// Parts are the properties, by name; Order has their names in the document's order. Parts are sent in that order,
	// whatever the order of the members: some services read the properties that describe a file before the file.
	Parts map[string]Part
	Order []string
	// Prefix is for the first elements of a body that is a list (OAS 3.2 prefixEncoding).
	Prefix []Part
	// Fallback is for all others.
	Fallback Part
	// Text appends a text in the charset of its part's media type. The error completes a sentence that begins with the
	// part's name. If Text is nil, texts are appended unchanged.
	Text func(dst []byte, mediaType string, text []byte) ([]byte, error)
}

// NewMultipartEncoder compiles an encoder. It fails on headers that can't stand in a part.
func NewMultipartEncoder(m Multipart) (*MultipartEncoder, error) {
	e := &MultipartEncoder{named: m.Named, text: m.Text, parts: make(map[string]*Part, len(m.Parts)), order: make(map[string]int, len(m.Order)), fallback: &m.Fallback}
	for name, p := range m.Parts {
		if err := p.check(); err != nil {
			return nil, fmt.Errorf("part %q: %w", name, err)
		}
		e.parts[name] = &p
	}
	for i, name := range m.Order {
		e.order[name] = i
	}
	for i := range m.Prefix {
		if err := m.Prefix[i].check(); err != nil {
			return nil, err
		}
		e.prefix = append(e.prefix, &m.Prefix[i])
	}
	return e, e.fallback.check()
}

func (p *Part) check() error {
	for _, h := range p.Headers {
		switch name := strings.ToLower(h.Name); {
		case !isToken(h.Name):
			return fmt.Errorf("%q can't be the name of a header (RFC 9110 section 5.6.2)", h.Name)
		case name == "content-disposition" || name == "content-type" || name == "content-length":
			return fmt.Errorf("the header %q is set by the gateway alone", h.Name)
		}
		if _, err := appendHeaderText(nil, []byte(h.Value)); err != nil {
			return fmt.Errorf("header %q %w", h.Name, err)
		}
	}
	for _, t := range p.Types {
		if _, err := appendHeaderText(nil, []byte(t)); err != nil {
			return fmt.Errorf("contentType %q %w", t, err)
		}
	}
	return nil
}

// NewBoundary returns an unpredictable boundary of 26 characters with 5 random bits each. It is drawn after the
// arguments are known, so no part contains it.
func NewBoundary() string { return "drawbridge-" + rand.Text() }

// A multipartWriter appends the parts of one body.
type multipartWriter struct {
	e        *MultipartEncoder
	dst      []byte
	start    int // start of the body in dst
	boundary string
	repeated repetition
}

// Append appends a body of the members of an object, given by their names in the body. Undefined members are left out.
// The error is a [*ValueError] with a pointer to the member.
func (e *MultipartEncoder) Append(dst []byte, boundary string, members iter.Seq2[string, []byte]) ([]byte, error) {
	w := multipartWriter{e: e, dst: dst, start: len(dst), boundary: boundary}
	type member struct {
		name  string
		value []byte
		place int
	}
	var all []member
	for name, v := range members {
		place, ok := e.order[name]
		if !ok {
			place = len(e.order)
		}
		all = append(all, member{name, v, place})
	}
	slices.SortStableFunc(all, func(a, b member) int { return a.place - b.place })
	for _, m := range all {
		p := e.parts[m.name]
		switch owner := deepOwner(m.name); {
		case m.name == "" && e.named:
			return dst, refuse("must not have a member without a name")
		case p != nil:
		case owner != "" && e.parts[owner] != nil && e.parts[owner].Styled:
			return dst, refuse("must not have a member %q: it would be a part of %q", m.name, owner)
		default:
			p = e.fallback
		}
		if err := w.value(p, m.name, m.value); err != nil {
			return dst, within(m.name, err)
		}
	}
	return w.close(), nil
}

// AppendList appends a body whose parts are the elements of a list. The error is a [*ValueError].
func (e *MultipartEncoder) AppendList(dst []byte, boundary string, list []byte) ([]byte, error) {
	w := multipartWriter{e: e, dst: dst, start: len(dst), boundary: boundary}
	i := 0
	for v := range jsonscan.Elements(list) {
		p := e.fallback
		if i < len(e.prefix) {
			p = e.prefix[i]
		}
		if err := w.one(p, "", v); err != nil {
			return dst, withinItem(i, err)
		}
		i++
	}
	return w.close(), nil
}

// close ends the body. A body without parts gets an empty one: RFC 2046 section 5.1.1 requires a part, and many servers
// refuse a body without. In a form it is a field without a name and without a value, which they ignore.
func (w *multipartWriter) close() []byte {
	if len(w.dst) == w.start {
		w.dst = append(append(append(w.dst, "--"...), w.boundary...), "\r\n"...)
		if w.e.named {
			w.header("Content-Disposition", `form-data; name=""`)
		}
		w.dst = append(w.dst, "\r\n\r\n"...)
	}
	w.dst = append(w.dst, "--"...)
	w.dst = append(w.dst, w.boundary...)
	return append(w.dst, "--\r\n"...)
}

// value appends a property: a list as one part for each member, unless a JSON type applies to it as a whole.
func (w *multipartWriter) value(p *Part, name string, v []byte) error {
	whole := jsonscan.KindOf(v) == jsonscan.Object || len(p.Types) > 0 && isJSON(p.Types[0]) && jsonscan.KindOf(v) == jsonscan.Array
	switch {
	case !defined(v) && (p.Styled || !whole): // in JSON, {} and [] are values
		return nil
	case p.Styled:
		return w.styled(p, name, v)
	case jsonscan.KindOf(v) == jsonscan.Array && !(len(p.Types) > 0 && isJSON(p.Types[0])):
		i := 0
		for item := range jsonscan.Elements(v) {
			if jsonscan.KindOf(item) != jsonscan.Null {
				if err := w.one(p, name, item); err != nil {
					return withinItem(i, err)
				}
			}
			i++
		}
		return nil
	default:
		return w.one(p, name, v)
	}
}

// one appends a value as one part.
func (w *multipartWriter) one(p *Part, name string, v []byte) error {
	kind := jsonscan.KindOf(v)
	f, given, err := p.file(v)
	if err != nil {
		return err
	}
	if given {
		if err := w.open(name, f.fileName(name), f.mediaType, p.Headers); err != nil {
			return err
		}
		if f.text {
			err = w.text(f.mediaType, f.content)
		} else {
			w.dst = append(w.dst, f.content...)
		}
		w.dst = append(w.dst, "\r\n"...)
		return err
	}
	mediaType := ""
	if i := slices.IndexFunc(p.Types, func(t string) bool { return !strings.Contains(t, "*") }); i >= 0 {
		mediaType = p.Types[i]
	}
	composite := kind == jsonscan.Array || kind == jsonscan.Object
	if mediaType == "" && composite {
		mediaType = "application/json"
	}
	if err := w.open(name, "", mediaType, p.Headers); err != nil {
		return err
	}
	var content []byte
	switch {
	case composite && p.XML != nil:
		if content, err = p.XML.Append(nil, v); err != nil {
			return err
		}
	case composite, mediaType != "" && isJSON(mediaType) && !holdsJSON(v):
		if !strings.Contains(mediaType, ";") {
			w.dst = append(appendJSON(w.dst, v), "\r\n"...)
			return nil
		}
		content = appendJSON(nil, v)
	default:
		content = text(v)
	}
	if err := w.text(mediaType, content); err != nil {
		return err
	}
	w.dst = append(w.dst, "\r\n"...)
	return nil
}

// text appends the text of a part of a media type; "" for none.
func (w *multipartWriter) text(mediaType string, text []byte) error {
	if w.e.text == nil || mediaType == "" {
		w.dst = append(w.dst, text...)
		return nil
	}
	out, err := w.e.text(w.dst, mediaType, text)
	if err != nil {
		return refuse("%v", err)
	}
	w.dst = out
	return nil
}

// file reads a file, if a value is one.
func (p *Part) file(v []byte) (f file, given bool, err error) {
	switch kind := jsonscan.KindOf(v); {
	case !p.File:
		return f, false, nil
	case kind == jsonscan.String && p.Base64:
		f, err = readText(v, p.Types)
	case isFile(v, p.Base64), kind == jsonscan.String && bytes.HasPrefix(jsonscan.Unquote(v), []byte("data:")):
		f, err = readFile(v, p.Types)
	default:
		return f, false, nil
	}
	return f, true, err
}

// holdsJSON reports whether a value is a string that contains a JSON object or list, as callers write it for a property
// that is a string of JSON. It is sent unchanged.
func holdsJSON(v []byte) bool {
	if jsonscan.KindOf(v) != jsonscan.String {
		return false
	}
	info, err := jsonscan.Scan(jsonscan.Unquote(v), jsonscan.Options{})
	return err == nil && (info.Kind == jsonscan.Object || info.Kind == jsonscan.Array)
}

// open begins a part, and charges the size of its head. fileName is "" for a part that is not a file.
func (w *multipartWriter) open(name, fileName, mediaType string, headers []PartHeader) error {
	n := len(w.boundary) + len(name) + len(fileName) + len(mediaType)
	for _, h := range headers {
		n += len(h.Name) + len(h.Value)
	}
	if err := w.repeated.add(n); err != nil {
		return err
	}
	w.dst = append(w.dst, "--"...)
	w.dst = append(w.dst, w.boundary...)
	w.dst = append(w.dst, "\r\n"...)
	switch {
	case w.e.named:
		w.dst = append(w.dst, `Content-Disposition: form-data; name="`...)
		w.dst = append(appendQuoted(w.dst, name), '"')
	case fileName != "":
		w.dst = append(w.dst, `Content-Disposition: attachment`...)
	}
	if fileName != "" {
		w.dst = append(w.dst, `; filename="`...)
		w.dst = append(appendQuoted(w.dst, fileName), '"')
	}
	if w.e.named || fileName != "" {
		w.dst = append(w.dst, "\r\n"...)
	}
	if mediaType != "" {
		w.header("Content-Type", mediaType)
	}
	for _, h := range headers {
		w.header(h.Name, h.Value)
	}
	w.dst = append(w.dst, "\r\n"...)
	return nil
}

func (w *multipartWriter) header(name, value string) {
	w.dst = append(w.dst, name...)
	w.dst = append(w.dst, ": "...)
	w.dst = append(w.dst, value...)
	w.dst = append(w.dst, "\r\n"...)
}

// appendQuoted appends a name as browsers do (WHATWG HTML "multipart form data", which RFC 7578 section 4.2 leaves
// open): quotes and line ends as triples, and here all other control characters too, and the backslash, which some
// servers take for the beginning of a quoted pair. UTF-8 stays unchanged.
func appendQuoted(dst []byte, name string) []byte {
	for i := range len(name) {
		if b := name[i]; b < ' ' || b == 0x7f || b == '"' || b == '\\' {
			dst = append(dst, '%', hexUpper[b>>4], hexUpper[b&15])
		} else {
			dst = append(dst, b)
		}
	}
	return dst
}

// fileName returns the name of a file without directories, which a sender leaves out (RFC 7578 section 4.2). A file
// without a name gets that of its part: to most servers, a part without a file name is a field, not a file.
func (f *file) fileName(part string) string {
	for _, name := range [...]string{f.name, part} {
		name = name[strings.LastIndexAny(name, `/\`)+1:]
		if name != "" && !isDots([]byte(name)) {
			return name
		}
	}
	return "file"
}

package answer

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"drawbridge/openapi/charset"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/mediatype"
)

// json reads an entity as JSON; ok is false if it is something else. A text of only white space is empty.
func (r *reader) json(e entity) (part Part, empty, ok bool) {
	data, label := e.data, mediatype.Charset(e.contentType)
	if label == "" && len(data) > 1 && (data[0] == 0 || data[1] == 0) {
		// The first two characters of JSON are ASCII except in a text of one string (RFC 4627 section 3).
		label = "utf-16le"
		if data[0] == 0 {
			label = "utf-16be"
		}
	}
	if label != "" || data[0] >= utf8.RuneSelf {
		data = charset.ToUTF8(data, label) // JSON is UTF-8 without a byte order mark (RFC 8259 section 8.1), but not from all services
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return Part{}, true, true
	}
	info, err := jsonscan.Scan(data, jsonscan.Options{Shape: r.expected.shape})
	if err != nil {
		var ok bool
		if data, ok = charset.JoinSurrogates(data); ok {
			info, err = jsonscan.Scan(data, jsonscan.Options{Shape: r.expected.shape})
		}
	}
	if err != nil {
		return Part{}, false, false
	}
	part = Part{Kind: JSON, Wrapped: r.expected.wrapped}
	if info.Mismatch != nil || info.Missing != nil {
		part.Differences = differences(r.expected.shape, data, "", info)
	}
	switch {
	case info.Mismatch != nil:
		part.Drift = mismatch(data, info.Mismatch)
	case info.Twice > 0:
		part.Drift, part.DuplicateName = duplicateName(jsonscan.PointerAt(data, info.Twice)), true
	}
	if info.Spaced || info.Escapes {
		data = jsonscan.AppendNormal(data[:0], data, info)
	}
	part.Data = data
	return part, false, true
}

// mismatch describes a mismatch in a whole response.
func mismatch(data []byte, m *jsonscan.Mismatch) string {
	where := jsonscan.PointerAt(data, m.Offset)
	if where == "" {
		where = "the answer"
	}
	return describe(where, m)
}

// duplicateName describes a member whose name occurs twice in its object.
func duplicateName(where string) string { return where + ": the name stands twice" }

// describe describes a mismatch at a position.
func describe(where string, m *jsonscan.Mismatch) string {
	want := m.Want.String()
	if m.Integer {
		want = strings.Replace(want, "number", "integer", 1)
	}
	return fmt.Sprintf("%s: expected %s, got %s", where, want, m.Got)
}

// mayBeJSON reports whether a response may be JSON although its media type is another: some services label it
// text/plain, and some platforms text/html by default.
func mayBeJSON(media string, data []byte) bool {
	switch media {
	case "text/plain":
		return true
	case "text/html", "text/javascript", "application/javascript", "application/x-javascript":
		data = bytes.TrimLeft(data, " \t\r\n\ufeff")
		return len(data) > 0 && (data[0] == '{' || data[0] == '[')
	}
	return false
}

// isUTF8 reports whether a Content-Type names UTF-8 or no charset.
func isUTF8(contentType string) bool {
	name := mediatype.Parameter(contentType, "charset")
	return name == "" || strings.EqualFold(name, "utf-8") || strings.EqualFold(name, "utf8") || strings.EqualFold(name, "us-ascii")
}

// isCompactText reports whether a JSON response is UTF-8, seems to have no white space between its tokens, and has no
// escapes to replace. It looks for line breaks, which JSON allows nowhere else, for a space after one of the first
// colons, and for the zeros of UTF-16, which is much cheaper than a scan.
func isCompactText(data []byte) bool {
	const begin = 512
	return data[0] > ' ' && data[0] < utf8.RuneSelf && bytes.IndexByte(data, '\n') < 0 && bytes.IndexByte(data, 0) < 0 &&
		!bytes.Contains(data[:min(len(data), begin)], []byte(`": `)) && utf8.Valid(data) && !jsonscan.HasEscapes(data)
}

// isTruncatedJSON reports whether a text is JSON without its end. The end may be missing within an escape or a literal;
// the error is reported at the beginning of these.
func isTruncatedJSON(data []byte) bool {
	const longest = len(`\u00e`)
	var e *jsonscan.Error
	_, err := jsonscan.Scan(data, jsonscan.Options{})
	return errors.As(err, &e) && e.Offset+longest >= len(data)
}

// isSelfDelimiting reports whether a part is JSON of which no proper prefix is JSON.
func isSelfDelimiting(p Part) bool {
	switch jsonscan.KindOf(p.Data) {
	case jsonscan.Object, jsonscan.Array, jsonscan.String:
		return p.Kind == JSON && p.assembly == notAssembled
	case jsonscan.Number, jsonscan.Bool, jsonscan.Null:
	}
	return false
}

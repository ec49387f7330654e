package tree

import (
	"bytes"
	"fmt"
	"html"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
)

const emptyFile = "the file is empty; give the path or URL of a JSON or YAML OpenAPI document"

// decode returns the text of a file as UTF-8 without a byte order mark, or an error that names the type of a file that
// is not text.
func (r *reader) decode(data []byte) ([]byte, error) {
	start := Position{File: r.file, Line: 1, Column: 1}
	refuse := func(format string, args ...any) ([]byte, error) {
		return nil, &SyntaxError{Position: start, Message: fmt.Sprintf(format, args...)}
	}
	if order, ok := utf16Order(data); ok {
		text, err := unicode.UTF16(order, unicode.UseBOM).NewDecoder().Bytes(data)
		if err != nil {
			return refuse("the file looks like UTF-16 and can't be decoded (%v); save it as UTF-8", err)
		}
		r.warn.addAt(start, CodeEncoding, "the file is encoded in UTF-16; JSON and YAML documents should be UTF-8")
		data = text
	}
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return refuse(emptyFile)
	case bytes.HasPrefix(data, []byte{0x1F, 0x8B}):
		return refuse("the file is compressed with gzip; decompress it first (gunzip)")
	case bytes.HasPrefix(data, []byte("PK\x03\x04")):
		return refuse("the file is a ZIP archive; unpack it and give the OpenAPI document in it")
	case bytes.HasPrefix(data, []byte("%PDF-")):
		return refuse("the file is a PDF document, not an OpenAPI document")
	}
	if markup := describeMarkup(data); markup != "" {
		return refuse("%s", markup)
	}
	if !utf8.Valid(data) {
		fixed, at := replaceInvalid(data)
		at.File = r.file
		if mostlyUTF8(data) {
			r.warn.addAt(at, CodeEncoding, "the file is not valid UTF-8; bad bytes are read as U+FFFD")
			return fixed, nil
		}
		text, name := fromLegacy(data)
		r.warn.addAt(at, CodeEncoding, "the file is not valid UTF-8; it is read as %s", name)
		data = text
	}
	return data, nil
}

// utf16Order recognises UTF-16 by its byte order mark, or by the NULs that an
// ASCII character at the start has (RFC 4627 section 3).
func utf16Order(data []byte) (unicode.Endianness, bool) {
	if len(data) < 2 {
		return unicode.LittleEndian, false
	}
	switch {
	case data[0] == 0xFF && data[1] == 0xFE, data[0] != 0 && data[1] == 0:
		return unicode.LittleEndian, true
	case data[0] == 0xFE && data[1] == 0xFF, data[0] == 0 && data[1] != 0:
		return unicode.BigEndian, true
	}
	return unicode.LittleEndian, false
}

// describeMarkup returns advice about a web page or XML file, which is often found instead of a document: login pages,
// error pages, the pages of API viewers.
func describeMarkup(data []byte) string {
	head := bytes.TrimSpace(data[:min(len(data), 4096)])
	if len(head) == 0 || head[0] != '<' || bytes.HasPrefix(head, []byte("<<")) {
		return ""
	}
	lower := strings.ToLower(string(head))
	isHTML := strings.Contains(lower, "<html") || strings.Contains(lower, "<!doctype html") ||
		strings.Contains(lower, "<head") || strings.Contains(lower, "<body") || strings.Contains(lower, "<title")
	if !isHTML {
		return "this is an XML or HTML file, not an OpenAPI document; give the path or URL of the JSON or YAML document"
	}
	title := ""
	if _, rest, ok := strings.Cut(lower, "<title"); ok {
		// The offset is that of the original text if lowering kept its length.
		if _, inner, ok := strings.Cut(rest, ">"); ok && len(lower) == len(head) {
			from := len(lower) - len(inner)
			text, _, _ := strings.Cut(inner, "</title")
			title = strings.Join(strings.Fields(html.UnescapeString(string(head[from:from+len(text)]))), " ")
		}
	}
	what := "this is an HTML page"
	if title != "" {
		what += " (title " + quote(clip(strings.ToValidUTF8(title, "\uFFFD"))) + ")"
	}
	return what + ", not an OpenAPI document; give the URL of the JSON or YAML document behind it"
}

// replaceInvalid replaces each invalid byte by U+FFFD, as encoding/json does, and returns the position of the first.
func replaceInvalid(data []byte) ([]byte, Position) {
	out := make([]byte, 0, len(data)+64)
	first := Position{Line: 1, Column: 1}
	found := false
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r != utf8.RuneError || size > 1 {
			out = append(out, data[i:i+size]...)
			i += size
			if !found {
				if first.Column++; r == '\n' {
					first.Line++
					first.Column = 1
				}
			}
			continue
		}
		found = true
		out = append(out, "\uFFFD"...)
		i++
	}
	return out, first
}

package charset

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"
)

// An Encoder encodes texts in one charset. It is immutable and safe for concurrent use.
type Encoder struct {
	label    string            // label as given
	encoding encoding.Encoding // nil for ASCII
	name     string            // for an XML declaration
	known    bool
}

// NewEncoder returns the encoder of a label. It is nil for UTF-8 and for no label: texts stay unchanged. The charset of
// a label is that of the IANA registry, in the strict sense: ISO 8859-1 has no euro sign there, which browsers take
// from Windows-1252. Labels that only browsers know have the browsers' meaning. For an unknown charset the encoder
// writes ASCII, which nearly all charsets share.
func NewEncoder(label string) *Encoder {
	if label == "" {
		return nil
	}
	e := &Encoder{label: label, name: label, known: true}
	found, err := ianaindex.IANA.Encoding(label)
	if err != nil || found == nil {
		if found, err = htmlindex.Get(label); err != nil || found == encoding.Replacement {
			found, e.known = nil, false
		}
	}
	if strings.EqualFold(label, "utf-16") || strings.EqualFold(label, "utf16") {
		found, e.known = unicode.UTF16(unicode.BigEndian, unicode.UseBOM), true // RFC 2781 section 3.3
	}
	if found == unicode.UTF8 {
		return nil
	}
	if e.encoding = found; found != nil && !isEncodingName(label) {
		if e.name, err = ianaindex.MIME.Name(found); err != nil {
			e.name = ""
		}
	}
	return e
}

// Known reports whether the charset is known, so that texts are not limited to ASCII.
func (e *Encoder) Known() bool { return e.known }

// Label returns the label as given.
func (e *Encoder) Label() string { return e.label }

// XMLName returns the name of the charset for an XML declaration; "" if it has no valid one.
func (e *Encoder) XMLName() string {
	if !isEncodingName(e.name) {
		return ""
	}
	return e.name
}

// IsWide reports whether the charset encodes ASCII differently, as UTF-16 and EBCDIC do.
func (e *Encoder) IsWide() bool {
	const ascii = "aZ09%&=+{\"\\"
	out, err := e.encode([]byte(ascii))
	return err != nil || string(out) != ascii
}

// A CharacterError names a character that a charset doesn't have.
type CharacterError struct {
	Rune  rune
	Place int // position among the characters of the text, from 1
	Label string
}

// Error names the character that the text must not contain. It completes a sentence that begins with the name of the
// text.
func (e *CharacterError) Error() string {
	return fmt.Sprintf("must not contain %q (%U, character %d): it is sent in the charset %s, which doesn't have it", string(e.Rune), e.Rune, e.Place, e.Label)
}

// Append appends a UTF-8 text in the charset. It fails with a [*CharacterError] if the text would be decoded
// differently.
func (e *Encoder) Append(dst, text []byte) ([]byte, error) {
	out, err := e.encode(text)
	if err == nil && e.decodesTo(out, text) {
		return append(dst, out...), nil
	}
	return dst, e.unencodable(text)
}

// encode encodes a text, with or without loss.
func (e *Encoder) encode(text []byte) ([]byte, error) {
	if e.encoding == nil {
		return text, nil
	}
	if e.encoding == japanese.ISO2022JP { // whose encoder leaves the state open: an ASCII character closes it
		out, err := e.encoding.NewEncoder().Bytes(append(bytes.Clone(text), '.'))
		return bytes.TrimSuffix(out, []byte(".")), err
	}
	return e.encoding.NewEncoder().Bytes(text)
}

// decodesTo reports whether the bytes are decoded to the text. Several characters have one encoding in East Asian charsets.
func (e *Encoder) decodesTo(out, text []byte) bool {
	if e.encoding == nil {
		return bytes.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
	}
	back, err := e.encoding.NewDecoder().Bytes(out)
	return err == nil && bytes.Equal(back, text)
}

// unencodable returns the first character that the charset doesn't have.
func (e *Encoder) unencodable(text []byte) error {
	place := 0
	known := make(map[rune]bool) // texts repeat their characters, and each check takes an encoder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		one := text[i : i+size]
		i += size
		if place++; r < utf8.RuneSelf && e.encoding == nil || known[r] {
			continue
		}
		out, err := e.encode(one)
		if err != nil || !e.decodesTo(out, one) {
			return &CharacterError{r, place, e.label}
		}
		known[r] = true
	}
	return &CharacterError{utf8.RuneError, place, e.label}
}

// isEncodingName reports whether a label is valid in an XML declaration (XML 1.0 section 4.3.3, EncName).
func isEncodingName(label string) bool {
	for i, c := range []byte(label) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || !(c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-')) {
			return false
		}
	}
	return label != ""
}

// WithDeclaration returns an XML document with its declaration changed to the name of another charset, in which the
// document will be encoded. A document without a declaration, or with one that is not well-formed, is returned
// unchanged.
func WithDeclaration(document []byte, name string) []byte {
	head, found := bytes.CutPrefix(document, []byte("<?xml"))
	if !found || len(head) == 0 || !bytes.ContainsRune([]byte(" \t\r\n"), rune(head[0])) {
		return document
	}
	end := bytes.Index(head[:min(len(head), declaredWithin)], []byte("?>"))
	if end < 0 {
		return document
	}
	from, to := assignedAt(head[:end], "encoding")
	value := name
	switch {
	case to < from, from > 0 && strings.EqualFold(string(head[from:to]), name):
		return document
	case from < 0:
		_, version := assignedAt(head[:end], "version")
		if version <= 0 || name == "" || strings.EqualFold(name, "utf-8") { // the default without a name
			return document
		}
		from, to, value = version+1, version+1, ` encoding="`+name+`"` // after the quote; before "standalone" (XML 1.0 section 2.8)
	}
	start := len(document) - len(head)
	out := append(make([]byte, 0, len(document)+len(value)), document[:start+from]...)
	return append(append(out, value...), document[start+to:]...)
}

// assignedAt returns the start and the end of the value in name="value" in an XML declaration. Both are -1 if it is
// missing, and to is less than from if it isn't well-formed.
func assignedAt(declaration []byte, name string) (from, to int) {
	for at := 0; ; {
		i := bytes.Index(declaration[at:], []byte(name))
		if i < 0 {
			return -1, -1
		}
		i += at
		at = i + len(name)
		rest := bytes.TrimLeft(declaration[at:], " \t\r\n")
		if i == 0 || !bytes.ContainsRune([]byte(" \t\r\n"), rune(declaration[i-1])) || len(rest) == 0 || rest[0] != '=' {
			continue
		}
		rest = bytes.TrimLeft(rest[1:], " \t\r\n")
		if len(rest) == 0 || rest[0] != '"' && rest[0] != '\'' {
			return 0, -1
		}
		length := bytes.IndexByte(rest[1:], rest[0])
		if length < 0 {
			return 0, -1
		}
		from = len(declaration) - len(rest) + 1
		return from, from + length
	}
}

package openapi

import (
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"drawbridge/openapi/charset"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/mediatype"
	"drawbridge/openapi/wire"
)

// A body is encoded in the charset that its Content-Type declares (RFC 2046 section 4.1.2, RFC 9110 section 8.3.2), or
// refused with the characters that the charset lacks. JSON is UTF-8 for any label (RFC 8259 sections 8.1 and 11): under
// the label of another charset, its characters are escaped, so that readers by the label and by the standard see the
// same.

// A charsetError lists the parts of a body with characters that its charset lacks.
type charsetError struct{ faults []*wire.ValueError }

// Error returns the reasons.
func (e *charsetError) Error() string {
	var all []string
	for _, f := range e.faults {
		all = append(all, f.Error())
	}
	return strings.Join(all, "; ")
}

// inCharset returns a codec that converts the output of another one to the charset of the media type.
func (c *compiler) inCharset(inner codec, kind *bodyKind, ct *content) codec {
	var encode func(dst, text []byte) ([]byte, error)
	e := c.charset(ct)
	switch kind.name {
	case "json", "ndjson", "patch":
		if isWide(ct.media) {
			c.problems.at(ct.node, codeCharset, "JSON is UTF-8 (RFC 8259); the charset %q of the request body is left out", mediatype.Parameter(ct.media, "charset"))
		}
		if e == nil {
			return inner
		}
		encode = func(dst, text []byte) ([]byte, error) { return appendASCII(dst, text), nil }
	case "form":
		if e == nil {
			return inner
		}
		encode = func(dst, text []byte) ([]byte, error) { return wire.AppendFormIn(dst, text, e.Append) }
	case "xml":
		if encode = xmlIn(e); e == nil {
			inner.whole = writtenXML(inner.whole, encode)
			return inner
		}
	case "text":
		if e == nil {
			return inner
		}
		encode = e.Append
	default: // bytes, and multipart, whose parts have charsets of their own
		return inner
	}
	out := inner
	if inner.whole != nil {
		out.whole = func(dst, value []byte) ([]byte, error) {
			text, err := inner.whole(nil, value)
			if err != nil {
				return dst, err
			}
			write := encode
			if kind.name == "form" && jsonscan.KindOf(value) == jsonscan.String {
				write = e.Append // its percent-encoding is the caller's
			}
			if dst, err = write(dst, text); err != nil {
				return dst, unencodable(e, err, value)
			}
			return dst, nil
		}
	}
	if inner.members != nil {
		out.members = func(dst []byte, members iter.Seq2[string, []byte]) ([]byte, error) {
			text, err := inner.members(nil, members)
			if err != nil {
				return dst, err
			}
			if dst, err = encode(dst, text); err != nil {
				return dst, unencodableMembers(e, err, members)
			}
			return dst, nil
		}
	}
	return out
}

// charset returns the encoder of a body; nil for one in UTF-8.
func (c *compiler) charset(ct *content) *charset.Encoder {
	e := charset.NewEncoder(mediatype.Parameter(ct.sends(), "charset"))
	if e != nil && !e.Known() {
		c.problems.at(ct.node, codeCharset, "the charset %q of the request body is unknown; calls with other characters than ASCII are refused", e.Label())
	}
	return e
}

// xmlIn returns the encoder of XML documents for a charset, which their declarations name.
func xmlIn(e *charset.Encoder) func(dst, text []byte) ([]byte, error) {
	if e == nil {
		return func(dst, text []byte) ([]byte, error) {
			return append(dst, charset.WithDeclaration(text, "UTF-8")...), nil
		}
	}
	return func(dst, text []byte) ([]byte, error) {
		return e.Append(dst, charset.WithDeclaration(text, e.XMLName()))
	}
}

// writtenXML uses encode for XML documents that callers have written themselves. Those of the gateway are in UTF-8 and
// declare it.
func writtenXML(whole func(dst, value []byte) ([]byte, error), encode func(dst, text []byte) ([]byte, error)) func(dst, value []byte) ([]byte, error) {
	return func(dst, value []byte) ([]byte, error) {
		if jsonscan.KindOf(value) != jsonscan.String {
			return whole(dst, value)
		}
		text, err := whole(nil, value)
		if err != nil {
			return dst, err
		}
		return encode(dst, text)
	}
}

// isWide reports whether a media type has a charset that encodes ASCII differently than UTF-8.
func isWide(media string) bool {
	e := charset.NewEncoder(mediatype.Parameter(media, "charset"))
	return e != nil && e.IsWide()
}

// partIn encodes the text of a part in the charset of its media type.
func partIn(dst []byte, media string, text []byte) ([]byte, error) {
	e := charset.NewEncoder(mediatype.Parameter(media, "charset"))
	switch essence := mediatype.Essence(media); {
	case mediatype.IsXML(essence):
		return xmlIn(e)(dst, text)
	case e == nil:
		return append(dst, text...), nil
	case mediatype.IsJSON(essence):
		return appendASCII(dst, text), nil
	}
	return e.Append(dst, text)
}

// appendASCII appends a JSON text in which all characters outside ASCII, which are only in strings, are escaped.
func appendASCII(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			dst = append(dst, text[i])
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		i += size
		if r > 0xffff {
			r -= 0x10000
			dst = fmt.Appendf(dst, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		} else {
			dst = fmt.Appendf(dst, `\u%04x`, r)
		}
	}
	return dst
}

// maxNamedParts is the maximum number of parts of one body that an error names.
const maxNamedParts = 20

// unencodable names the parts of a value with characters that the charset lacks. err is the error of the encoder for the
// whole.
func unencodable(e *charset.Encoder, err error, value []byte) error {
	f := &unencodableFinder{e: e}
	f.find("", value)
	return f.error(err)
}

// unencodableMembers is misfits for the members of an object.
func unencodableMembers(e *charset.Encoder, err error, members iter.Seq2[string, []byte]) error {
	f := &unencodableFinder{e: e}
	for name, value := range members {
		f.member("", name, value)
	}
	return f.error(err)
}

// unencodableFinder searches for texts that a charset can't encode.
type unencodableFinder struct {
	e      *charset.Encoder
	faults []*wire.ValueError
}

func (f *unencodableFinder) find(pointer string, value []byte) {
	if len(f.faults) >= maxNamedParts {
		return
	}
	switch kind := jsonscan.KindOf(value); kind {
	case jsonscan.String:
		f.text(pointer, jsonscan.Unquote(value))
	case jsonscan.Object:
		for name, member := range jsonscan.Members(value) {
			f.member(pointer, string(name), member)
		}
	case jsonscan.Array:
		i := 0
		for item := range jsonscan.Elements(value) {
			if kind := jsonscan.KindOf(item); kind == jsonscan.String || kind == jsonscan.Object || kind == jsonscan.Array {
				f.find(pointer+"/"+strconv.Itoa(i), item)
			}
			i++
		}
	default: // ASCII
	}
}

func (f *unencodableFinder) member(pointer, name string, value []byte) {
	if len(f.faults) >= maxNamedParts {
		return
	}
	below := pointer + jsonscan.PointerTo(name)
	f.text(below, []byte(name))
	f.find(below, value)
}

func (f *unencodableFinder) text(pointer string, text []byte) {
	if f.e == nil {
		return
	}
	if _, err := f.e.Append(nil, text); err != nil {
		f.faults = append(f.faults, &wire.ValueError{Reason: err.Error(), Pointer: pointer})
	}
}

func (f *unencodableFinder) error(whole error) error {
	if f.faults != nil {
		return &charsetError{f.faults}
	}
	var known *wire.ValueError
	if errors.As(whole, &known) {
		return whole
	}
	return &wire.ValueError{Reason: whole.Error()} // a fault of the whole text only, such as the name of an element
}

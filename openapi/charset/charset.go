package charset

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/simplifiedchinese"

	"drawbridge/openapi/mediatype"
)

// ToUTF8 returns data as valid UTF-8. The charset is that of the byte order mark, or else of the label in lower case,
// which may be ""; text in neither is decoded as Windows-1252, as browsers do, so that nothing is lost. The result may
// be data itself.
func ToUTF8(data []byte, label string) []byte {
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		data, label = data[3:], "utf-8"
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		return fromUTF16(data[2:], binary.LittleEndian)
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		return fromUTF16(data[2:], binary.BigEndian)
	}
	switch label {
	case "utf-16", "utf-16be", "utf16":
		return fromUTF16(data, binary.BigEndian) // RFC 2781 section 4.3: big-endian without a mark
	case "utf-16le":
		return fromUTF16(data, binary.LittleEndian)
	case "iso-8859-1", "latin1", "iso8859-1", "windows-1252", "cp1252":
		return fromWindows1252(data) // the web treats the two as one (WHATWG Encoding, section 4.2)
	case "", "utf-8", "utf8":
	default:
		if text, ok := decode(data, label); ok {
			return text
		}
	}
	if utf8.Valid(data) {
		return data
	}
	if joined, ok := JoinSurrogates(data); ok {
		return joined
	}
	if label == "utf-8" || label == "utf8" {
		return bytes.ToValidUTF8(data, []byte("\uFFFD")) // one invalid byte doesn't imply another charset
	}
	return fromWindows1252(data)
}

// Encoding returns the encoding of a label (WHATWG Encoding, section 4.2); nil if the label is unknown.
func Encoding(label string) encoding.Encoding {
	e, err := htmlindex.Get(label)
	if err != nil || e == encoding.Replacement {
		return nil
	}
	if e == simplifiedchinese.GBK {
		return simplifiedchinese.GB18030 // a superset, and the decoder that section 10.1 requires
	}
	return e
}

// decode decodes the charsets that browsers support (WHATWG Encoding, section 4); ok is false for others.
func decode(data []byte, label string) (text []byte, ok bool) {
	encoding := Encoding(label)
	if encoding == nil {
		return nil, false
	}
	text, err := encoding.NewDecoder().Bytes(data)
	if err != nil {
		return nil, false
	}
	return bytes.ToValidUTF8(text, []byte("\uFFFD")), true
}

// declaredWithin is the length of the beginning of a text, in bytes, that may declare its charset (HTML, section
// 4.2.5.4).
const declaredWithin = 1024

// Declared returns the charset that XML or HTML declares within itself; "" if there is none. It applies if the
// Content-Type names none (RFC 7303 section 3; HTML, section 13.2.3.2). Text that is valid UTF-8 and has no escape
// sequence counts as UTF-8 despite its declaration: proxies and templates change the encoding and leave the
// declaration.
func Declared(media string, data []byte) string {
	if !mediatype.IsXML(media) && !mediatype.IsHTML(media) || utf8.Valid(data) && bytes.IndexByte(data, 0x1b) < 0 {
		return ""
	}
	head := bytes.ToLower(data[:min(len(data), declaredWithin)])
	if bytes.HasPrefix(head, []byte("<?xml")) {
		declaration, _, _ := bytes.Cut(head, []byte("?>"))
		if name := assigned(declaration, "encoding"); name != "" {
			return asciiCharset(name)
		}
	}
	if mediatype.IsHTML(media) {
		for {
			_, after, found := bytes.Cut(head, []byte("<meta"))
			if !found {
				break
			}
			tag, _, _ := bytes.Cut(after, []byte(">"))
			if name := assigned(tag, "charset"); name != "" {
				return asciiCharset(name)
			}
			head = after
		}
	}
	return ""
}

// asciiCharset replaces UTF-16, which can't be the charset of a declaration that was read as ASCII.
func asciiCharset(name string) string {
	switch name {
	case "utf-16", "utf-16le", "utf-16be", "utf16":
		return "utf-8"
	}
	return name
}

// assigned returns the value in name=value without quotes; "" if there is none.
func assigned(text []byte, name string) string {
	_, after, _ := bytes.Cut(text, []byte(name))
	after, found := bytes.CutPrefix(bytes.TrimLeft(after, " \t\r\n"), []byte("="))
	if !found {
		return ""
	}
	after = bytes.TrimLeft(after, " \t\r\n\"'")
	if i := bytes.IndexAny(after, " \t\r\n\"';/>"); i >= 0 {
		after = after[:i]
	}
	return string(after)
}

func fromUTF16(data []byte, order binary.ByteOrder) []byte {
	out := make([]byte, 0, len(data)/2*3) // a unit is three bytes at most
	for ; len(data) >= 2; data = data[2:] {
		r := rune(order.Uint16(data))
		if utf16.IsSurrogate(r) {
			second := rune(0)
			if len(data) >= 4 {
				second = rune(order.Uint16(data[2:]))
			}
			if r = utf16.DecodeRune(r, second); r != utf8.RuneError {
				data = data[2:]
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

func fromWindows1252(data []byte) []byte {
	// 0x80 to 0x9f; unassigned bytes are controls, as in ISO 8859-1.
	const upper = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"
	table := []rune(upper)
	read := func(c byte) rune {
		if c >= 0x80 && c < 0xa0 {
			return table[c-0x80]
		}
		return rune(c)
	}
	size := 0
	for _, c := range data {
		size += utf8.RuneLen(read(c))
	}
	out := make([]byte, 0, size)
	for _, c := range data {
		out = utf8.AppendRune(out, read(c))
	}
	return out
}

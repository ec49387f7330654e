package openapi

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// toText returns data as valid UTF-8. The byte order mark decides, then the charset that the service names; text that
// is in neither is read as Windows-1252, as browsers do, so that nothing is lost. The result may be data itself.
func toText(data []byte, charset string) []byte {
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		data, charset = data[3:], "utf-8"
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		return fromUTF16(data[2:], binary.LittleEndian)
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		return fromUTF16(data[2:], binary.BigEndian)
	}
	switch charset {
	case "utf-16", "utf-16be", "utf16":
		return fromUTF16(data, binary.BigEndian) // RFC 2781 section 4.3: big-endian without a mark
	case "utf-16le":
		return fromUTF16(data, binary.LittleEndian)
	case "iso-8859-1", "latin1", "iso8859-1", "windows-1252", "cp1252":
		return fromWindows1252(data) // the two are one on the web (WHATWG Encoding, section 4.2)
	}
	if utf8.Valid(data) {
		return data
	}
	if charset == "utf-8" || charset == "utf8" {
		return bytes.ToValidUTF8(data, []byte("\uFFFD")) // one bad byte doesn't make all of it another charset
	}
	return fromWindows1252(data)
}

func fromUTF16(data []byte, order binary.ByteOrder) []byte {
	units := make([]uint16, 0, len(data)/2)
	for ; len(data) >= 2; data = data[2:] {
		units = append(units, order.Uint16(data))
	}
	out := make([]byte, 0, len(units)*2)
	for _, r := range utf16.Decode(units) {
		out = utf8.AppendRune(out, r)
	}
	return out
}

func fromWindows1252(data []byte) []byte {
	// 0x80 to 0x9f; the holes are controls, as in ISO 8859-1.
	const upper = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"
	table := []rune(upper)
	out := make([]byte, 0, len(data)+len(data)/8)
	for _, c := range data {
		switch {
		case c < utf8.RuneSelf:
			out = append(out, c)
		case c < 0xa0:
			out = utf8.AppendRune(out, table[c-0x80])
		default:
			out = utf8.AppendRune(out, rune(c))
		}
	}
	return out
}

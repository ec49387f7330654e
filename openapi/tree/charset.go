package tree

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// A legacyCharset is a charset of files without a label.
type legacyCharset struct {
	name     string
	encoding encoding.Encoding
	// reads classifies the non-ASCII character at the beginning of data: its length in bytes, and whether it is a
	// frequent one.
	reads func(data []byte) (size int, frequent bool)
}

// legacyCharsets are in the order in which they are tried. Nearly any text can be decoded as one of the first two, so
// most of its characters must also be frequent ones, and adjacent to others: "Größe" of Windows-1252 is one rare
// Chinese character among letters, "don’t" one Japanese. Windows-1252 has every byte.
var legacyCharsets = [...]legacyCharset{
	{"GB18030", simplifiedchinese.GB18030, func(data []byte) (int, bool) {
		if len(data) < 2 {
			return 1, false
		}
		if data[1] >= '0' && data[1] <= '9' {
			return 4, false
		}
		// GB 2312: symbols and kana, and the characters of its first level.
		return 2, data[1] >= 0xA1 && (data[0] >= 0xA1 && data[0] <= 0xA9 || data[0] >= 0xB0 && data[0] <= 0xD7)
	}},
	{"Shift_JIS", japanese.ShiftJIS, func(data []byte) (int, bool) {
		if data[0] >= 0xA1 && data[0] <= 0xDF {
			return 1, false // half-width kana
		}
		return 2, data[0] >= 0x81 && data[0] <= 0x9F // kana, and nearly all characters of the first level of JIS X 0208
	}},
	{"Windows-1252", charmap.Windows1252, nil},
}

// fromLegacy decodes text that is not valid UTF-8 and has no label.
func fromLegacy(data []byte) (text []byte, name string) {
	for _, c := range legacyCharsets {
		if c.reads != nil && !c.plausible(data) {
			continue
		}
		if text, err := c.encoding.NewDecoder().Bytes(data); err == nil && !bytes.Contains(text, []byte("\uFFFD")) {
			return bytes.TrimPrefix(text, []byte("\uFEFF")), c.name
		}
	}
	return bytes.ToValidUTF8(data, []byte("\uFFFD")), "UTF-8"
}

// plausible reports whether most characters beyond ASCII are frequent ones, and most are adjacent to another.
func (c *legacyCharset) plausible(data []byte) bool {
	total, frequent, adjacent := 0, 0, 0
	run := 0 // consecutive characters
	end := func() {
		if run > 1 {
			adjacent += run
		}
		run = 0
	}
	for i := 0; i < len(data); {
		if data[i] < utf8.RuneSelf {
			end()
			i++
			continue
		}
		size, often := c.reads(data[i:])
		i += size
		total++
		run++
		if often {
			frequent++
		}
	}
	end()
	return 2*frequent > total && 2*adjacent > total
}

// mostlyUTF8 reports whether text that is not valid UTF-8 is meant to be: it has more valid characters beyond ASCII
// than invalid bytes.
func mostlyUTF8(data []byte) bool {
	valid, bad := 0, 0
	for len(data) > 0 {
		if data[0] < utf8.RuneSelf {
			data = data[1:]
			continue
		}
		r, size := utf8.DecodeRune(data)
		if r == utf8.RuneError && size == 1 {
			bad++
		} else {
			valid++
		}
		data = data[size:]
	}
	return valid > bad
}

package projection

import (
	"bytes"

	"drawbridge/openapi/jsonscan"
)

const (
	// minOpaque is the number of bytes from which a string of base64 is taken for encoded bytes, of which a part is of no use.
	minOpaque = 1 << 10
	// shownOpaque is the number of bytes that are left of it: enough to tell an image from an archive.
	shownOpaque = 48
)

// shortenOpaque returns an answer in which long strings of base64 have only their beginning. A file that is embedded in an
// answer takes more tokens than all that is said about it, so it is shortened before anything else is left out.
func shortenOpaque(data []byte, all *cuts) []byte {
	var out []byte
	copied := 0
	c := opaqueCutter{data: data, cuts: all, cut: func(from, to int) {
		out = append(append(out, data[copied:from]...), `…`...)
		copied = to
	}}
	c.value(0)
	if out == nil {
		return data
	}
	return append(out, data[copied:]...)
}

// opaqueCutter goes through an answer and reports the ranges of its strings that are to be cut.
type opaqueCutter struct {
	data []byte
	cuts *cuts
	cut  func(from, to int)
}

// value goes through the value that starts at i, and returns the offset behind it.
func (c *opaqueCutter) value(i int) int {
	switch c.data[i] {
	case '{':
		return c.object(i)
	case '[':
		return c.array(i)
	}
	end := jsonscan.Skip(c.data, i)
	if c.data[i] != '"' || end-i <= minOpaque {
		return end
	}
	if start, ok := opaque(c.data[i+1 : end-1]); ok {
		from := i + 1 + start + shownOpaque
		if c.data[from-1] == '\\' {
			from-- // not within an escape
		}
		c.cut(from, end-1)
		c.cuts.add(jsonscan.String, end-1-from, 0)
	}
	return end
}

func (c *opaqueCutter) object(i int) int {
	if i++; c.data[i] == '}' {
		return i + 1
	}
	for {
		start := i
		i = jsonscan.Skip(c.data, i)
		length := c.cuts.enter(c.data[start:i])
		i = c.value(i + 1)
		c.cuts.leave(length)
		if i++; c.data[i-1] == '}' {
			return i
		}
	}
}

func (c *opaqueCutter) array(i int) int {
	if i++; c.data[i] == ']' {
		return i + 1
	}
	for {
		i = c.value(i)
		if i++; c.data[i-1] == ']' {
			return i
		}
	}
}

// opaque reports whether the content of a JSON string is base64, of either alphabet and with line ends or not, or a data URL with it,
// and where it starts.
func opaque(text []byte) (start int, ok bool) {
	if marker := []byte(";base64,"); bytes.HasPrefix(text, []byte("data:")) {
		if i := bytes.Index(text[:min(len(text), 200)], marker); i >= 0 {
			start = i + len(marker)
		}
	}
	text = text[start:]
	lower, upper, digits := false, false, false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case 'a' <= b && b <= 'z':
			lower = true
		case 'A' <= b && b <= 'Z':
			upper = true
		case '0' <= b && b <= '9':
			digits = true
		case b == '+', b == '/', b == '-', b == '_', b == '=':
		case b == '\\' && i+1 < len(text) && (text[i+1] == 'n' || text[i+1] == 'r' || text[i+1] == '/'):
			i++
		default:
			return 0, false
		}
	}
	return start, len(text) > 2*shownOpaque && (lower && upper || digits && (lower || upper))
}

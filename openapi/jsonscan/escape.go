package jsonscan

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

const hexDigits = "0123456789abcdef"

// AppendEscaped appends text, which must be valid UTF-8, as the inside of a JSON string: quotes, backslashes
// and control characters are escaped (RFC 8259 section 7), nothing else.
func AppendEscaped(dst, text []byte) []byte {
	for len(text) > 0 {
		// In parts, so that dst need not have capacity for the worst case of all of text.
		part := text[:min(len(text), 4096)]
		dst = slices.Grow(dst, 2*len(part)+32)
		n, j := escapeRun(dst[len(dst):cap(dst)], part)
		dst = dst[:len(dst)+j]
		// The rest begins with a word that has a control character, or is shorter than a word.
		for end := min(n+8, len(part)); n < end; n++ {
			dst = appendEscapedByte(dst, part[n])
		}
		text = text[n:]
	}
	return dst
}

// EscapedLen returns how many bytes [AppendEscaped] appends.
func EscapedLen(text []byte) int {
	n := len(text)
	for _, c := range text {
		switch {
		case c == '"', c == '\\', c >= '\b' && c <= '\r' && c != '\v':
			n++
		case c < ' ':
			n += len(`\u0001`) - 1
		}
	}
	return n
}

// escapeWords is [escapeRun] by words of eight bytes: it stops before a word with a control character, before the last
// seven bytes, and if room has fewer than 24 bytes left. It returns the bytes read and written.
func escapeWords(room, text []byte) (read, written int) {
	i, j, plain := 0, 0, 0 // plain counts words that needed no escapes
	for i+8 <= len(text) && j+24 <= len(room) {
		w := binary.LittleEndian.Uint64(text[i:])
		if (w-0x20*ones)&^w&highs != 0 {
			break
		}
		binary.LittleEndian.PutUint64(room[j:], w)
		quote, slash := w^'"'*ones, w^'\\'*ones
		// The high bit of each byte that is a quote or a backslash; every one of them is exact.
		marks := ^((quote&low7 + low7 | quote) & (slash&low7 + low7 | slash)) & highs
		from := 0 // the first byte of w that is not copied yet
		for ; marks != 0; marks &= marks - 1 {
			k := bits.TrailingZeros64(marks) >> 3
			j += k - from
			room[j] = '\\'
			binary.LittleEndian.PutUint64(room[j+1:], w>>(8*k&63))
			j += 2
			from = k + 1
		}
		i, j = i+8, j+8-from
		plain++
		if from > 0 {
			plain = 0
		}
		if plain == longRun {
			n := copy(room[j:], text[i:i+min(plainRun(text[i:]), len(room)-j)])
			i, j, plain = i+n, j+n, 0
		}
	}
	return i, j
}

func appendEscapedByte(dst []byte, c byte) []byte {
	switch {
	case c == '"' || c == '\\':
		return append(dst, '\\', c)
	case c >= ' ':
		return append(dst, c)
	}
	var b [6]byte
	return append(dst, b[:putControl(b[:], c)]...)
}

// putControl writes the escape of a control character and returns its length.
func putControl(b []byte, c byte) int {
	b[0] = '\\'
	switch c {
	case '\n':
		b[1] = 'n'
	case '\t':
		b[1] = 't'
	case '\r':
		b[1] = 'r'
	case '\b':
		b[1] = 'b'
	case '\f':
		b[1] = 'f'
	default:
		copy(b[1:], "u00")
		b[4], b[5] = hexDigits[c>>4], hexDigits[c&15]
		return 6
	}
	return 2
}

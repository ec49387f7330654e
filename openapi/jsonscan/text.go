package jsonscan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// Unquote returns the value of a JSON string, given with its quotes. The result is a slice of str if there is
// no escape in it, else a copy. A surrogate without its partner becomes U+FFFD.
func Unquote(str []byte) []byte {
	if len(str) < 2 || str[0] != '"' {
		return nil
	}
	str = str[1 : len(str)-1]
	i := bytes.IndexByte(str, '\\')
	if i < 0 {
		return str
	}
	out := append(make([]byte, 0, len(str)), str[:i]...)
	for i < len(str) {
		c := str[i]
		if c != '\\' {
			out = append(out, c)
			i++
			continue
		}
		n := escapeLen(str[i:])
		switch {
		case n == 0:
			return out
		case n == 2:
			out = append(out, unescaped(str[i+1]))
		default:
			r := hexRune(str[i+2:])
			if utf16.IsSurrogate(r) {
				if low := str[i+6:]; escapeLen(low) == 6 {
					if both := utf16.DecodeRune(r, hexRune(low[2:])); both != utf8.RuneError {
						r, n = both, 12
					}
				}
			}
			out = utf8.AppendRune(out, r) // a lone surrogate is appended as U+FFFD
		}
		i += n
	}
	return out
}

func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

func hexRune(b []byte) rune {
	r := 0
	for _, c := range b[:4] {
		r = r<<4 | hexValue(c)
	}
	return rune(r)
}

// AppendString appends text as a JSON string with its quotes. What is not UTF-8 in it becomes U+FFFD.
func AppendString[T ~string | ~[]byte](dst []byte, text T) []byte {
	dst = append(dst, '"')
	b := []byte(text)
	if !utf8.Valid(b) {
		b = bytes.ToValidUTF8(b, []byte("\uFFFD"))
	}
	dst = AppendEscaped(dst, b)
	return append(dst, '"')
}

const hexDigits = "0123456789abcdef"

// AppendEscaped appends text, which must be valid UTF-8, as the inside of a JSON string: quotes, backslashes
// and control characters are escaped (RFC 8259 section 7), nothing else.
func AppendEscaped(dst, text []byte) []byte {
	for len(text) > 0 {
		// In parts, so that dst need not have room for the worst case of all of text.
		part := text[:min(len(text), 4096)]
		dst = slices.Grow(dst, 2*len(part)+16)
		n, j := escapeWords(dst[len(dst):cap(dst)], part)
		dst = dst[:len(dst)+j]
		// What is left begins with a word that has a control character, or is shorter than a word.
		for end := min(n+8, len(part)); n < end; n++ {
			dst = appendEscapedByte(dst, part[n])
		}
		text = text[n:]
	}
	return dst
}

// escapeWords escapes text into room, eight bytes at a time. It stops before a word with a control character,
// before the last bytes, and where room may not hold another word; it returns how much was read and written.
func escapeWords(room, text []byte) (read, written int) {
	i, j, plain := 0, 0, 0 // plain counts words that needed nothing
	for i+8 <= len(text) && j+24 <= len(room) {
		w := binary.LittleEndian.Uint64(text[i:])
		if (w-0x20*ones)&^w&highs != 0 {
			break
		}
		binary.LittleEndian.PutUint64(room[j:], w)
		quote, slash := w^'"'*ones, w^'\\'*ones
		// The high bit of each byte that is a quote or a backslash, every one of them exact.
		marks := ^((quote&low7 + low7 | quote) & (slash&low7 + low7 | slash)) & highs
		from := 0 // the first byte of w that is not in its place yet
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
			n := copy(room[j:], text[i:i+min(plainLen(text[i:]), len(room)-j)])
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

// AppendCompact appends src without the white space outside strings. dst may be src[:0].
func AppendCompact(dst, src []byte) []byte {
	for i := 0; i < len(src); {
		switch src[i] {
		case ' ', '\t', '\n', '\r':
			i++
		case '"':
			end := skipString(src, i+1)
			dst = append(dst, src[i:end]...)
			i = end
		default:
			dst = append(dst, src[i])
			i++
		}
	}
	return dst
}

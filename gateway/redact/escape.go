package redact

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// withoutEscapes writes what stands in JSON as \u and four digits as it is read, so that patterns see it: encoders write quotes, <, &, + and more
// so, and a name does not begin within an escape. Control characters, and what can't be seen, become spaces.
func withoutEscapes(text string) string {
	if !strings.Contains(text, `\u`) && !strings.Contains(text, `\b`) && !strings.Contains(text, `\f`) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for {
		i := strings.IndexByte(text, '\\')
		if i < 0 || i+1 == len(text) {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:i])
		escape := text[i : i+2]
		text = text[i+2:]
		switch escape {
		case `\b`, `\f`:
			b.WriteByte(' ')
		case `\u`:
			r := codeOf(text)
			if r < 0 { // the text was cut here, or is no JSON
				b.WriteString(escape)
				continue
			}
			text = text[4:]
			if utf16.IsSurrogate(r) {
				after, ok := strings.CutPrefix(text, `\u`)
				second := rune(-1)
				if ok {
					second = codeOf(after)
				}
				if r = utf16.DecodeRune(r, second); r != utf8.RuneError {
					text = after[4:]
				}
			}
			writeRead(&b, r)
		default:
			b.WriteString(escape)
		}
	}
}

// codeOf returns the code unit of which a text begins with the four digits; -1: it does not.
func codeOf(text string) rune {
	if len(text) < 4 {
		return -1
	}
	code, err := strconv.ParseUint(text[:4], 16, 16)
	if err != nil {
		return -1
	}
	return rune(code)
}

// writeRead writes a character as the string of JSON has it in which it stands.
func writeRead(b *strings.Builder, r rune) {
	switch {
	case r == '"' || r == '\\':
		b.WriteByte('\\')
		b.WriteRune(r)
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\r':
		b.WriteString(`\r`)
	case r == '\t':
		b.WriteString(`\t`)
	case unicode.IsPrint(r):
		b.WriteRune(r)
	default:
		b.WriteByte(' ')
	}
}

package redact

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// withoutEscapes decodes the \u escapes of a JSON text, so that the patterns match the decoded characters: encoders
// escape quotes, <, &, + and others, and a name can't be recognized within an escape. Control characters and invisible
// characters become spaces.
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
			if r < 0 { // the text was cut here, or is not JSON
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
			writeCharacter(&b, r)
		default:
			b.WriteString(escape)
		}
	}
}

// codeOf returns the code unit of the four hexadecimal digits at the beginning of a text, or -1.
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

// writeCharacter writes a character as it appears in a JSON string.
func writeCharacter(b *strings.Builder, r rune) {
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

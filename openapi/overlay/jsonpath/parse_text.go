package jsonpath

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// quoted reads a text in single or double quotes.
func (p *parser) quoted() (string, error) {
	start, quote := p.at, p.in[p.at]
	p.at++
	var b strings.Builder
	for p.at < len(p.in) {
		c := p.in[p.at]
		switch {
		case c == quote:
			p.at++
			return b.String(), nil
		case c == '\\':
			r, ok := p.escape(quote)
			if !ok {
				return "", p.wrong("a backslash must be followed by %c, \\, /, b, f, n, r, t or u and four hexadecimal digits", quote)
			}
			b.WriteRune(r)
		case c < ' ':
			return "", p.expected("no control character in a text; escape it")
		default:
			r, n := utf8.DecodeRuneInString(p.in[p.at:])
			if r == utf8.RuneError && n == 1 {
				return "", p.expected("UTF-8")
			}
			b.WriteString(p.in[p.at : p.at+n])
			p.at += n
		}
	}
	p.at = start
	return "", p.wrong("the quoted text has no closing quote")
}

// escape parses an escape at its backslash. If it is wrong, the position stays there.
func (p *parser) escape(quote byte) (rune, bool) {
	rest := p.in[p.at+1:]
	if rest == "" {
		return 0, false
	}
	if rest[0] == quote {
		p.at += 2
		return rune(quote), true
	}
	if i := strings.IndexByte(`\/bfnrt`, rest[0]); i >= 0 {
		p.at += 2
		return rune("\\/\b\f\n\r\t"[i]), true
	}
	unit, ok := codeUnit(p.in[p.at:])
	switch {
	case !ok || unit >= 0xdc00 && unit < 0xe000:
		return 0, false
	case !utf16.IsSurrogate(unit):
		p.at += 6
		return unit, true
	}
	low, ok := codeUnit(p.in[p.at+6:])
	r := utf16.DecodeRune(unit, low)
	if !ok || r == utf8.RuneError {
		return 0, false
	}
	p.at += 12
	return r, true
}

// codeUnit reads \uXXXX at the beginning of a text.
func codeUnit(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' || strings.Trim(s[2:6], "0123456789abcdefABCDEF") != "" {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(n), err == nil
}

// number reads a number of JSON.
func (p *parser) number() (float64, error) {
	start := p.at
	p.take("-")
	whole := p.at
	ok := p.digits() > 0 && (p.in[whole] != '0' || p.at == whole+1)
	if ok && p.take(".") {
		ok = p.digits() > 0
	}
	if ok && (p.take("e") || p.take("E")) {
		if !p.take("+") {
			p.take("-")
		}
		ok = p.digits() > 0
	}
	if !ok {
		p.at = start
		return 0, p.wrong("expected a JSON number")
	}
	n, _ := strconv.ParseFloat(p.in[start:p.at], 64) // out of range is infinite
	return n, nil
}

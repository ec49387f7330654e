package wire

import (
	"bytes"

	"drawbridge/openapi/jsonscan"
)

// maxPlainDigits is the maximum length of an integer that is written without its exponent. It exceeds the range of
// float64; longer ones are written unchanged, so that "1e999999999" doesn't become a gigabyte.
const maxPlainDigits = 310

// text returns the text of a value (OAS 3.2 Appendix B leaves the conversion open). Strings are their own text, true
// and false keep their names, lists and objects are compact JSON, null is empty. Numbers are unchanged, except integers
// with an exponent ("1e7", "1.5e3") or a fraction of zeros ("5.0"), which are written out because few services parse
// them.
//
// The result is a slice of v wherever possible.
func text(v []byte) []byte {
	v = bytes.Trim(v, " \t\r\n")
	switch jsonscan.KindOf(v) {
	case jsonscan.String:
		return jsonscan.Unquote(v)
	case jsonscan.Number:
		return number(v)
	case jsonscan.Bool:
		return v
	case jsonscan.Array, jsonscan.Object:
		return appendJSON(make([]byte, 0, len(v)), v)
	default:
		return nil
	}
}

// number writes out an integer that has an exponent or a fraction, without loss of a digit, and returns every other
// literal unchanged.
func number(literal []byte) []byte {
	at := bytes.IndexAny(literal, "eE")
	if at < 0 {
		whole, fraction, _ := bytes.Cut(literal, []byte("."))
		switch {
		case len(bytes.Trim(fraction, "0")) > 0:
			return literal
		case string(whole) == "-0":
			return whole[1:]
		}
		return whole
	}
	exponent, ok := smallInt(literal[at+1:])
	if !ok {
		return literal
	}
	mantissa, negative := bytes.CutPrefix(literal[:at], []byte("-"))
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	// point is the position of the decimal point in digits once the exponent is applied.
	digits := append(append(make([]byte, 0, maxPlainDigits+1), whole...), fraction...)
	point := len(whole) + exponent
	leading := len(digits) - len(bytes.TrimLeft(digits, "0"))
	digits, point = digits[leading:], point-leading
	digits = bytes.TrimRight(digits, "0")
	if len(digits) == 0 {
		return []byte("0")
	}
	if len(digits) > point || point > maxPlainDigits {
		return literal
	}
	out := make([]byte, 0, point+1)
	if negative {
		out = append(out, '-')
	}
	out = append(out, digits...)
	for len(digits) < point {
		out, point = append(out, '0'), point-1
	}
	return out
}

// smallInt reads an exponent of at most four digits.
func smallInt(b []byte) (n int, ok bool) {
	negative := b[0] == '-'
	if negative || b[0] == '+' {
		b = b[1:]
	}
	b = bytes.TrimLeft(b, "0")
	if len(b) > 4 {
		return 0, false
	}
	for _, c := range b {
		n = n*10 + int(c-'0')
	}
	if negative {
		n = -n
	}
	return n, true
}

// defined reports whether a value is defined in the sense of RFC 6570 section 2.3: null is not, nor is a list or an
// object without a defined member.
func defined(v []byte) bool {
	switch jsonscan.KindOf(v) {
	case jsonscan.Null, 0:
		return false
	case jsonscan.Array:
		for item := range jsonscan.Elements(v) {
			if jsonscan.KindOf(item) != jsonscan.Null {
				return true
			}
		}
		return false
	case jsonscan.Object:
		for _, member := range jsonscan.Members(v) {
			if jsonscan.KindOf(member) != jsonscan.Null {
				return true
			}
		}
		return false
	default:
		return true
	}
}

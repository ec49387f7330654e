package schema

import (
	"strconv"
	"strings"
)

const (
	maxExponent = 308 // of a number; beyond it JavaScript sees infinity, and exact arithmetic takes for ever
	maxDigits   = 100
)

// saneNumber reports whether a literal is a JSON number (RFC 8259 section 6) of a size that can be worked with.
func saneNumber(s string) bool {
	if len(s) > maxDigits {
		return false
	}
	rest := strings.TrimPrefix(s, "-")
	whole := digits(rest)
	if whole == 0 || whole > 1 && rest[0] == '0' {
		return false
	}
	rest = rest[whole:]
	if strings.HasPrefix(rest, ".") {
		n := digits(rest[1:])
		if n == 0 {
			return false
		}
		rest = rest[1+n:]
	}
	if rest == "" {
		return true
	}
	if rest[0] != 'e' && rest[0] != 'E' {
		return false
	}
	rest = rest[1:]
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		rest = rest[1:]
	}
	if rest == "" || digits(rest) != len(rest) {
		return false
	}
	exponent, err := strconv.Atoi(rest)
	return err == nil && exponent <= maxExponent
}

// digits returns the number of ASCII digits that a text begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

package tree

import (
	"math/big"
	"strings"

	"go.yaml.in/yaml/v4"
)

// typeScalar types a YAML scalar by the core schema of YAML 1.2.2 section 10.3.2, which is what JSON consumers expect:
// no dates, no yes and no, no octal 010. Numbers keep their digits.
func typeScalar(y *yaml.Node) (Kind, string) {
	tag := ""
	if y.Style&yaml.TaggedStyle != 0 {
		tag = y.Tag
	}
	switch tag {
	case "":
		const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
		if y.Style&quoted != 0 || y.Tag == "!" {
			return String, y.Value
		}
	case "!!int", "!!float", "!!bool", "!!null":
	default: // !!str, !!binary, !!timestamp and the author's own
		return String, y.Value
	}
	switch y.Value {
	case "", "~", "null", "Null", "NULL":
		return Null, ""
	case "true", "True", "TRUE":
		return Bool, "true"
	case "false", "False", "FALSE":
		return Bool, "false"
	}
	if literal, ok := yamlNumber(y.Value); ok {
		return Number, literal
	}
	return String, y.Value
}

// nonFinite reports whether a scalar is a YAML number that JSON lacks.
func nonFinite(y *yaml.Node) bool {
	if y.Style&^yaml.TaggedStyle != 0 {
		return false
	}
	switch strings.TrimLeft(y.Value, "+-") {
	case ".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN":
		return true
	}
	return false
}

// yamlNumber returns the JSON literal of a YAML number, digit for digit.
func yamlNumber(s string) (string, bool) {
	// The first character distinguishes almost everything that isn't a number.
	if s == "" || !(s[0] >= '0' && s[0] <= '9' || s[0] == '-' || s[0] == '+' || s[0] == '.') {
		return "", false
	}
	if digits, ok := strings.CutPrefix(s, "0o"); ok {
		return wholeNumber(digits, 8)
	}
	if digits, ok := strings.CutPrefix(s, "0x"); ok {
		return wholeNumber(digits, 16)
	}
	return decimalNumber(s)
}

// wholeNumber returns the JSON literal of a number that is written in another base.
func wholeNumber(digits string, base int) (string, bool) {
	// Nobody means such a long text as a number, and conversion is quadratic.
	if digits == "" || len(digits) > 64 || digits[0] == '-' || digits[0] == '+' || strings.Contains(digits, "_") {
		return "", false
	}
	n, ok := new(big.Int).SetString(digits, base)
	if !ok {
		return "", false
	}
	return n.String(), true
}

// decimalNumber returns the JSON literal of an integer or a floating-point number. Unlike JSON, YAML allows a plus sign, zeros
// before the first digit, and a point with digits on one side only.
func decimalNumber(s string) (string, bool) {
	sign, rest := cutSign(s)
	integer, rest := cutDigits(rest)
	fraction, point := "", false
	if strings.HasPrefix(rest, ".") {
		point = true
		fraction, rest = cutDigits(rest[1:])
	}
	if integer == "" && fraction == "" {
		return "", false
	}
	exponent, rest, ok := cutExponent(rest)
	if !ok || rest != "" {
		return "", false
	}
	if sign == "" && exponent == "" && integer != "" && (integer[0] != '0' || integer == "0") && point == (fraction != "") {
		return s, true // already a JSON literal: the usual case, no copy
	}
	if sign == "+" {
		sign = ""
	}
	integer = strings.TrimLeft(integer, "0")
	if integer == "" {
		integer = "0"
	}
	if fraction != "" {
		fraction = "." + fraction
	}
	return sign + integer + fraction + exponent, true
}

func cutSign(s string) (sign, rest string) {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return s[:1], s[1:]
	}
	return "", s
}

// cutExponent cuts "e" with a number off the start of s. It is false if no digits follow the letter.
func cutExponent(s string) (exponent, rest string, ok bool) {
	if s == "" || s[0] != 'e' && s[0] != 'E' {
		return "", s, true
	}
	_, unsigned := cutSign(s[1:])
	digits, rest := cutDigits(unsigned)
	return s[:len(s)-len(rest)], rest, digits != ""
}

func cutDigits(s string) (digits, rest string) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return s[:i], s[i:]
}

package tree

import (
	"math/big"
	"strings"

	"go.yaml.in/yaml/v4"
)

// typeScalar types a YAML scalar by the core schema of YAML 1.2.2 section 10.3.2,
// which is what JSON consumers expect: no dates, no yes and no, no octal 010.
// Numbers keep their digits.
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

// nonFinite reports whether a scalar is one of YAML's numbers that JSON lacks.
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
	// Almost everything that isn't a number is told by its first character.
	if s == "" || !(s[0] >= '0' && s[0] <= '9' || s[0] == '-' || s[0] == '+' || s[0] == '.') {
		return "", false
	}
	if base, digits := 0, ""; len(s) > 2 && s[0] == '0' {
		switch s[1] {
		case 'o':
			base, digits = 8, s[2:]
		case 'x':
			base, digits = 16, s[2:]
		}
		if base != 0 {
			// Long ones are not numbers that anybody meant, and conversion is quadratic.
			if len(digits) > 64 || digits[0] == '-' || digits[0] == '+' || strings.Contains(digits, "_") {
				return "", false
			}
			n, ok := new(big.Int).SetString(digits, base)
			if !ok {
				return "", false
			}
			return n.String(), true
		}
	}
	sign, rest := "", s
	if rest[0] == '-' || rest[0] == '+' {
		if rest[0] == '-' {
			sign = "-"
		}
		rest = rest[1:]
	}
	whole, rest := cutDigits(rest)
	fraction, point := "", false
	if strings.HasPrefix(rest, ".") {
		point = true
		fraction, rest = cutDigits(rest[1:])
	}
	if whole == "" && fraction == "" {
		return "", false
	}
	exponent := ""
	if rest != "" && (rest[0] == 'e' || rest[0] == 'E') {
		e := rest[1:]
		expSign := ""
		if e != "" && (e[0] == '-' || e[0] == '+') {
			expSign, e = e[:1], e[1:]
		}
		digits, after := cutDigits(e)
		if digits == "" {
			return "", false
		}
		exponent, rest = rest[:1]+expSign+digits, after
	}
	if rest != "" {
		return "", false
	}
	if sign == "" && s[0] != '+' && exponent == "" && whole != "" && (whole[0] != '0' || whole == "0") && point == (fraction != "") {
		return s, true // already a JSON literal: the usual case, no copy
	}
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	if fraction != "" {
		fraction = "." + fraction
	}
	return sign + whole + fraction + exponent, true
}

func cutDigits(s string) (digits, rest string) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return s[:i], s[i:]
}

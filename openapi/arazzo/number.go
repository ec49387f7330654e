package arazzo

import (
	"bytes"
	"cmp"
	"math/big"

	"drawbridge/openapi/jsonscan"
)

// compareNumbers compares two JSON numbers by their digits. The work is proportional to their lengths, whatever their exponents are.
func compareNumbers(a, b []byte) int {
	x, y := parseDecimal(a), parseDecimal(b)
	if x.sign != y.sign || x.sign == 0 {
		return cmp.Compare(x.sign, y.sign)
	}
	if by := x.magnitude.Cmp(y.magnitude); by != 0 {
		return x.sign * by
	}
	return x.sign * bytes.Compare(x.digits, y.digits)
}

// decimal is sign × 0.digits × 10^magnitude. The digits begin and end with another digit than 0, so that those of two decimals of one
// magnitude are ordered as bytes are.
type decimal struct {
	sign      int
	digits    []byte
	magnitude *big.Int
}

func parseDecimal(number []byte) decimal {
	d := decimal{sign: 1, magnitude: new(big.Int)}
	if number[0] == '-' {
		d.sign, number = -1, number[1:]
	}
	if e := bytes.IndexAny(number, "eE"); e >= 0 {
		d.magnitude.SetString(string(bytes.TrimPrefix(number[e+1:], []byte("+"))), 10)
		number = number[:e]
	}
	whole, fraction, _ := bytes.Cut(number, []byte("."))
	all := append(bytes.Clone(whole), fraction...)
	d.digits = bytes.TrimLeft(all, "0")
	d.magnitude.Add(d.magnitude, big.NewInt(int64(len(whole)-(len(all)-len(d.digits)))))
	if d.digits = bytes.TrimRight(d.digits, "0"); len(d.digits) == 0 {
		return decimal{}
	}
	return d
}

// maxExponent limits the digits of an exponent, whose value is computed.
const maxExponent = 32

// numberIn returns the JSON number that a value is, or that its text is; nil if there is none.
func numberIn(value []byte) []byte {
	switch jsonscan.KindOf(value) {
	case jsonscan.Number:
	case jsonscan.String:
		value = jsonscan.Unquote(value)
		if info, err := jsonscan.Scan(value, jsonscan.Options{}); err != nil || info.Kind != jsonscan.Number {
			return nil
		}
		value = bytes.TrimSpace(value)
	default:
		return nil
	}
	if e := bytes.IndexAny(value, "eE"); e >= 0 && len(value)-e > maxExponent {
		return nil
	}
	return value
}

package schema

import (
	"encoding/json"
	"errors"
	"math/big"
	"strconv"

	validation "github.com/santhosh-tekuri/jsonschema/v6"
)

// integerFormat is a format that is checked: a number out of its range would be cut or refused behind the gateway,
// where nobody can tell the model what it did wrong. All other formats are annotations, as JSON Schema 2020-12 has them
// by default (validation, section 7.2.1): legacy services take dates and addresses that no RFC knows.
type integerFormat struct {
	name   string // from the OpenAPI format registry
	bits   int
	signed bool
}

var integerFormats = [...]integerFormat{
	{"int8", 8, true}, {"int16", 16, true}, {"int32", 32, true}, {"int64", 64, true},
	{"uint8", 8, false}, {"uint16", 16, false}, {"uint32", 32, false}, {"uint64", 64, false},
}

// formatNamed returns the integer format of that name, nil for every other format.
func formatNamed(name string) *integerFormat {
	for i := range integerFormats {
		if integerFormats[i].name == name {
			return &integerFormats[i]
		}
	}
	return nil
}

// bounds returns the least and greatest number of the format.
func (f *integerFormat) bounds() (low, high *big.Int) {
	one := big.NewInt(1)
	if !f.signed {
		high = new(big.Int).Lsh(one, uint(f.bits))
		return new(big.Int), high.Sub(high, one)
	}
	high = new(big.Int).Lsh(one, uint(f.bits-1))
	low = new(big.Int).Neg(high)
	return low, high.Sub(high, one)
}

// accepts reports whether a number is in the range. A fraction is the business of "type".
func (f *integerFormat) accepts(n json.Number) bool {
	var err error
	if f.signed {
		_, err = strconv.ParseInt(string(n), 10, f.bits)
	} else {
		_, err = strconv.ParseUint(string(n), 10, f.bits)
	}
	if err == nil {
		return true
	}
	if !saneNumber(string(n)) {
		return false
	}
	low, high := f.bounds() // not of the plain form, like 1e3 or 7.0
	r, ok := new(big.Rat).SetString(string(n))
	return ok && (!r.IsInt() || r.Num().Cmp(low) >= 0 && r.Num().Cmp(high) <= 0)
}

// errRange says that a number is out of the range of its format; the text for the model is made of the fault.
var errRange = errors.New("out of range")

// registerFormats makes the library check integer formats.
func registerFormats(c *validation.Compiler) {
	for i := range integerFormats {
		f := &integerFormats[i]
		c.RegisterFormat(&validation.Format{Name: f.name, Validate: func(v any) error {
			if n, ok := v.(json.Number); ok && !f.accepts(n) {
				return errRange
			}
			return nil
		}})
	}
	c.AssertFormat()
}

package schema

import (
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// integerFormats are the formats that are checked: a number out of their range would be cut or refused behind the
// gateway, where nobody can tell the model what it did wrong. All other formats are annotations, as JSON Schema
// 2020-12 has them by default (validation, section 7.2.1): legacy services take dates and addresses that no RFC knows.
// The names are those of the OpenAPI format registry.
var integerFormats = []struct {
	name string
	bits int
	sign bool
}{
	{"int8", 8, true}, {"int16", 16, true}, {"int32", 32, true}, {"int64", 64, true},
	{"uint8", 8, false}, {"uint16", 16, false}, {"uint32", 32, false}, {"uint64", 64, false},
}

// errRange says that a number is out of the range of its format; the text for the model is made of the fault.
var errRange = errors.New("out of range")

// registerFormats makes the compiler check integer formats.
func registerFormats(c *jsonschema.Compiler) {
	for _, f := range integerFormats {
		c.RegisterFormat(&jsonschema.Format{Name: f.name, Validate: func(v any) error {
			n, ok := v.(json.Number)
			if !ok {
				return nil
			}
			var err error
			if f.sign {
				_, err = strconv.ParseInt(string(n), 10, f.bits)
			} else {
				_, err = strconv.ParseUint(string(n), 10, f.bits)
			}
			if err == nil {
				return nil
			}
			// Not of the plain form, like 1e3 or 7.0; a fraction is the business of "type".
			low, high, _ := formatRange(f.name)
			r, ok := new(big.Rat).SetString(string(n))
			if !ok || r.IsInt() && (r.Num().Cmp(low) < 0 || r.Num().Cmp(high) > 0) {
				return errRange
			}
			return nil
		}})
	}
	c.AssertFormat()
}

// formatRange returns the least and greatest number of an integer format; ok is false for every other format.
func formatRange(name string) (low, high *big.Int, ok bool) {
	i := slices.IndexFunc(integerFormats, func(f struct {
		name string
		bits int
		sign bool
	}) bool {
		return f.name == name
	})
	if i < 0 {
		return nil, nil, false
	}
	f := integerFormats[i]
	one := big.NewInt(1)
	if !f.sign {
		high = new(big.Int).Lsh(one, uint(f.bits))
		return new(big.Int), high.Sub(high, one), true
	}
	high = new(big.Int).Lsh(one, uint(f.bits-1))
	low = new(big.Int).Neg(high)
	return low, high.Sub(high, one), true
}

package auth

import (
	"bytes"
	"context"
	"math"
	"strconv"
	"sync"

	"cel.dev/cel-go/common/types"

	"drawbridge/openapi/jsonscan"
)

// claimSet holds the claims of a token, decoded when a condition first needs them.
type claimSet struct {
	text   []byte
	decode func() map[string]any // returns nil if there are too many
}

func newClaimSet(text []byte) *claimSet {
	c := &claimSet{text: bytes.Clone(text)}
	c.decode = sync.OnceValue(func() map[string]any {
		d := decoder{left: maxConditionNodes}
		claims, ok := d.value(c.text).(map[string]any)
		if !ok || d.left < 0 {
			return nil
		}
		return claims
	})
	return c
}

// decodeArguments decodes the caller's arguments. Duplicate member names are rejected, because the
// service might use the other value.
func decodeArguments(ctx context.Context, text []byte) (any, error) {
	if _, err := jsonscan.Scan(text, jsonscan.Options{Unique: true}); err != nil {
		return nil, &ConditionError{"the arguments are no JSON with unique members"}
	}
	d := decoder{ctx: ctx, left: maxConditionNodes}
	v := d.value(text)
	if d.canceled {
		return nil, &ConditionError{"it takes too long"}
	}
	if d.left < 0 {
		return nil, &ConditionError{"the arguments are too many"}
	}
	return v, nil
}

// decoder decodes scanned JSON to the values that CEL uses.
type decoder struct {
	ctx      context.Context // nil if decoding can't be canceled
	left     int             // values that may still be decoded; negative if there were too many
	canceled bool            // ctx ended
}

func (d *decoder) value(text []byte) any {
	if d.left--; d.left < 0 {
		return nil
	}
	if d.ctx != nil && d.left%256 == 0 && d.ctx.Err() != nil {
		d.left, d.canceled = -1, true
		return nil
	}
	switch jsonscan.KindOf(text) {
	case jsonscan.Object:
		m := make(map[string]any)
		for name, value := range jsonscan.Members(text) {
			if m[string(name)] = d.value(value); d.left < 0 {
				break
			}
		}
		return m
	case jsonscan.Array:
		list := []any{}
		for e := range jsonscan.Elements(text) {
			if list = append(list, d.value(e)); d.left < 0 {
				break
			}
		}
		return list
	case jsonscan.String:
		if len(text) > maxConditionText {
			return newLongString(jsonscan.Unquote(text))
		}
		return string(jsonscan.Unquote(text))
	case jsonscan.Number:
		return number(string(text))
	case jsonscan.Bool:
		return text[0] == 't'
	default:
		return nil
	}
}

// number returns an int64 for a whole number that fits, else a float64, else a value that can't be
// compared.
func number(s string) any {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return overflowNumber{types.Double(math.NaN())}
	}
	if whole := math.Trunc(f); whole == f && math.Abs(f) < 1<<53 {
		return int64(f) // 1e3, 5.0
	}
	return f
}

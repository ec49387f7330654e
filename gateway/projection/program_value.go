package projection

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"

	"drawbridge/openapi/jsonscan"
)

// decode returns an answer as a program sees it. Numbers are [json.Number], which gojq passes on as it is.
func decode(data []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, errors.New("can't read this answer")
	}
	return v, nil
}

// depthError is a result that is nested too deep.
type depthError struct{ levels int }

func (e *depthError) Error() string {
	return fmt.Sprintf("gave a value that is nested more than %d levels deep", e.levels)
}

// encoder writes the result of a program. A result may refer to one value many times, so it may be much longer than it is
// large: writing ends at a length, and with the deadline.
type encoder struct {
	ctx   context.Context
	most  int
	out   []byte
	count int // values since the context was asked
}

func (e *encoder) value(v any, depth int) error {
	const interval = 1024
	if len(e.out) > e.most {
		return errLong
	}
	if e.count++; e.count == interval {
		if e.count = 0; e.ctx.Err() != nil {
			return e.ctx.Err()
		}
	}
	if depth > jsonscan.DefaultMaxDepth {
		return &depthError{jsonscan.DefaultMaxDepth}
	}
	switch v := v.(type) {
	case nil:
		e.out = append(e.out, "null"...)
	case bool:
		e.out = strconv.AppendBool(e.out, v)
	case json.Number:
		e.out = append(e.out, v...)
	case int:
		e.out = strconv.AppendInt(e.out, int64(v), 10)
	case *big.Int:
		e.out = v.Append(e.out, 10)
	case float64:
		return e.float(v)
	case string:
		e.out = jsonscan.AppendString(e.out, v)
	case []any:
		return e.array(v, depth)
	case map[string]any:
		return e.object(v, depth)
	default:
		return fmt.Errorf("unexpected %T", v)
	}
	return nil
}

// float writes a literal of the program, which [checker.number] has found to have the same digits.
func (e *encoder) float(v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return errors.New("not a number")
	}
	e.out = append(e.out, floatText(v)...)
	return nil
}

// floatText returns the shortest decimal notation of a number.
func floatText(v float64) string {
	format := byte('f')
	if abs := math.Abs(v); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return strconv.FormatFloat(v, format, -1, 64)
}

func (e *encoder) array(all []any, depth int) error {
	e.out = append(e.out, '[')
	for i, v := range all {
		if i > 0 {
			e.out = append(e.out, ',')
		}
		if err := e.value(v, depth+1); err != nil {
			return err
		}
	}
	e.out = append(e.out, ']')
	return nil
}

func (e *encoder) object(members map[string]any, depth int) error {
	e.out = append(e.out, '{')
	for i, name := range slices.Sorted(maps.Keys(members)) {
		if i > 0 {
			e.out = append(e.out, ',')
		}
		e.out = append(jsonscan.AppendString(e.out, name), ':')
		if err := e.value(members[name], depth+1); err != nil {
			return err
		}
	}
	e.out = append(e.out, '}')
	return nil
}

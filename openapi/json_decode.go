package openapi

import (
	"encoding/json"

	"drawbridge/openapi/jsonscan"
)

// decode turns a JSON text that has been scanned into the values that a validator works on. Numbers stay as written.
// It is what encoding/json does for an any, in half the time, because the text is known to be good.
func decode(value []byte) any {
	switch jsonscan.KindOf(value) {
	case jsonscan.Object:
		m := make(map[string]any)
		for name, v := range jsonscan.Members(value) {
			m[string(name)] = decode(v)
		}
		return m
	case jsonscan.Array:
		a := []any{}
		for v := range jsonscan.Elements(value) {
			a = append(a, decode(v))
		}
		return a
	case jsonscan.String:
		return string(jsonscan.Unquote(value))
	case jsonscan.Number:
		return json.Number(value)
	case jsonscan.Bool:
		return value[0] == 't'
	default:
		return nil
	}
}

package mcp

import (
	"encoding/json"
	"math/big"

	"drawbridge/openapi/jsonscan"
)

// ParamHeaderPrefix begins the names of the headers that repeat arguments of tools/call whose schema has x-mcp-header
// (2026-07-28 streamable-http, Custom Headers from Tool Parameters).
const ParamHeaderPrefix = "Mcp-Param-"

// CheckParamHeader compares an argument with the header that repeats it: an intermediary that routes by the header must
// have seen the value that is executed (mcp-H5). header is in canonical form, and value is the raw argument, nil if
// absent. Only stateless requests over HTTP have such headers. The error is an *Error; it is nil for an argument that a
// header can't hold, which the schema refuses.
func (r *Request) CheckParamHeader(header string, value json.RawMessage) error {
	values := r.HTTP.Header[header]
	if len(values) > 1 {
		return headerMismatch("header %s is given more than once", header)
	}
	kind := jsonscan.KindOf(value)
	switch kind {
	case jsonscan.String, jsonscan.Number, jsonscan.Bool:
	case 0, jsonscan.Null:
		if len(values) > 0 {
			return headerMismatch("header %s is given but the body has no value for it", header)
		}
		return nil
	default:
		return nil
	}
	if len(values) == 0 {
		return headerMismatch("header %s is missing", header)
	}
	given, ok := decodeHeaderValue(values[0])
	if !ok {
		return headerMismatch("header %s is %q, which is not a valid header value", header, values[0])
	}
	if !headerMatches(given, kind, value) {
		return headerMismatch("header %s is %q but the body says %s", header, given, shorten(value))
	}
	return nil
}

// headerMatches reports whether a header's text equals a value. Numbers are compared by value.
func headerMatches(given string, kind jsonscan.Kind, value []byte) bool {
	switch kind {
	case jsonscan.String:
		return given == string(jsonscan.Unquote(value))
	case jsonscan.Number:
		if given == string(value) {
			return true
		}
		a, b := parseInteger(given), parseInteger(string(value))
		return a != nil && b != nil && a.Cmp(b) == 0
	default:
		return given == string(value)
	}
}

// maxDigits is the maximum length of a number that is compared by value.
const maxDigits = 40

// parseInteger parses a JSON number that is an integer, such as 7, 7.0 and 7e0; it returns nil for any other text.
func parseInteger(text string) *big.Int {
	if len(text) > maxDigits || jsonscan.KindOf([]byte(text)) != jsonscan.Number || !json.Valid([]byte(text)) {
		return nil
	}
	f, _, err := big.ParseFloat(text, 10, 4*maxDigits, big.ToNearestEven)
	if err != nil || !f.IsInt() || f.MantExp(nil) > 4*maxDigits {
		return nil
	}
	i, _ := f.Int(nil)
	return i
}

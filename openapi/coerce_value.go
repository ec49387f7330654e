package openapi

import (
	"bytes"
	"slices"

	"drawbridge/openapi/jsonscan"
)

// intended returns the value that a faulty value represents; nil if there is no other. Models write {"filter":"{\"a\":1}"}
// and {"limit":"5"} (pains row 32), "False" as Python does, and one value instead of a list (pains row 167). PHP writes
// [] for an empty object (pains row 166). The text "null" is null only for safe methods: in others null may clear a
// value or omit a filter. wants are the kinds that would be valid. The next round validates the result.
func (h *coercionPass) intended(value []byte, wants jsonscan.Kinds, pointer string) []byte {
	switch kind := jsonscan.KindOf(value); {
	case isEmptyObject(value, wants):
		return []byte("{}")
	case kind == jsonscan.String:
		text := bytes.TrimSpace(jsonscan.Unquote(value))
		if asks(wants, jsonscan.Bool) && (bytes.EqualFold(text, []byte("true")) || bytes.EqualFold(text, []byte("false"))) {
			return bytes.ToLower(text)
		}
		info, err := jsonscan.Scan(text, h.scanning)
		quoted := info.Kind == jsonscan.String // "\"text/plain\"" has quotes of its own
		if err == nil && (info.Kind != jsonscan.Null || h.empties) && (!quoted || wants == 0 || asks(wants, jsonscan.String)) && (asks(wants, info.Kind) || !asks(wants, jsonscan.Array) || !isOne(value)) {
			return text
		}
	}
	if asks(wants, jsonscan.Array) && isOne(value) && pointer != h.body {
		h.wrapped[pointer] = true
		return slices.Concat([]byte("["), value, []byte("]"))
	}
	return nil
}

// asks reports whether a kind is among those that would be valid.
func asks(wants jsonscan.Kinds, kind jsonscan.Kind) bool { return wants != 0 && wants.Has(kind) }

// isEmptyObject reports whether a value is [] instead of an object.
func isEmptyObject(value []byte, wants jsonscan.Kinds) bool {
	return asks(wants, jsonscan.Object) && jsonscan.KindOf(value) == jsonscan.Array && jsonscan.IsEmpty(value)
}

// isOne reports whether a value can be the only one of a list. A text with separators, brackets or quotes may be a list
// in another notation; null, its words and empty values may mean no value, and a list is one already.
func isOne(value []byte) bool {
	switch jsonscan.KindOf(value) {
	case jsonscan.Null, jsonscan.Array:
		return false
	case jsonscan.String:
		text := bytes.TrimSpace(jsonscan.Unquote(value))
		return len(text) > 0 && !bytes.ContainsRune([]byte("[{(<\"'`"), rune(text[0])) && !bytes.ContainsAny(text, ",;|\t\r\n，、；،؛") && !isNothing(text)
	default:
		return !jsonscan.IsEmpty(value)
	}
}

// isNothing reports whether a text is a word for no value, as programs print it.
func isNothing(text []byte) bool {
	for _, word := range []string{"null", "none", "nil", "undefined", "nan"} {
		if bytes.EqualFold(text, []byte(word)) {
			return true
		}
	}
	return false
}

package openapi

import (
	"bytes"
	"slices"

	"drawbridge/openapi/jsonscan"
)

// meant returns what a value stands for whose pointer has a fault; nil if that is nothing else. Models write {"filter":"{\"a\":1}"} and
// {"limit":"5"} (pains row 32), "False" as Python does, and one value for a list (pains row 167). PHP writes [] for an empty object (pains
// row 166). wants is what would fit. Whether the result fits is for the next round to find out.
func (h *coercionPass) meant(value []byte, wants jsonscan.Kinds, pointer string) []byte {
	switch kind := jsonscan.KindOf(value); {
	case isEmptyObject(value, wants):
		return []byte("{}")
	case kind == jsonscan.String:
		text := bytes.TrimSpace(jsonscan.Unquote(value))
		if asks(wants, jsonscan.Bool) && (bytes.EqualFold(text, []byte("true")) || bytes.EqualFold(text, []byte("false"))) {
			return bytes.ToLower(text)
		}
		info, err := jsonscan.Scan(text, h.scanning)
		quoted := info.Kind == jsonscan.String // "\"text/plain\"" has quotes that were meant for it
		if err == nil && (!quoted || wants == 0 || asks(wants, jsonscan.String)) && (asks(wants, info.Kind) || !asks(wants, jsonscan.Array) || !isOne(value)) {
			return text
		}
	}
	if asks(wants, jsonscan.Array) && isOne(value) && pointer != h.body {
		h.wrapped[pointer] = true
		return slices.Concat([]byte("["), value, []byte("]"))
	}
	return nil
}

// asks reports whether a kind is among those that would fit.
func asks(wants jsonscan.Kinds, kind jsonscan.Kind) bool { return wants != 0 && wants.Has(kind) }

// isEmptyObject reports whether a value is [] where an object fits.
func isEmptyObject(value []byte, wants jsonscan.Kinds) bool {
	return asks(wants, jsonscan.Object) && jsonscan.KindOf(value) == jsonscan.Array && isEmpty(value)
}

// isOne reports whether a value can be the only one of a list. A text with commas or brackets may be a list in another notation, null and what
// is empty may be none, and a list is one already.
func isOne(value []byte) bool {
	switch jsonscan.KindOf(value) {
	case jsonscan.Null, jsonscan.Array:
		return false
	case jsonscan.String:
		text := bytes.TrimSpace(jsonscan.Unquote(value))
		return len(text) > 0 && text[0] != '[' && text[0] != '{' && !bytes.ContainsAny(text, ",;\r\n")
	default:
		return !isEmpty(value)
	}
}

package openapi

import (
	"bytes"
	"slices"

	"drawbridge/openapi/jsonscan"
)

// meant returns what a value stands for whose pointer has a fault; nil if that is nothing else. Models write {"filter":"{\"a\":1}"} and
// {"limit":"5"} (pains row 32), "False" as Python does, and one value for a list (pains row 167). PHP writes [] for an empty object (pains
// row 166). The text "null" is null for safe methods alone: in others null may clear a value or leave a filter out. wants is what would
// fit. Whether the result fits is for the next round to find out.
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

// asks reports whether a kind is among those that would fit.
func asks(wants jsonscan.Kinds, kind jsonscan.Kind) bool { return wants != 0 && wants.Has(kind) }

// isEmptyObject reports whether a value is [] where an object fits.
func isEmptyObject(value []byte, wants jsonscan.Kinds) bool {
	return asks(wants, jsonscan.Object) && jsonscan.KindOf(value) == jsonscan.Array && jsonscan.IsEmpty(value)
}

// isOne reports whether a value can be the only one of a list. A text with separators, brackets or quotes may be a list in another
// notation, null, its words and what is empty may be none, and a list is one already.
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

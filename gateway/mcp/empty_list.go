package mcp

import (
	"bytes"

	"drawbridge/openapi/jsonscan"
)

// PHP has one type for lists and maps, and its JSON of an empty one is []. So an empty list counts as an object without members where an object must
// be (pains row 166); a list with elements is refused.

// objectKind returns the kind of a value that must be an object: Object for an empty list too.
func objectKind(value []byte) jsonscan.Kind {
	kind := jsonscan.KindOf(value)
	if kind == jsonscan.Array && isEmptyList(value) {
		return jsonscan.Object
	}
	return kind
}

// isEmptyList reports whether a value that has been scanned is [].
func isEmptyList(value []byte) bool {
	rest, found := bytes.CutPrefix(bytes.TrimSpace(value), []byte("["))
	return found && bytes.HasPrefix(bytes.TrimSpace(rest), []byte("]"))
}

package jsonscan

import "bytes"

// IsEmpty reports whether a JSON value is the empty string, list or object, or zero. False is not empty: it is one of
// two values.
func IsEmpty(value []byte) bool {
	value = bytes.TrimSpace(value)
	switch KindOf(value) {
	case String:
		return len(value) == len(`""`)
	case Number:
		return len(bytes.Trim(value, "-0.")) == 0
	case Array, Object:
		return len(bytes.TrimSpace(value[1:len(value)-1])) == 0
	default:
		return false
	}
}

package openapi

import (
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/schema"
)

// Clients that give every argument that a schema declares fill in null for those without a value, and models "", 0, []
// or {} (pains rows 120 and 127). If such a value is allowed it is sent. If the call would be refused for it, null
// counts as absent, and so do the others if the method is safe: without a filter a safe method returns too much, while
// another one may change too much. In the body of a PATCH, null is intended by the caller, and stays refused (ADR
// 0053).

// isAbsent reports whether the value at a pointer counts as absent: null where h.nulls permits it, and with h.empties the
// values of [jsonscan.IsEmpty] everywhere.
func (h *coercionPass) isAbsent(value []byte, pointer string) bool {
	if jsonscan.KindOf(value) == jsonscan.Null {
		return h.nulls(pointer)
	}
	return h.empties && jsonscan.IsEmpty(value)
}

// keep records the dropped members that turned out to be required, and reports whether there are new ones.
func (h *coercer) keep(result coerced) (found bool) {
	for _, f := range result.left {
		pointer := f.Pointer + jsonscan.PointerTo(f.Missing)
		if f.Missing != "" && !h.kept[pointer] && slices.Contains(result.dropped, pointer) {
			h.kept[pointer], found = true, true
		}
	}
	return found
}

// adviseOmission adds advice to the remaining faults that leaving out the member would resolve. without is the result of
// coercion that drops empty values.
func adviseOmission(args []byte, left []schema.Fault, without coerced) {
	for i := range left {
		f := &left[i]
		if !slices.Contains(without.dropped, f.Pointer) || strings.HasPrefix(f.Message, "unknown ") {
			continue
		}
		switch value := jsonscan.At(args, f.Pointer); {
		case jsonscan.KindOf(value) == jsonscan.Null:
			f.Message += patchNullAdvice
		case jsonscan.IsEmpty(value):
			f.Message += omissionAdvice
		}
	}
}

// omissionAdvice ends the fault of an empty value that the gateway does not drop, since the method is not safe.
const omissionAdvice = "; without a value, leave it out"

package openapi

import (
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/schema"
)

// Clients that give every argument that a schema declares fill in null for those that they have no value for, and models "", 0,
// [] or {} (pains rows 120 and 127). Where such a value is allowed it is sent. Where the call would be refused for it, null counts as
// absent, and so do the others if the method is safe: without a filter a safe method answers too much, while another one may change
// too much. In the body of a PATCH null is what the caller says, and stays refused (ADR 0053).

// isAbsent tells whether the value at a pointer stands for nothing: null where it does, with empties also what [jsonscan.IsEmpty] tells.
func (h *coercionPass) isAbsent(value []byte, pointer string) bool {
	if jsonscan.KindOf(value) == jsonscan.Null {
		return h.nulls(pointer)
	}
	return h.empties && jsonscan.IsEmpty(value)
}

// keep notes which of the dropped members are required, and tells whether any is.
func (h *coercer) keep(result coerced) (found bool) {
	for _, f := range result.left {
		pointer := f.Pointer + jsonscan.PointerTo(f.Missing)
		if f.Missing != "" && !h.kept[pointer] && slices.Contains(result.dropped, pointer) {
			h.kept[pointer], found = true, true
		}
	}
	return found
}

// sayOptional adds to the faults that are left whether leaving the member out would end them. without is the result of coercion that
// drops empty values.
func sayOptional(args []byte, left []schema.Fault, without coerced) {
	for i := range left {
		f := &left[i]
		if !slices.Contains(without.dropped, f.Pointer) || strings.HasPrefix(f.Message, "unknown ") {
			continue
		}
		switch value := jsonscan.At(args, f.Pointer); {
		case jsonscan.KindOf(value) == jsonscan.Null:
			f.Message += leavesAsItIs
		case jsonscan.IsEmpty(value):
			f.Message += mayBeLeftOut
		}
	}
}

// mayBeLeftOut ends the fault of an empty value that the gateway does not drop, since the method is not safe.
const mayBeLeftOut = "; without a value, leave it out"

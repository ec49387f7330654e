package openapi

import (
	"encoding/json"
	"strconv"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/schema"
)

// Limits of coercion: the text in a string may contain strings again, a validator reports a limited number of faults at
// once, and each round costs as much as all other checks together.
const (
	maxCoercions     = 8       // rounds
	maxCoercedBytes  = 1 << 20 // of arguments that are validated in all rounds of one call
	maxCoercedFaults = 500     // of one round: clients that fill in every argument cause hundreds of nulls
)

// coerced is the result for refused arguments.
type coerced struct {
	args    json.RawMessage // nil if faults remain
	dropped []string        // pointers of members that count as absent
	wrapped map[string]bool // pointers of values that became lists
	left    []schema.Fault
	// mistyped are the faults that are tolerated, if the result has arguments.
	mistyped []schema.Fault
}

// coerce replaces faulty values by the values that they clearly represent, at any depth, see intended. Faulty members
// without a value count as absent, see isAbsent. If the result has no arguments, it has the remaining faults; those
// that coercion removes need no correction.
func (o *Operation) coerce(v *schema.Validator, args json.RawMessage, faults []schema.Fault) coerced {
	all := faults
	if len(faults) > schema.MaxFaults {
		all = v.ValidateUpTo(schema.Decode(args), maxCoercedFaults)
	}
	h := coercer{o: o, v: v, empties: o.isSafe(), nulls: o.dropsNull}
	result := h.run(args, all)
	if result.args != nil {
		return result
	}
	result.left = uncoerced(faults, result.left, result.wrapped)
	if !h.empties {
		h.empties, h.nulls = true, func(string) bool { return true }
		adviseOmission(args, result.left, h.run(args, all))
	}
	return result
}

// coercer coerces the arguments of one call.
type coercer struct {
	o       *Operation
	v       *schema.Validator
	empties bool                      // empty values count as absent, not only null
	nulls   func(pointer string) bool // reports whether null at a pointer counts as absent
	kept    map[string]bool           // pointers of members that are not dropped, since they are required
	work    int                       // bytes so far
}

// run coerces, and keeps members that would be missed. All remaining faults are in the result.
func (h *coercer) run(args json.RawMessage, faults []schema.Fault) coerced {
	h.kept = make(map[string]bool)
	for {
		result := h.once(args, faults)
		if result.args != nil || !h.keep(result) {
			return result
		}
	}
}

// once coerces without dropping the members to keep.
func (h *coercer) once(args json.RawMessage, faults []schema.Fault) coerced {
	first := faults
	var dropped []string
	wrapped := make(map[string]bool)
	for range maxCoercions {
		if h.work > maxCoercedBytes/2 {
			break
		}
		h.work += len(args)
		pass := coercionPass{
			scanning: h.o.scanning(), at: make(map[string]jsonscan.Kinds, len(faults)), above: make(map[string]bool, len(faults)),
			empties: h.empties, nulls: h.nulls, kept: h.kept, dropped: dropped, wrapped: wrapped, body: h.o.wholeBody(), bytes: h.o.bytesPointer(),
		}
		for _, f := range faults {
			pass.at[f.Pointer] |= f.Wants
			for p := f.Pointer; p != ""; p = p[:strings.LastIndexByte(p, '/')] {
				pass.above[p] = true
			}
		}
		args = pass.append(nil, args, "")
		if !pass.changed {
			if h.o.tolerates(faults) {
				return coerced{args: args, dropped: dropped, mistyped: faults}
			}
			break
		}
		if _, err := jsonscan.Scan(args, h.o.scanning()); err != nil {
			return coerced{left: first} // too deep, all put together
		}
		dropped = pass.dropped
		if faults = h.v.ValidateUpTo(schema.Decode(args), maxCoercedFaults); len(faults) == 0 {
			return coerced{args: args, dropped: dropped}
		}
	}
	return coerced{dropped: dropped, wrapped: wrapped, left: faults}
}

// uncoerced returns the first faults for which some remain at or below their pointers. If a value had the wrong type,
// and its content has the right one, the faults of the content are reported. If the type was right, and that of the
// content is not, the first fault is reported: a text of ten digits that matches no pattern is not a number.
func uncoerced(first, left []schema.Fault, wrapped map[string]bool) []schema.Fault {
	var kept []schema.Fault
	mistyped := make(map[string]bool)
	for _, f := range first {
		mistyped[f.Pointer] = mistyped[f.Pointer] || f.Keyword == "type"
	}
	for _, f := range first {
		var below []schema.Fault
		worse := false
		for _, l := range left {
			if l.Pointer == f.Pointer || strings.HasPrefix(l.Pointer, f.Pointer+"/") {
				below = append(below, l)
				worse = worse || l.Pointer == f.Pointer && (l.Keyword == "type" || l.Keyword == "enum") && !mistyped[f.Pointer]
			}
		}
		switch {
		case len(below) == 0:
		case worse:
			kept = append(kept, f)
		case strings.HasPrefix(f.Message, "expected ") && !wrapped[f.Pointer]:
			kept = append(kept, below...)
		default:
			kept = append(kept, f)
		}
	}
	if kept == nil {
		return first
	}
	return kept
}

// coercionPass replaces values in one pass over the arguments.
type coercionPass struct {
	scanning jsonscan.Options
	at       map[string]jsonscan.Kinds // pointers of faults, with the kinds that would be valid there
	above    map[string]bool           // those and all of their ancestors
	empties  bool                      // empty values count as absent, not only null
	nulls    func(pointer string) bool
	kept     map[string]bool // pointers of members that are not dropped
	bytes    string          // pointer of the argument that is a body of bytes; "" if there is none
	dropped  []string        // pointers of the dropped members
	wrapped  map[string]bool // pointers of values that became lists
	changed  bool
	body     string // pointer of the argument that is the request body; a value made into a list is not a body
}

func (h *coercionPass) append(dst, value []byte, pointer string) []byte {
	wants, faulty := h.at[pointer]
	if faulty {
		if text := h.intended(value, wants, pointer); text != nil {
			h.changed = true
			return append(dst, text...)
		}
	}
	switch kind := jsonscan.KindOf(value); {
	case pointer != "" && !h.above[pointer]:
		return append(dst, value...)
	case kind == jsonscan.Object:
		dst = append(dst, '{')
		for name, member := range jsonscan.Members(value) {
			below := pointer + jsonscan.PointerTo(string(name))
			if wants, faulty := h.at[below]; faulty && !h.kept[below] && h.isAbsent(member, below) && !isEmptyObject(member, wants) {
				h.dropped, h.changed = append(h.dropped, below), true
				continue
			}
			if dst[len(dst)-1] != '{' {
				dst = append(dst, ',')
			}
			dst = append(jsonscan.AppendString(dst, name), ':')
			dst = h.append(dst, member, below)
		}
		return append(dst, '}')
	case kind == jsonscan.Array && h.bytes != "" && pointer == h.bytes && faulty:
		text, ok := base64OfList(value)
		h.changed = h.changed || ok
		return append(dst, text...)
	case kind == jsonscan.Array:
		dst = append(dst, '[')
		i := 0
		for item := range jsonscan.Elements(value) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = h.append(dst, item, pointer+"/"+strconv.Itoa(i))
			i++
		}
		return append(dst, ']')
	}
	return append(dst, value...)
}

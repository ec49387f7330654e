package openapi

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"drawbridge/openapi/httpmethod"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/mediatype"
	"drawbridge/openapi/schema"
)

// The treatment of null in a request body (ADR 0053). It clears a member in most services, and clients fill it in for
// members without a value; the two can't be distinguished. So it is sent if the schema and the format of the body allow
// it, and never dropped silently: a PATCH, which would change nothing or the wrong thing, is refused, and the result of
// other requests lists the omitted members.

// InBody reports whether a pointer into the arguments refers to a part of the request body.
func (o *Operation) InBody(pointer string) bool {
	if o.body == nil {
		return false
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	i, known := o.index[jsonscan.UnescapeToken(name)]
	return !known || o.arguments[i].place >= inBody
}

// wholeBody returns the pointer of the argument that is the request body, or "".
func (o *Operation) wholeBody() string {
	if o.body == nil || o.body.form != formWhole {
		return ""
	}
	return jsonscan.PointerTo(o.arguments[o.body.first].name)
}

// isMergePatch reports whether a content is a merge patch (RFC 7396).
func (ct *content) isMergePatch() bool { return mediatype.Essence(ct.media) == mergePatch }

// dropsNull reports whether null at a pointer counts as absent if the schema refuses it.
func (o *Operation) dropsNull(pointer string) bool {
	return o.Method != http.MethodPatch || o.isSafe() || !o.InBody(pointer)
}

// WithSafety returns the operation with a safety that overrides that of its method: whether a call changes nothing.
func (o *Operation) WithSafety(safe bool) *Operation {
	own := *o
	own.safety = &safe
	return &own
}

// isSafe reports whether a call changes nothing.
func (o *Operation) isSafe() bool {
	if o.safety != nil {
		return *o.safety
	}
	return httpmethod.IsSafe(o.Method)
}

// unwritten returns the pointers of the nulls in checked arguments that the format of the body can't express.
func (o *Operation) unwritten(args []byte) (pointers []string) {
	if o.body == nil || o.body.codec.unwritten == nil || !bytes.Contains(args, []byte("null")) {
		return nil
	}
	find := func(pointer, name string, value []byte) {
		for _, below := range o.body.codec.unwritten(name, value) {
			pointers = append(pointers, pointer+below)
		}
	}
	switch o.body.form {
	case formWhole:
		a := &o.arguments[o.body.first]
		value, pointer := jsonscan.Lookup(args, a.name), jsonscan.PointerTo(a.name)
		if jsonscan.KindOf(value) != jsonscan.Object { // a list, or a body that is already encoded
			find(pointer, "", value)
			return pointers
		}
		for name, member := range jsonscan.Members(value) {
			find(pointer+jsonscan.PointerTo(string(name)), string(name), member)
		}
	case formMembers:
		for i := o.body.first; i < len(o.arguments); i++ {
			a := &o.arguments[i]
			if value := jsonscan.Lookup(args, a.name); value != nil {
				find(jsonscan.PointerTo(a.name), a.wire, value)
			}
		}
	default:
		for name, value := range jsonscan.Members(args) {
			wireName, ok := o.body.rename[string(name)]
			if !ok {
				wireName = string(name)
			}
			find(jsonscan.PointerTo(string(name)), wireName, value)
		}
	}
	return pointers
}

// settleNulls decides on the nulls of checked arguments: dropped are those that count as absent so far. It returns all
// that do, or the faults of a request that would not express the caller's arguments.
func (o *Operation) settleNulls(args []byte, dropped []string) (all []string, faults []schema.Fault) {
	if faults := o.emptiedFilters(args, dropped); faults != nil {
		return nil, faults
	}
	lost := o.unwritten(args)
	if lost != nil {
		if o.Method == http.MethodPatch && !o.isSafe() {
			for _, pointer := range lost {
				faults = append(faults, schema.Fault{Pointer: pointer, Message: "null can't be written as " + mediatype.Essence(o.body.media) + patchNullAdvice})
			}
			return nil, faults
		}
		dropped = slices.Concat(dropped, lost)
	}
	if len(dropped) == 0 || o.body == nil || o.isSafe() || !o.isEmptied(args, dropped) {
		return dropped, nil
	}
	for _, pointer := range dropped {
		if o.InBody(pointer) {
			faults = append(faults, schema.Fault{Pointer: pointer, Message: "null is not allowed here, and without it nothing is left of the request body; give a value, or leave it out"})
		}
	}
	return nil, faults
}

// emptiedFilters returns the faults of nulls outside the body whose object would become empty, if the method changes
// something: without a filter it may change too much. A null argument itself is absent.
func (o *Operation) emptiedFilters(args []byte, dropped []string) (faults []schema.Fault) {
	if len(dropped) == 0 || o.isSafe() {
		return nil
	}
	for _, pointer := range dropped {
		above := pointer[:strings.LastIndexByte(pointer, '/')]
		if above != "" && !o.InBody(pointer) && jsonscan.IsEmpty(jsonscan.At(args, above)) {
			faults = append(faults, schema.Fault{Pointer: pointer, Message: "null is not allowed here, and without it nothing is left of the object; give a value, or leave it out"})
		}
	}
	return faults
}

// patchNullAdvice ends the fault of null in a PATCH.
const patchNullAdvice = "; leave it out to leave the value as it is"

// isEmptied reports whether the body is empty without its dropped or unwritten members.
func (o *Operation) isEmptied(args []byte, dropped []string) bool {
	within := o.wholeBody()
	gone := make(map[string]bool)
	for _, pointer := range dropped {
		if !o.InBody(pointer) {
			continue
		}
		if rest, ok := strings.CutPrefix(pointer, within); ok && strings.LastIndexByte(rest, '/') <= 0 {
			gone[pointer] = true // the body itself, or a member of it
		}
	}
	if len(gone) == 0 {
		return false
	}
	left := func(pointer string) bool { return !gone[pointer] && o.InBody(pointer) }
	value := args
	if o.body.form == formWhole {
		if value = jsonscan.At(args, within); value == nil || gone[within] {
			return true
		}
		if jsonscan.KindOf(value) != jsonscan.Object {
			return false
		}
	}
	for name := range jsonscan.Members(value) {
		if left(within + jsonscan.PointerTo(string(name))) {
			return false
		}
	}
	return true
}

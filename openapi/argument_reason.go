package openapi

import (
	"encoding/json"
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/schema"
	"drawbridge/openapi/wire"
)

// A value that can't be sent is refused by the schema, so that clients know before the call. The schema uses patterns
// and alternatives for that; the errors of the encoders are clearer.

// reworded returns the message of a fault in the words of the encoder of the value.
func (o *Operation) reworded(args json.RawMessage, f schema.Fault) string {
	if name, ok := topLevel(f.Pointer); ok && (f.Keyword == "pattern" || f.Keyword == "minLength") {
		if i, ok := o.index[name]; ok {
			if err := o.arguments[i].refuses(jsonscan.Lookup(args, name)); err != nil {
				return reasonOf(err)
			}
		}
	}
	if o.body != nil && o.body.codec.files && f.Pointer != "" {
		pointer := strings.TrimSuffix(f.Pointer, "/"+wire.FileMediaType)
		if reason := wire.FileFault(jsonscan.At(args, pointer)); reason != "" {
			return reason
		}
	}
	if f.Pointer != "/body" && o.mistypes == nil && strings.HasPrefix(f.Message, "expected string, got ") {
		if kind := jsonscan.KindOf(jsonscan.At(args, f.Pointer)); (kind == jsonscan.Object || kind == jsonscan.Array) && o.Lenient(nil).mistyped(f) {
			return f.Message + lenienceAdvice
		}
	}
	return f.Message
}

// lenienceAdvice ends the fault of an object or list where the document declares a text: that some services take what they don't declare is
// known to their operators.
const lenienceAdvice = " (if the service takes it, the operator of the gateway can allow it with validation: lenient)"

// unsendable adds the faults of values that their encoders refuse to those of the schema, so that a call is corrected
// once.
func (o *Operation) unsendable(args json.RawMessage, faults []Fault) []Fault {
	known := len(faults)
	for i := range o.arguments {
		a := &o.arguments[i]
		if slices.ContainsFunc(faults, func(f Fault) bool { _, ok := below(f.Pointer, a.name); return ok }) {
			continue
		}
		if err := a.refuses(jsonscan.Lookup(args, a.name)); err != nil {
			faults = append(faults, Fault{Pointer: jsonscan.PointerTo(a.name), Message: reasonOf(err)})
		}
	}
	if len(faults) > known {
		slices.SortStableFunc(faults, func(a, b Fault) int { return strings.Compare(a.Pointer, b.Pointer) })
	}
	return faults
}

// refuses returns the reason why a text can't be the value of a path or header parameter; nil if it can. value may be
// nil.
func (a *argument) refuses(value []byte) (err error) {
	if jsonscan.KindOf(value) != jsonscan.String {
		return nil
	}
	switch a.place {
	case inPath:
		_, err = a.encoder.AppendPath(nil, value)
	case inHeader:
		_, err = a.encoder.HeaderValue(value)
	case inQuery, inCookie, inBody, inMember:
	}
	return err
}

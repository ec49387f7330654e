package openapi

import (
	"encoding/json"

	"drawbridge/openapi/schema"
)

// shown are the schemas of an operation in the portable profile.
type shown struct {
	input, output json.RawMessage
}

// Published returns the schemas as clients see them: in profile p, or in the one that the API was compiled for if that
// is the portable one. Arguments and answers are checked against Input and Output whatever is published. A profile that
// the API was not compiled for is worked out on every call, so keep what you make of it.
func (o *Operation) Published(p Profile) (input, output json.RawMessage) {
	switch {
	case o.portable != nil:
		return o.portable.input, o.portable.output
	case p == ProfilePortable:
		s := o.inPortable(0)
		return s.input, s.output
	}
	return o.Input, o.Output
}

// inPortable makes the portable schemas; the input is of at most limit bytes, 0 standing for the default, as far as it
// can be reduced.
func (o *Operation) inPortable(limit int) *shown {
	s := &shown{input: schema.Portable(o.Input, limit)}
	if o.Output != nil {
		s.output = schema.PortableOutput(o.Output)
	}
	return s
}

func (s *shown) size() int {
	if s == nil {
		return 0
	}
	return len(s.input) + len(s.output)
}

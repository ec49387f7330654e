package openapi

import (
	"bytes"
	"encoding/json"

	"drawbridge/openapi/jsonschema"
	"drawbridge/openapi/schema"
)

// shown are the schemas of an operation in a profile other than the full one.
type shown struct {
	profile       Profile
	limit         int             // of the input, in bytes; 0 stands for the default
	input, output json.RawMessage // nil: of the compatible profile, the input is that of schema.Open, the output that of the operation
}

// Published returns the schemas as clients see them: in profile p, or in the one that the API was compiled for if that
// is more reduced. Arguments and answers are checked against Input and Output whatever is published. A profile that
// the API was not compiled for is worked out on every call, so keep what you make of it.
func (o *Operation) Published(p Profile) (input, output json.RawMessage) {
	s := o.shown
	switch {
	case s == nil && p == ProfileFull:
		return o.Input, o.Output
	case s == nil || p > s.profile:
		s = o.in(p, 0, o.inputSchema)
	}
	input, output = s.input, s.output
	if s.profile == ProfileCompatible {
		output = o.Output
		if input == nil {
			input = schema.Open(o.Input)
		}
	}
	return input, output
}

// Approved returns the schemas that an approval of the tool covers: those of the full profile, or of the portable one if the API was
// compiled for that. The compatible profile follows from the full one, and an approval survives a change between the two.
func (o *Operation) Approved() (input, output json.RawMessage) {
	if o.shown != nil && o.shown.profile == ProfilePortable {
		return o.shown.input, o.shown.output
	}
	return o.Input, o.Output
}

// in makes the schemas of a profile; the input is of at most limit bytes, 0 standing for the default, as far as it
// can be reduced. input returns the parsed schema of the arguments. The result is nil for the full profile.
func (o *Operation) in(p Profile, limit int, input func() *jsonschema.Schema) *shown {
	s := &shown{profile: p, limit: limit}
	switch p {
	case ProfileFull:
		return nil
	case ProfileCompatible:
		// Most schemas differ at the root alone, which is cheaper to write again than to keep.
		if parsed := input(); !schema.IsCompatible(parsed, limit) {
			if compatible := schema.Compatible(parsed, limit); !bytes.Equal(compatible, schema.Open(o.Input)) {
				s.input = compatible
			}
		}
	case ProfilePortable:
		s.input = schema.Portable(input(), limit)
		if o.Output != nil {
			s.output = schema.PortableOutput(o.Output)
		}
	}
	return s
}

// showLike publishes the schemas of an operation that was made of another in the profile of that, with an input that is larger by at
// most more bytes.
func (o *Operation) showLike(other *Operation, more int) {
	s := other.shown
	switch {
	case s == nil:
	case s.profile == ProfilePortable:
		o.shown = o.in(s.profile, len(s.input)+more, o.inputSchema)
	default:
		limit := s.limit
		if limit > 0 {
			limit += more
		}
		o.shown = o.in(s.profile, limit, o.inputSchema)
	}
}

func (s *shown) size() int {
	if s == nil {
		return 0
	}
	return len(s.input) + len(s.output)
}

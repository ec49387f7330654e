package drift

import (
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
	"drawbridge/openapi/text"
)

// Kind is the kind of a difference.
type Kind string

// The kinds of differences. Those of arguments are of calls that the gateway refused, except [ArgumentSent].
const (
	ArgumentType    Kind = "argument_type"     // of another type
	ArgumentSent    Kind = "argument_sent"     // of another type, and sent since the validation is lenient
	ArgumentMissing Kind = "argument_missing"  // required
	ArgumentUnknown Kind = "argument_unknown"  // not declared
	ArgumentValue   Kind = "argument_value"    // of the declared type, outside its enumeration, pattern or bounds
	AnswerType      Kind = "answer_type"       // a value of another type
	AnswerMissing   Kind = "answer_missing"    // a required member
	AnswerStatus    Kind = "answer_status"     // not declared
	AnswerMediaType Kind = "answer_media_type" // not declared
)

// Kinds returns all values of [Kind].
func Kinds() []Kind {
	return []Kind{ArgumentType, ArgumentSent, ArgumentMissing, ArgumentUnknown, ArgumentValue, AnswerType, AnswerMissing, AnswerStatus, AnswerMediaType}
}

// OfAnswer reports whether a difference is that of an answer.
func (k Kind) OfAnswer() bool { return strings.HasPrefix(string(k), "answer_") }

// Difference is one difference of a call or an answer. Two of the same kind at the same place are equal.
type Difference struct {
	Kind Kind `json:"kind"`
	// Pointer is a JSON Pointer (RFC 6901) into the arguments or the answer, in which "*" stands for any element of an array and any
	// member that is not declared. It is "" for the whole, and for a status or media type.
	Pointer string `json:"pointer,omitempty"`
	// Declared is the type that the document declares, such as "string or null"; "" if the kind says it all.
	Declared string `json:"declared,omitempty"`
	// Got is the type, status or media type that came; "" if the kind says it all.
	Got string `json:"got,omitempty"`
}

// String describes the difference in a phrase.
func (d Difference) String() string {
	switch d.Kind {
	case ArgumentType:
		return "declared " + d.Declared + ", refused as " + d.Got
	case ArgumentSent:
		return "declared " + d.Declared + ", sent as " + d.Got
	case ArgumentMissing:
		return "declared required, refused without it"
	case ArgumentUnknown:
		return "not declared, refused"
	case ArgumentValue:
		return "refused for its value"
	case AnswerType:
		return "declared " + d.Declared + ", answered as " + d.Got
	case AnswerMissing:
		return "declared required, missing in the answer"
	case AnswerStatus:
		return "status " + d.Got + " is not declared"
	case AnswerMediaType:
		return "media type " + d.Got + " is not declared"
	}
	return string(d.Kind)
}

// Any is the token of a pattern for an element of an array, or a member that is not declared.
const Any = "*"

// maxPointer is the maximum size of a pattern in bytes.
const maxPointer = 240

// pattern is a pattern while it is made.
type pattern struct{ text strings.Builder }

func (p *pattern) add(token string) {
	p.text.WriteByte('/')
	if token != Any {
		token = jsonscan.EscapeToken(token)
	}
	p.text.WriteString(token)
}

func (p *pattern) String() string { return text.Truncate(p.text.String(), maxPointer) }

// InSchema returns the pattern of a pointer into a value that is described by a published schema, and the schema at that place; nil if there
// is none. The pointer may be a pattern.
func InSchema(s *jsonschema.Schema, pointer string) (string, *jsonschema.Schema) {
	var p pattern
	for _, token := range jsonscan.Tokens(pointer) {
		members := s.Members()
		if i := slices.IndexFunc(members, func(m jsonschema.Member) bool { return m.Name == token }); i >= 0 {
			p.add(token)
			s = members[i].Schema
			continue
		}
		p.add(Any)
		s = element(s)
	}
	return p.String(), s
}

// element returns the schema of the elements of an array, or of the members without a name of their own; nil if there is none.
func element(s *jsonschema.Schema) *jsonschema.Schema {
	for part := range s.Applied() {
		for _, keyword := range []string{"items", "additionalProperties"} {
			if below := part.Schema(keyword); below.IsObject() {
				return below
			}
		}
	}
	return nil
}

// InShape is [InSchema] for a value that is described by a shape, as the values of answers are.
func InShape(s *jsonscan.Shape, pointer string) (string, *jsonscan.Shape) {
	var p pattern
	for _, token := range jsonscan.Tokens(pointer) {
		if s == nil {
			p.add(Any)
			continue
		}
		i := slices.IndexFunc(s.Properties, func(m jsonscan.Property) bool { return m.Name == token })
		if i >= 0 {
			p.add(token)
			s = s.Properties[i].Shape
			continue
		}
		p.add(Any)
		s = s.Items
	}
	return p.String(), s
}

// Type returns the name of the types of a schema without null, unless that is the only one.
func Type(kinds jsonscan.Kinds, integer bool) string {
	if more := kinds &^ jsonscan.Of(jsonscan.Null); more != 0 {
		kinds = more
	}
	name := kinds.String()
	if integer {
		name = strings.Replace(name, "number", "integer", 1)
	}
	return name
}

package openapi

import (
	"slices"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/mediatype"
	"drawbridge/openapi/schema"
)

// Lenient returns the operation that also sends members of a JSON body whose values have another type than the document declares: some
// documents declare less than their services take. The arguments in strict must have the declared types. Everything else is checked as
// usual: unknown members, missing ones, values of an enum, and all parameters. The operation itself is returned if it has no JSON body.
//
// Members at any depth that have the name of an argument in strict keep their type, too.
func (o *Operation) Lenient(strict []string) *Operation {
	if o.body == nil || !mediatype.IsJSON(o.body.media) {
		return o
	}
	lenient := *o
	lenient.mistypes = func(name string) bool { return !slices.Contains(strict, name) }
	return &lenient
}

// IsLenient reports whether members of the body may have another type than the document declares.
func (o *Operation) IsLenient() bool { return o.mistypes != nil }

// tolerates reports whether a lenient operation sends the arguments in spite of some faults.
func (o *Operation) tolerates(faults []schema.Fault) bool {
	return len(faults) > 0 && !slices.ContainsFunc(faults, func(f schema.Fault) bool { return !o.mistyped(f) })
}

// mistyped reports whether a fault is that a member of the body has another type, and that is tolerated.
func (o *Operation) mistyped(f schema.Fault) bool {
	if o.mistypes == nil || f.Keyword != "type" || f.Pointer == "" {
		return false
	}
	tokens := jsonscan.Tokens(f.Pointer)
	if slices.ContainsFunc(tokens, func(token string) bool { return !o.mistypes(token) }) {
		return false
	}
	if o.body.form == formRoot {
		return true
	}
	i, ok := o.index[tokens[0]]
	if !ok {
		return false
	}
	place := o.arguments[i].place
	return place == inMember || place == inBody && len(tokens) > 1 // not the body as a whole
}

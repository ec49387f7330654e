package openapi

import "slices"

// AcceptsArgument reports whether there may be an argument of that name. The members of a body that is described by alternatives are not
// known, so any name is accepted for one.
func (o *Operation) AcceptsArgument(argument string) bool {
	if _, ok := o.index[argument]; ok {
		return true
	}
	if o.body == nil || o.body.form != formRoot {
		return false
	}
	input := o.inputSchema()
	if input.Property(argument) != nil || slices.ContainsFunc([]string{"allOf", "anyOf", "oneOf", "$ref", "if", "patternProperties"}, input.Has) {
		return true
	}
	more := input.Schema("additionalProperties")
	return more != nil && !more.Never()
}

// HasBody reports whether requests have a body.
func (o *Operation) HasBody() bool { return o.body != nil }

// ForbidsMembers reports whether the schema of the request body forbids members that it does not declare (additionalProperties: false).
func (o *Operation) ForbidsMembers() bool { return o.body != nil && o.body.closed }

// Required returns the names of the arguments that every call needs, as the schema of the arguments lists them.
func (o *Operation) Required() []string { return o.inputSchema().Required() }

// Names returns the names of all arguments that the input schema declares or requires at its top level, also in alternatives and under
// conditions. It reads the schema each time, so keep what you make of it.
func (o *Operation) Names() map[string]bool {
	names := map[string]bool{}
	for part := range o.inputSchema().Applied() {
		for _, p := range part.Parts("properties") {
			names[p.Name] = true
		}
		for _, name := range part.Required() {
			names[name] = true
		}
	}
	return names
}

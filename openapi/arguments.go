package openapi

import (
	"drawbridge/openapi/jsonscan"
)

// Takes tells whether there is an argument of that name. Of a body that is described by alternatives it is not known which
// members it may have, so every name will do.
func (o *Operation) Takes(argument string) bool {
	if _, ok := o.index[argument]; ok {
		return true
	}
	if o.body == nil || o.body.form != formRoot {
		return false
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf", "$ref", "if", "patternProperties"} {
		if jsonscan.Lookup(o.Input, keyword) != nil {
			return true
		}
	}
	if jsonscan.Lookup(jsonscan.Lookup(o.Input, "properties"), argument) != nil {
		return true
	}
	switch more := jsonscan.Lookup(o.Input, "additionalProperties"); jsonscan.KindOf(more) {
	case jsonscan.Bool:
		return string(more) == "true"
	case jsonscan.Object:
		return true
	default:
		return false
	}
}

// Required returns the names of the arguments that every call needs, as the schema of the arguments lists them.
func (o *Operation) Required() (names []string) {
	for name := range jsonscan.Elements(jsonscan.Lookup(o.Input, "required")) {
		names = append(names, string(jsonscan.Unquote(name)))
	}
	return names
}

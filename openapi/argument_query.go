package openapi

import (
	"strings"

	"drawbridge/openapi/jsonscan"
)

// AcceptsArgument reports whether there may be an argument of that name. The members of a body that is described by alternatives are not
// known, so any name is accepted for one.
func (o *Operation) AcceptsArgument(argument string) bool {
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

// Names returns the names of all arguments that the input schema declares or requires at its top level, also in alternatives and under
// conditions. It reads the schema each time, so keep what you make of it.
func (o *Operation) Names() map[string]bool {
	names, seen, definitions := map[string]bool{}, map[*byte]bool{}, map[string][]byte{}
	for name, schema := range jsonscan.Members(jsonscan.Lookup(o.Input, "$defs")) {
		definitions[string(name)] = schema
	}
	var visit func(schema []byte)
	visit = func(schema []byte) {
		if jsonscan.KindOf(schema) != jsonscan.Object || seen[&schema[0]] {
			return
		}
		seen[&schema[0]] = true
		for keyword, value := range jsonscan.Members(schema) {
			switch string(keyword) {
			case "properties":
				for name := range jsonscan.Members(value) {
					names[string(name)] = true
				}
			case "required":
				for name := range jsonscan.Elements(value) {
					names[string(jsonscan.Unquote(name))] = true
				}
			case "allOf", "anyOf", "oneOf":
				for part := range jsonscan.Elements(value) {
					visit(part)
				}
			case "if", "then", "else":
				visit(value)
			case "dependentSchemas":
				for _, part := range jsonscan.Members(value) {
					visit(part)
				}
			case "$ref":
				if name, ok := strings.CutPrefix(string(jsonscan.Unquote(value)), "#/$defs/"); ok {
					visit(definitions[name])
				}
			}
		}
	}
	visit(o.Input)
	return names
}

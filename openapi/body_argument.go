package openapi

import (
	"encoding/json"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/schema"
)

// A body with a member named "body", such as the text of a comment, has two readings of an argument of that name: models
// give the text, and clients that know the tool as it was give the whole object (ADR 0056). Arguments that are refused are
// read the other way, and count if they are accepted so. Arguments that are accepted as they are have one reading only.

// bodyOtherwise reads refused arguments the other way. The result has no arguments if there is no other reading, or if that is
// refused too.
func (o *Operation) bodyOtherwise(v *schema.Validator, args json.RawMessage) coerced {
	var other json.RawMessage
	switch value := jsonscan.Lookup(args, "body"); {
	case o.body == nil || value == nil || !o.hasBodyMember():
	case o.body.form == formWhole:
		if jsonscan.KindOf(value) != jsonscan.Object {
			other = o.wrapped(args)
		}
	case jsonscan.KindOf(value) == jsonscan.Object:
		other = o.unwrapped(args, value)
	}
	if other == nil {
		return coerced{}
	}
	if _, err := jsonscan.Scan(other, o.scanning()); err != nil { // two members of one name, or too deep
		return coerced{}
	}
	faults := v.Validate(schema.Decode(other))
	if len(o.otherwiseSpelled(other)) > 0 || len(o.hiddenGiven(other, faults)) > 0 {
		return coerced{}
	}
	if len(faults) == 0 {
		return coerced{args: other}
	}
	return o.coerce(v, other, faults)
}

// hasBodyMember reports whether the body declares a member named "body".
func (o *Operation) hasBodyMember() bool {
	switch o.body.form {
	case formMembers:
		i, ok := o.index["body"]
		return ok && o.arguments[i].place == inMember
	case formRoot:
		return o.body.renamed["body"] == "" && declares(o.inputSchema(), "body")
	default:
		return o.bodyArgument() == "body" && declares(o.inputSchema().Property("body"), "body")
	}
}

// wrapped returns arguments with those that are none of the operation's, and "body" itself, as members of "body".
func (o *Operation) wrapped(args []byte) []byte {
	dst, body := []byte{'{'}, []byte{'{'}
	for name, value := range jsonscan.Members(args) {
		if _, ok := o.index[string(name)]; ok && string(name) != "body" {
			dst = jsonscan.AppendMember(dst, string(name), value)
		} else {
			body = jsonscan.AppendMember(body, string(name), value)
		}
	}
	return append(jsonscan.AppendMember(dst, "body", append(body, '}')), '}')
}

// unwrapped returns arguments with the members of the body under the names of their arguments instead of "body". It is nil if a
// member has none.
func (o *Operation) unwrapped(args, body []byte) []byte {
	names := make(map[string]string)
	for i := range o.arguments {
		if a := &o.arguments[i]; a.place == inMember {
			names[a.wire] = a.name
		}
	}
	dst := []byte{'{'}
	for name, value := range jsonscan.Members(args) {
		if string(name) != "body" {
			dst = jsonscan.AppendMember(dst, string(name), value)
		}
	}
	for name, value := range jsonscan.Members(body) {
		to, ok := names[string(name)]
		if o.body.form == formRoot {
			if to, ok = o.body.renamed[string(name)]; !ok {
				to, ok = string(name), true
			}
		}
		if !ok {
			return nil
		}
		dst = jsonscan.AppendMember(dst, to, value)
	}
	return append(dst, '}')
}

package schema

import (
	"cmp"
	"slices"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
)

// below returns a value for a member or item of the value that is being made, of which token is the last of its pointer.
func (x *exampler) below(token string, schemas []*jsonschema.Schema, name string, depth, nth int) ([]byte, bool) {
	near := x.near
	x.near = jsonscan.At(near, jsonscan.PointerTo(token))
	x.path = append(x.path, token)
	text, ok := x.value(schemas, name, depth, nth)
	x.path = x.path[:len(x.path)-1]
	x.near = near
	return text, ok
}

// wanted returns the tokens below the value that is being made that the options ask for.
func (x *exampler) wanted() (tokens []string) {
	at := len(x.path)
	for _, path := range x.options.Also {
		if len(path) > at && slices.Equal(path[:at], x.path) && !slices.Contains(tokens, path[at]) {
			tokens = append(tokens, path[at])
		}
	}
	return tokens
}

// wants reports whether the options ask for a member of the value that is being made.
func (x *exampler) wants(name string) bool { return slices.Contains(x.wanted(), name) }

// isWanted reports whether the options ask for the value itself that is being made, for something below it, or for what it is a member of.
func (x *exampler) isWanted() bool {
	return slices.ContainsFunc(x.options.Also, func(path []string) bool {
		at := len(x.path)
		if len(path) == at-1 {
			at--
		}
		return len(path) >= at && slices.Equal(path[:at], x.path[:at])
	})
}

// shows reports whether a value that the document gives shows the members that the options ask for. null shows nothing.
func (x *exampler) shows(text []byte) bool {
	if jsonscan.KindOf(text) == jsonscan.Null {
		return !x.isWanted()
	}
	at := len(x.path)
	return !slices.ContainsFunc(x.options.Also, func(path []string) bool {
		if len(path) <= at || !slices.Equal(path[:at], x.path) {
			return false
		}
		value := text
		for _, token := range path[at:] {
			if jsonscan.KindOf(value) == jsonscan.Array {
				token = "0" // each item shows what belongs there
			}
			value = jsonscan.At(value, jsonscan.PointerTo(token))
		}
		return value == nil
	})
}

// likely moves the type that the value near has to the front.
func (x *exampler) likely(all []types) []types {
	kind := x.nearType()
	slices.SortStableFunc(all, func(a, b types) int { return cmp.Compare(far(a&kind == 0), far(b&kind == 0)) })
	return all
}

// nearType returns the type of the value near; 0 if there is none or it is null, which says nothing of the type that is meant.
func (x *exampler) nearType() types {
	if kind := jsonscan.KindOf(x.near); kind != jsonscan.Null {
		return typesNamed([]string{kind.String()})
	}
	return 0
}

func far(is bool) int {
	if is {
		return 1
	}
	return 0
}

// nearest orders alternatives by their distance to the value near: one of its type first, then one with its discriminator, that has the members
// that the options ask for, and that shares most members with it.
func (x *exampler) nearest(all []*jsonschema.Schema) []*jsonschema.Schema {
	if x.near == nil && !x.isWanted() || len(all) > maxNearest {
		return all
	}
	type ranked struct {
		schema   *jsonschema.Schema
		distance int
	}
	x.steps -= len(all) / 2
	list := make([]ranked, len(all))
	for i, s := range all {
		list[i] = ranked{s, x.distance(s)}
	}
	slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Compare(a.distance, b.distance) })
	ordered := make([]*jsonschema.Schema, len(all))
	for i := range list {
		ordered[i] = list[i].schema
	}
	return ordered
}

// maxNearest is the number of alternatives that are compared with a value; of more, the first are tried.
const maxNearest = 100

// Weights of the differences between an alternative and the value near.
const (
	farType     = 1 << 20
	farChoice   = 1 << 10 // another value of a discriminator
	farMember   = 1 << 5  // a member that is asked for, and not declared
	farUnknown  = 1 << 1  // a member of the value that is not declared
	farRequired = 1       // a member that is required, and missing in the value
)

// distance returns how far an alternative is from the value near.
func (x *exampler) distance(s *jsonschema.Schema) (distance int) {
	if s.Never() {
		return farType * 2
	}
	allowed := s.Allowed()
	if len(allowed) == 1 && allowed[0] == "null" && x.isWanted() {
		return farType * 2
	}
	if kind := x.nearType(); kind != 0 && len(allowed) > 0 && typesNamed(allowed)&kind == 0 {
		distance += farType
	}
	o := objectOf(s)
	for name, value := range jsonscan.Members(x.near) {
		declared := o.members[string(name)]
		if declared == nil {
			distance += farUnknown
		}
		for _, of := range declared {
			if fixed := fixedIn(of); len(fixed) > 0 && !slices.Contains(fixed, string(jsonscan.AppendCompact(nil, value))) {
				distance += farChoice
				break
			}
		}
	}
	wanted := x.wanted()
	for name := range o.required {
		if !slices.Contains(wanted, name) && jsonscan.Lookup(x.near, name) == nil {
			distance += farRequired
		}
	}
	for _, name := range wanted {
		if o.members[name] == nil && !o.open {
			distance += farMember
		}
	}
	return distance
}

// objectMembers are the members of an alternative, by which it is compared with a value.
type objectMembers struct {
	members  map[string][]*jsonschema.Schema // all that declare a member; none for one that is only required
	required map[string]bool
	open     bool // it has items, or members with any name
}

func objectOf(s *jsonschema.Schema) objectMembers {
	o := objectMembers{members: map[string][]*jsonschema.Schema{}, required: map[string]bool{}}
	for part, role := range s.Applied() {
		if role != jsonschema.Condition {
			for _, p := range part.Parts("properties") {
				o.members[p.Name] = append(o.members[p.Name], p.Schema)
			}
			o.open = o.open || part.Schema("items") != nil || part.Schema("additionalProperties").IsObject()
		}
		if role == jsonschema.Always {
			for _, name := range part.Required() {
				o.required[name] = true
				if o.members[name] == nil {
					o.members[name] = []*jsonschema.Schema{}
				}
			}
		}
	}
	return o
}

// fixedIn returns the values that a schema lists, as compact JSON; none if it allows others but null.
func fixedIn(s *jsonschema.Schema) (values []string) {
	m := jsonschema.Merge(s)
	if value := m.First("const").Value; value != nil {
		return []string{string(jsonscan.AppendCompact(nil, value))}
	}
	for value := range jsonscan.Elements(m.First("enum").Value) {
		values = append(values, string(jsonscan.AppendCompact(nil, value)))
	}
	if len(values) > 0 {
		return values
	}
	for _, part := range m.First("anyOf").Parts {
		value := jsonschema.Merge(part.Schema).First("const").Value
		if value == nil && !slices.Equal(part.Schema.Types(), []string{"null"}) {
			return nil
		}
		values = append(values, string(jsonscan.AppendCompact(nil, value)))
	}
	return values
}

package schema

import (
	"bytes"
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
)

// An outline is what several schemas say together of one value, references and composition followed, as far as it can
// be said in the portable profile; the rest is kept in words.
type outline struct {
	types   types  // 0: any; number holds integer too
	lead    types  // of the first alternative
	null    bool   // null is one of the values
	never   bool   // there is no value
	again   bool   // a definition within itself: it is not followed
	others  string // what members are that are not declared
	title   string
	about   string // the description
	members []outlineMember

	required []string
	choices  [][][]string // what alternatives require, for each list of them
	values   [][]byte     // texts that are allowed, as JSON
	listed   bool         // no others are
	items    outlineMember
	format   string
	notes    []string

	low, high             string // bounds of a number
	above, below          bool
	shortest, longest     string
	fewest, most          string // items
	fewestNames, mostName string // members
}

type outlineMember struct {
	name    string
	schemas []*jsonschema.Schema
	within  []string // definitions that contain these, besides those that contain the whole outline
}

// outline works out what the schemas say.
func (w *portableWriter) outline(schemas ...*jsonschema.Schema) *outline {
	o := &outline{}
	for _, s := range schemas {
		w.take(o, s, nil)
	}
	return o
}

// take adds a schema to an outline. within lists the definitions of the same value that contain it.
func (w *portableWriter) take(o *outline, s *jsonschema.Schema, within []string) {
	if w.steps--; w.steps < 0 {
		return
	}
	if !s.IsObject() {
		o.never = o.never || s.Never()
		return
	}
	if about := s.Text("description"); o.about == "" {
		o.about = about
	}
	for _, k := range s.Keywords() {
		switch k.Name {
		case "$ref":
			w.follow(o, s, within)
		case "allOf":
			for _, item := range k.Parts {
				w.take(o, item.Schema, within)
			}
		case "anyOf", "oneOf":
			w.alternatives(o, k.Schemas(), within)
		case "then", "else":
			sub := &outline{}
			w.take(sub, k.Schema(), within)
			for _, m := range sub.members {
				o.add(m)
			}
		case "properties":
			for _, p := range k.Parts {
				o.add(outlineMember{p.Name, []*jsonschema.Schema{p.Schema}, within})
			}
		case "items":
			o.items.add(k.Schema(), within)
		case "prefixItems":
			o.prefix(k.Schemas(), within)
		default:
			o.keyword(k)
		}
	}
}

// follow adds a definition. One that contains the value already is not written again, so that circular definitions end.
func (w *portableWriter) follow(o *outline, s *jsonschema.Schema, within []string) {
	name, target := s.Reference(), s.Target()
	if target == nil || slices.Contains(within, name) {
		return
	}
	o.again = o.again || slices.Contains(w.path, name)
	w.take(o, target, append(slices.Clip(within), name))
}

func (o *outline) add(m outlineMember) {
	for i := range o.members {
		if o.members[i].name == m.name {
			for _, s := range m.schemas {
				o.members[i].add(s, m.within)
			}
			return
		}
	}
	o.members = append(o.members, m)
}

func (m *outlineMember) add(schema *jsonschema.Schema, within []string) {
	m.schemas = append(slices.Clip(m.schemas), schema)
	for _, name := range within {
		if !slices.Contains(m.within, name) {
			m.within = append(slices.Clip(m.within), name)
		}
	}
}

// restrict leaves only the given types; 0 stands for all.
func (o *outline) restrict(set types) {
	switch {
	case set == 0:
	case o.types == 0:
		o.types = set
	case o.types&set != 0:
		o.types &= set
	}
}

// pick returns the one type that is published.
func (o *outline) pick() types {
	if o.lead != 0 && (o.types == 0 || o.types&o.lead != 0) {
		return o.lead
	}
	for _, t := range []types{stringType, numberType, integerType, booleanType, objectType, arrayType} {
		if o.types&t != 0 {
			return t
		}
	}
	switch {
	case o.types == nullType:
	case len(o.members) > 0:
		return objectType
	case o.items.schemas != nil:
		return arrayType
	}
	return stringType
}

// keyword adds a keyword that holds no schemas in place.
func (o *outline) keyword(k jsonschema.Keyword) {
	switch name, value := k.Name, k.Value; name {
	case "type":
		set := typesIn(k)
		o.null = o.null || set&nullType != 0
		o.restrict(set)
	case "title":
		o.title = k.Text()
	case "const":
		o.list([][]byte{value})
	case "enum":
		o.list(slices.Collect(jsonscan.Elements(value)))
	case "required":
		o.required = append(o.required, k.Texts()...)
	case "format":
		o.format = k.Text()
	case "minimum", "exclusiveMinimum":
		o.low, o.above = string(value), name != "minimum"
	case "maximum", "exclusiveMaximum":
		o.high, o.below = string(value), name != "maximum"
	case "minLength":
		o.shortest = string(value)
	case "maxLength":
		o.longest = string(value)
	case "minItems":
		o.fewest = string(value)
	case "maxItems":
		o.most = string(value)
	case "minProperties":
		o.fewestNames = string(value)
	case "maxProperties":
		o.mostName = string(value)
	case "additionalProperties":
		if string(value) != "false" {
			o.others = brief(k.Schema())
		}
	case "not":
		o.never = o.never || string(value) == "{}" || string(value) == "true"
	case "default", "examples", "pattern", "multipleOf", "uniqueItems", "deprecated", "contentEncoding":
		o.note(keywordNote(k))
	}
}

func (o *outline) note(text string) {
	if text != "" && !slices.Contains(o.notes, text) {
		o.notes = append(o.notes, text)
	}
}

// list restricts the value to those given. A portable enum contains strings only.
func (o *outline) list(values [][]byte) {
	var texts [][]byte
	var others []string
	var set types
	for _, v := range values {
		switch kind := jsonscan.KindOf(v); {
		case kind == jsonscan.String && len(v) > len(`""`):
			texts = append(texts, v)
			set |= stringType
		case kind == jsonscan.String:
			o.note("May be empty.")
			set |= stringType
		case kind == jsonscan.Null:
			o.null = true
		default:
			if len(others) < maxAllowed && len(v) <= maxShown {
				others = append(others, string(v))
			}
			set |= map[jsonscan.Kind]types{
				jsonscan.Bool: booleanType, jsonscan.Number: numberType | integerType, jsonscan.Array: arrayType, jsonscan.Object: objectType,
			}[kind]
		}
	}
	if o.types == 0 {
		o.types = set
	}
	switch {
	case len(others) == 0:
	case len(values) == 1:
		o.note("Always " + others[0] + ".")
	case o.types&stringType != 0 && len(texts) > 0:
		o.note("Or " + strings.Join(others, ", ") + ".")
	default:
		o.note("One of " + strings.Join(others, ", ") + ".")
	}
	if !o.listed {
		o.values, o.listed = texts, true
		return
	}
	o.values = slices.DeleteFunc(slices.Clone(o.values), func(v []byte) bool {
		return !slices.ContainsFunc(texts, func(w []byte) bool { return bytes.Equal(v, w) })
	})
}

// prefix turns a tuple into words: the profile's arrays have items of one kind.
func (o *outline) prefix(items []*jsonschema.Schema, within []string) {
	var kinds []string
	for _, item := range items {
		if kinds = append(kinds, brief(item)); len(kinds) == 1 {
			o.items.add(item, within)
		}
	}
	if len(slices.Compact(slices.Clone(kinds))) > 1 {
		o.note("The items in order: " + joinNames(kinds, maxAllowed) + ".")
	}
}

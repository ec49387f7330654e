package schema

import (
	"bytes"
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
)

// maxPhrase is the maximum size in bytes of a description after the name of an alternative.
const maxPhrase = 60

// alternatives merges the alternatives that have the type of the first one; the others are named.
func (w *portableWriter) alternatives(o *outline, all []*jsonschema.Schema, within []string) {
	var same []*outline
	var others []string
	for _, s := range all {
		sub := &outline{}
		w.take(sub, s, within)
		o.null = o.null || sub.null
		switch {
		case sub.never, sub.types == nullType:
			continue
		case o.lead == 0 && sub.types != 0 && (o.types == 0 || o.types&sub.types != 0):
			o.lead = sub.pick()
		}
		if sub.types == 0 || sub.types&o.lead != 0 {
			same = append(same, sub)
		} else {
			phrase := sub.phrase()
			if sub.about != "" && len(sub.about) <= maxPhrase {
				phrase += ": " + strings.TrimSuffix(sub.about, ".")
			}
			others = append(others, phrase)
		}
	}
	if len(same) == 0 {
		return
	}
	o.restrict(o.lead)
	for _, phrase := range slices.Compact(others) {
		o.note("Or " + phrase + ".")
	}
	w.merge(o, same)
}

// merge takes in alternatives of one type: every member of any of them, required where all of them require it.
func (w *portableWriter) merge(o *outline, same []*outline) {
	first := same[0]
	if o.about == "" && (len(same) == 1 || o.lead != objectType) {
		o.about = first.about
	}
	var sets [][]string
	listed := true
	var values [][]byte
	given := map[string][]outlineMember{} // by name, alternative by alternative
	var names []string
	for _, sub := range same {
		sets = append(sets, sub.required)
		listed = listed && sub.listed
		values = append(values, sub.values...)
		for _, m := range sub.members {
			if given[m.name] == nil {
				names = append(names, m.name)
			}
			given[m.name] = append(given[m.name], m)
		}
		o.again = o.again || sub.again
		if o.items.schemas == nil {
			o.items = sub.items
		}
		if o.others == "" {
			o.others = sub.others
		}
	}
	if len(same) == 1 {
		o.absorb(first)
	}
	for _, name := range names {
		o.add(w.oneOfSeveral(given[name]))
	}
	if listed && !o.listed {
		o.values, o.listed = values, true
	}
	var common []string
	for _, name := range sets[0] {
		if !slices.ContainsFunc(sets, func(set []string) bool { return !slices.Contains(set, name) }) {
			common = append(common, name)
		}
	}
	o.required = append(o.required, common...)
	if len(same) == 1 {
		return
	}
	if text := w.choiceByTag(same, given, names); text != "" {
		o.note(text)
		return
	}
	o.choices = append(o.choices, sets)
}

// maxChoiceText is the longest text about the members of alternatives, in bytes.
const maxChoiceText = maxDescription / 2

// choiceByTag describes which members go with which value of the discriminating member; "" without such a member, or if the text would
// be too long. Without it a caller learns from a refused call that a member of one alternative can't be combined with the value of another.
func (w *portableWriter) choiceByTag(same []*outline, given map[string][]outlineMember, names []string) string {
	if len(same) > maxAllowed {
		return ""
	}
	for _, tag := range names {
		values := w.tagValues(same, tag, given[tag])
		if values == nil {
			continue
		}
		var texts []string
		for i, sub := range same {
			var needed, allowed []string
			for _, m := range sub.members {
				switch {
				case len(given[m.name]) == len(same) && allRequire(same, m.name) == slices.Contains(sub.required, m.name):
				case slices.Contains(sub.required, m.name):
					needed = append(needed, m.name)
				case len(given[m.name]) < len(same):
					allowed = append(allowed, m.name)
				}
			}
			text := values[i]
			switch {
			case len(needed) > 0 && len(allowed) > 0:
				text += " needs " + joinNames(needed, maxAllowed) + " and takes " + joinNames(allowed, maxAllowed)
			case len(needed) > 0:
				text += " needs " + joinNames(needed, maxAllowed)
			case len(allowed) > 0:
				text += " takes " + joinNames(allowed, maxAllowed)
			default:
				text += " takes no others"
			}
			texts = append(texts, text)
		}
		if text := "By " + tag + ": " + strings.Join(texts, "; ") + "."; len(text) <= maxChoiceText && !same[0].isAlike(same) {
			return text
		}
	}
	return ""
}

// tagValues returns the values of a discriminating member by alternative: one that all alternatives require, each with texts of its own.
// It returns nil for other members.
func (w *portableWriter) tagValues(same []*outline, name string, each []outlineMember) (values []string) {
	if len(each) != len(same) || !allRequire(same, name) {
		return nil
	}
	known := map[string]bool{}
	for _, m := range each {
		sub := w.outline(m.schemas...)
		if !sub.listed || len(sub.values) == 0 || sub.pick() != stringType {
			return nil
		}
		var own []string
		for _, v := range sub.values {
			if known[string(v)] {
				return nil
			}
			known[string(v)] = true
			own = append(own, string(v))
		}
		values = append(values, strings.Join(own, " or "))
	}
	return values
}

// isAlike reports whether all alternatives have the same members, required alike.
func (o *outline) isAlike(same []*outline) bool {
	return !slices.ContainsFunc(same, func(sub *outline) bool {
		return len(sub.members) != len(o.members) || len(sub.required) != len(o.required) ||
			slices.ContainsFunc(o.names(), func(name string) bool {
				return !slices.Contains(sub.names(), name) || slices.Contains(o.required, name) != slices.Contains(sub.required, name)
			})
	})
}

// allRequire reports whether a member is required by all alternatives.
func allRequire(same []*outline, name string) bool {
	return !slices.ContainsFunc(same, func(sub *outline) bool { return !slices.Contains(sub.required, name) })
}

// absorb takes over what only one alternative says.
func (o *outline) absorb(sub *outline) {
	if o.format == "" {
		o.format = sub.format
	}
	for _, note := range sub.notes {
		o.note(note)
	}
	for _, p := range []struct{ to, from *string }{
		{&o.low, &sub.low}, {&o.high, &sub.high}, {&o.shortest, &sub.shortest}, {&o.longest, &sub.longest},
		{&o.fewest, &sub.fewest}, {&o.most, &sub.most},
	} {
		if *p.to == "" {
			*p.to = *p.from
		}
	}
	o.above, o.below = o.above || sub.above, o.below || sub.below
	o.choices = append(o.choices, sub.choices...)
}

// oneOfSeveral returns what is published of a member that several alternatives have. Of texts that each of them fixes,
// as the member does that tells them apart, all are allowed; else the first alternative speaks for all.
func (w *portableWriter) oneOfSeveral(each []outlineMember) outlineMember {
	if len(each) == 1 {
		return each[0]
	}
	var values []string
	about := ""
	for _, m := range each {
		sub := w.outline(m.schemas...)
		if !sub.listed || len(sub.values) == 0 || sub.pick() != stringType {
			if w.unions {
				return anyOfSeveral(each)
			}
			return each[0]
		}
		if about == "" {
			about = sub.about
		}
		for _, v := range sub.values {
			if text := string(v); !slices.Contains(values, text) {
				values = append(values, text)
			}
		}
	}
	keywords := []jsonschema.Keyword{{Name: "type", Value: []byte(`"string"`)}, {Name: "enum", Value: []byte("[" + strings.Join(values, ",") + "]")}}
	if about != "" {
		keywords = append(keywords, jsonschema.Keyword{Name: "description", Value: jsonscan.AppendString(nil, about)})
	}
	return outlineMember{each[0].name, []*jsonschema.Schema{each[0].schemas[0].With(keywords...)}, nil}
}

// anyOfSeveral returns a member that may be what any of several alternatives says of it.
func anyOfSeveral(each []outlineMember) outlineMember {
	var all []*jsonschema.Schema
	var within []string
	for _, m := range each {
		s := m.schemas[0]
		if len(m.schemas) > 1 {
			s = s.With(jsonschema.Composed("allOf", m.schemas...))
		}
		if !slices.ContainsFunc(all, func(other *jsonschema.Schema) bool { return bytes.Equal(s.Source(), other.Source()) }) {
			all = append(all, s)
		}
		within = append(within, m.within...)
	}
	if len(all) > 1 {
		all = []*jsonschema.Schema{all[0].With(jsonschema.Composed("anyOf", all...))}
	}
	slices.Sort(within)
	return outlineMember{each[0].name, all, slices.Compact(within)}
}

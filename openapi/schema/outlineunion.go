package schema

import (
	"bytes"
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// maxPhrase is the longest description that stands behind the name of an alternative, in bytes.
const maxPhrase = 60

// alternatives merges the alternatives that have the type of the first one; the others are named.
func (w *portableWriter) alternatives(o *outline, list []byte, within []string) {
	var same []*outline
	var others []string
	for s := range jsonscan.Elements(list) {
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
	if len(same) > 1 {
		o.choices = append(o.choices, sets)
	}
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
		sub := w.outline(m.schemas)
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
	out := append([]byte(`{"type":"string","enum":[`), strings.Join(values, ",")...)
	out = append(out, ']')
	if about != "" {
		out = jsonscan.AppendString(append(out, `,"description":`...), about)
	}
	return outlineMember{each[0].name, [][]byte{append(out, '}')}, nil}
}

// anyOfSeveral returns a member that may be what any of several alternatives says of it.
func anyOfSeveral(each []outlineMember) outlineMember {
	var all [][]byte
	var within []string
	for _, m := range each {
		s := m.schemas[0]
		if len(m.schemas) > 1 {
			s = slices.Concat([]byte(`{"allOf":[`), bytes.Join(m.schemas, []byte(",")), []byte("]}"))
		}
		if !slices.ContainsFunc(all, func(other []byte) bool { return bytes.Equal(s, other) }) {
			all = append(all, s)
		}
		within = append(within, m.within...)
	}
	if len(all) > 1 {
		all = [][]byte{slices.Concat([]byte(`{"anyOf":[`), bytes.Join(all, []byte(",")), []byte("]}"))}
	}
	slices.Sort(within)
	return outlineMember{each[0].name, all, slices.Compact(within)}
}

package jsonschema

import (
	"bytes"
	"slices"
)

// Merged is the conjunction of several schemas for one value: for each keyword, all its different values. The zero value is that of a
// schema that accepts everything.
type Merged struct {
	entries  []entry
	referred map[*Schema]bool // schemas that references led to
	merged   int
}

// entry holds the values of one keyword.
type entry struct {
	values  []Keyword // all of one name, different from each other
	nearest int       // index of the value from the schema with the least depth
	depth   int       // of that schema, in references and allOf
}

// Merge merges schemas, including the targets of their references and the members of allOf. No other code merges allOf. If all but one
// schema of "anyOf" or "oneOf" accept nothing, that one is merged too; other alternatives become a value of "anyOf".
func Merge(schemas ...*Schema) *Merged {
	m := &Merged{}
	for _, s := range schemas {
		m.Merge(s)
	}
	return m
}

// Merge adds a schema with its references and allOf.
func (m *Merged) Merge(s *Schema) { m.merge(s, 0) }

// refer merges the target of a reference, unless it is merged already. So circular references end.
func (m *Merged) refer(s *Schema, depth int) {
	if s == nil || m.referred[s] {
		return
	}
	if m.referred == nil {
		m.referred = map[*Schema]bool{}
	}
	m.referred[s] = true
	m.merge(s, depth)
}

func (m *Merged) merge(s *Schema, depth int) {
	if s == nil {
		return
	}
	m.merged++
	m.entries = slices.Grow(m.entries, len(s.keywords))
	for i, k := range s.keywords {
		switch k.Name {
		case "$ref":
			m.refer(s.target, depth+1)
		case "allOf":
			for _, part := range k.Parts {
				m.merge(part.Schema, depth+1)
			}
		case "anyOf", "oneOf":
			if only := onlyAlternative(k); only != nil {
				m.merge(only, depth+1)
				continue
			}
			m.add([]Keyword{{"anyOf", k.Value, k.Parts}}, depth)
		case "$defs":
		default:
			m.add(s.keywords[i:i+1:i+1], depth)
		}
	}
}

// onlyAlternative returns the only schema of a list that accepts anything; nil if no schema or several do.
func onlyAlternative(k Keyword) (only *Schema) {
	for _, part := range k.Parts {
		if part.Schema.Never() {
			continue
		}
		if only != nil {
			return nil
		}
		only = part.Schema
	}
	return only
}

// Count returns the number of schemas that were merged.
func (m *Merged) Count() int { return m.merged }

// Add adds a value of a keyword, unless the keyword has it already.
func (m *Merged) Add(k Keyword) { m.add([]Keyword{k}, 0) }

// add adds one value of a keyword.
func (m *Merged) add(value []Keyword, depth int) {
	e := m.entry(value[0].Name)
	if e == nil {
		m.entries = append(m.entries, entry{values: value, depth: depth})
		return
	}
	if slices.ContainsFunc(e.values, func(k Keyword) bool { return bytes.Equal(k.Value, value[0].Value) }) {
		return
	}
	if depth < e.depth {
		e.nearest, e.depth = len(e.values), depth
	}
	e.values = append(e.values, value[0])
}

func (m *Merged) entry(name string) *entry {
	for i := range m.entries {
		if m.entries[i].values[0].Name == name {
			return &m.entries[i]
		}
	}
	return nil
}

// Names returns the keywords in the order of their first occurrence.
func (m *Merged) Names() []string {
	all := make([]string, len(m.entries))
	for i := range m.entries {
		all[i] = m.entries[i].values[0].Name
	}
	return all
}

// Values returns the different values of a keyword in the order of their occurrence.
func (m *Merged) Values(name string) []Keyword {
	if e := m.entry(name); e != nil {
		return e.values
	}
	return nil
}

// First returns the first value of a keyword, or the zero Keyword.
func (m *Merged) First(name string) Keyword {
	if e := m.entry(name); e != nil {
		return e.values[0]
	}
	return Keyword{}
}

// Nearest returns the value of a keyword from the schema with the least depth, or the zero Keyword. So a description beside a reference
// takes precedence over that of its target.
func (m *Merged) Nearest(name string) Keyword {
	if e := m.entry(name); e != nil {
		return e.values[e.nearest]
	}
	return Keyword{}
}

// Has reports whether a keyword has a value.
func (m *Merged) Has(name string) bool { return m.entry(name) != nil }

// Set replaces all values of a keyword.
func (m *Merged) Set(k Keyword) {
	if e := m.entry(k.Name); e != nil {
		*e = entry{values: []Keyword{k}}
		return
	}
	m.Add(k)
}

// Remove removes keywords.
func (m *Merged) Remove(names ...string) {
	m.entries = slices.DeleteFunc(m.entries, func(e entry) bool { return slices.Contains(names, e.values[0].Name) })
}

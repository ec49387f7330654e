package jsonschema

import (
	"bytes"
	"slices"
)

// Merged is what several schemas say together of one value: for each keyword the values that they give it. Its zero value is that
// of a schema that accepts everything.
type Merged struct {
	entries  []entry
	referred map[*Schema]bool // schemas that references led to
	merged   int
}

// entry is what is said by one keyword.
type entry struct {
	values  []Keyword // all of one name, different from each other
	nearest int       // the value of the schema that is nested least in those that are merged
	depth   int       // of that schema
}

// Merge returns what schemas say together, references and allOf followed: the one place where allOf is merged. A list of alternatives of
// which only one accepts anything is merged too; other alternatives are a value of "anyOf".
func Merge(schemas ...*Schema) *Merged {
	m := &Merged{}
	for _, s := range schemas {
		m.Merge(s)
	}
	return m
}

// Merge takes in a schema with its references and allOf.
func (m *Merged) Merge(s *Schema) { m.merge(s, 0) }

// refer takes in what a reference leads to. What was taken in already says nothing new, which ends circles, too.
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

// onlyAlternative returns the one schema of a list that accepts anything, nil if there are none or several.
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

// Count returns how many schemas were taken in.
func (m *Merged) Count() int { return m.merged }

// Add adds a value of a keyword, unless it is there.
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

// Names returns the keywords in the order in which they were first met.
func (m *Merged) Names() []string {
	all := make([]string, len(m.entries))
	for i := range m.entries {
		all[i] = m.entries[i].values[0].Name
	}
	return all
}

// Values returns the different values of a keyword in the order in which they were met.
func (m *Merged) Values(name string) []Keyword {
	if e := m.entry(name); e != nil {
		return e.values
	}
	return nil
}

// First returns the value of a keyword that was met first; the zero Keyword if there is none.
func (m *Merged) First(name string) Keyword {
	if e := m.entry(name); e != nil {
		return e.values[0]
	}
	return Keyword{}
}

// Nearest returns the value of a keyword in the schema that is nested least, so that the words beside a reference count before those that
// it leads to; the zero Keyword if there is none.
func (m *Merged) Nearest(name string) Keyword {
	if e := m.entry(name); e != nil {
		return e.values[e.nearest]
	}
	return Keyword{}
}

// Has reports whether there is a value of a keyword.
func (m *Merged) Has(name string) bool { return m.entry(name) != nil }

// Set replaces all values of a keyword.
func (m *Merged) Set(k Keyword) {
	if e := m.entry(k.Name); e != nil {
		*e = entry{values: []Keyword{k}}
		return
	}
	m.Add(k)
}

// Remove takes keywords away.
func (m *Merged) Remove(names ...string) {
	m.entries = slices.DeleteFunc(m.entries, func(e entry) bool { return slices.Contains(names, e.values[0].Name) })
}

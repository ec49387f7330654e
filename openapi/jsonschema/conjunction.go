package jsonschema

import (
	"bytes"
	"slices"
)

// A Conjunction is what several schemas say together of one value: for each keyword the values that they give it. Its zero value is that
// of a schema that accepts everything.
type Conjunction struct {
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
func Merge(schemas ...*Schema) *Conjunction {
	c := &Conjunction{}
	for _, s := range schemas {
		c.Merge(s)
	}
	return c
}

// Merge takes in a schema with its references and allOf.
func (c *Conjunction) Merge(s *Schema) { c.merge(s, 0) }

// refer takes in what a reference leads to. What was taken in already says nothing new, which ends circles, too.
func (c *Conjunction) refer(s *Schema, depth int) {
	if s == nil || c.referred[s] {
		return
	}
	if c.referred == nil {
		c.referred = map[*Schema]bool{}
	}
	c.referred[s] = true
	c.merge(s, depth)
}

func (c *Conjunction) merge(s *Schema, depth int) {
	if s == nil {
		return
	}
	c.merged++
	c.entries = slices.Grow(c.entries, len(s.keywords))
	for i, k := range s.keywords {
		switch k.Name {
		case "$ref":
			c.refer(s.target, depth+1)
		case "allOf":
			for _, part := range k.Parts {
				c.merge(part.Schema, depth+1)
			}
		case "anyOf", "oneOf":
			if only := onlyAlternative(k); only != nil {
				c.merge(only, depth+1)
				continue
			}
			c.add([]Keyword{{"anyOf", k.Value, k.Parts}}, depth)
		case "$defs":
		default:
			c.add(s.keywords[i:i+1:i+1], depth)
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

// Merged returns how many schemas were taken in.
func (c *Conjunction) Merged() int { return c.merged }

// Add adds a value of a keyword, unless it is there.
func (c *Conjunction) Add(k Keyword) { c.add([]Keyword{k}, 0) }

// add adds one value of a keyword.
func (c *Conjunction) add(value []Keyword, depth int) {
	e := c.entry(value[0].Name)
	if e == nil {
		c.entries = append(c.entries, entry{values: value, depth: depth})
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

func (c *Conjunction) entry(name string) *entry {
	for i := range c.entries {
		if c.entries[i].values[0].Name == name {
			return &c.entries[i]
		}
	}
	return nil
}

// Names returns the keywords in the order in which they were first met.
func (c *Conjunction) Names() []string {
	all := make([]string, len(c.entries))
	for i := range c.entries {
		all[i] = c.entries[i].values[0].Name
	}
	return all
}

// Values returns the different values of a keyword in the order in which they were met.
func (c *Conjunction) Values(name string) []Keyword {
	if e := c.entry(name); e != nil {
		return e.values
	}
	return nil
}

// First returns the value of a keyword that was met first; the zero Keyword if there is none.
func (c *Conjunction) First(name string) Keyword {
	if e := c.entry(name); e != nil {
		return e.values[0]
	}
	return Keyword{}
}

// Nearest returns the value of a keyword in the schema that is nested least, so that the words beside a reference count before those that
// it leads to; the zero Keyword if there is none.
func (c *Conjunction) Nearest(name string) Keyword {
	if e := c.entry(name); e != nil {
		return e.values[e.nearest]
	}
	return Keyword{}
}

// Has reports whether there is a value of a keyword.
func (c *Conjunction) Has(name string) bool { return c.entry(name) != nil }

// Set replaces all values of a keyword.
func (c *Conjunction) Set(k Keyword) {
	if e := c.entry(k.Name); e != nil {
		*e = entry{values: []Keyword{k}}
		return
	}
	c.Add(k)
}

// Remove takes keywords away.
func (c *Conjunction) Remove(names ...string) {
	c.entries = slices.DeleteFunc(c.entries, func(e entry) bool { return slices.Contains(names, e.values[0].Name) })
}

package jsonschema

import (
	"iter"
	"slices"
)

// MaxDepth is the maximum depth, in references and composition, of code that follows each path through the schemas. A walk that visits
// each schema once needs no limit.
const MaxDepth = 8

// A Role is how a schema applies to a value.
type Role uint8

// The roles.
const (
	Always      Role = iota // the value must match: "allOf", "$ref"
	Alternative             // the value matches this schema or others: "anyOf", "oneOf"
	Condition               // whether it applies depends on the value: "if", "then", "else", "dependentSchemas"
)

// Applied yields the schemas that apply to the same value as s: the target of its reference, s itself, and the schemas of its
// composition, each with all that apply because of it. A schema is yielded once, or again with a stronger role.
func (s *Schema) Applied() iter.Seq2[*Schema, Role] {
	return func(yield func(*Schema, Role) bool) {
		w := walk{yield: yield, met: map[*Schema]Role{}}
		w.schema(s, Always)
	}
}

// walk is one walk over the schemas of a value.
type walk struct {
	yield func(*Schema, Role) bool
	met   map[*Schema]Role
}

// compositions are the keywords whose schemas apply to the same value as the schema that has them (JSON Schema core, section 10.2).
var compositions = []struct {
	keyword string
	role    Role
}{
	{"allOf", Always}, {"anyOf", Alternative}, {"oneOf", Alternative},
	{"if", Condition}, {"then", Condition}, {"else", Condition}, {"dependentSchemas", Condition},
}

// schema walks over a schema. It returns false once the consumer stops.
func (w *walk) schema(s *Schema, role Role) bool {
	if s == nil {
		return true
	}
	if before, met := w.met[s]; met && before <= role {
		return true
	}
	w.met[s] = role
	if !w.schema(s.target, role) || !w.yield(s, role) {
		return false
	}
	for _, c := range compositions {
		for _, part := range s.Parts(c.keyword) {
			if !w.schema(part.Schema, max(role, c.role)) {
				return false
			}
		}
	}
	return true
}

// A Member is one property that a schema of objects declares.
type Member struct {
	Name     string
	Schema   *Schema // of the first declaration
	Required bool    // by a schema that always applies
}

// Members returns the properties that the schema and its composition declare, in the author's order.
func (s *Schema) Members() []Member {
	var all []Member
	index := map[string]int{}
	required := map[string]bool{}
	for part, role := range s.Applied() {
		if role == Condition {
			continue
		}
		for _, p := range part.Parts("properties") {
			if _, known := index[p.Name]; !known {
				index[p.Name] = len(all)
				all = append(all, Member{Name: p.Name, Schema: p.Schema})
			}
		}
		if role == Always {
			for _, name := range part.Required() {
				required[name] = true
			}
		}
	}
	for i := range all {
		all[i].Required = required[all[i].Name]
	}
	return all
}

// Allowed returns the types that the schema and its composition accept. It is empty if all are, or if that is not known.
func (s *Schema) Allowed() []string { return s.allowed(0) }

func (s *Schema) allowed(depth int) (names []string) {
	if s = s.Resolve(); s == nil || depth > MaxDepth {
		return nil
	}
	if s.Has("type") {
		return s.Types()
	}
	for _, part := range s.Parts("allOf") {
		if names = part.Schema.allowed(depth + 1); names != nil {
			return names // the others can only remove some of them
		}
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		for _, part := range s.Parts(keyword) {
			more := part.Schema.allowed(depth + 1)
			if more == nil {
				return nil
			}
			for _, name := range more {
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

package typescript

import (
	"crypto/sha256"
	"slices"
	"strconv"
	"strings"

	"drawbridge/openapi/jsonschema"
)

// sharedType is a schema that has a name in declarations, because more than one place refers to it.
type sharedType struct {
	name   string
	schema *jsonschema.Schema // one of those that are equal
}

// sharedTypes are the types of functions that have names. Definitions of several functions are one type if they and all that they
// refer to are equal.
type sharedTypes struct {
	byTarget map[*jsonschema.Schema]*sharedType
	byName   map[string]*sharedType
}

// of returns the type that a schema refers to, alone or with an annotation beside the reference; nil if that has no name.
func (s *sharedTypes) of(schema *jsonschema.Schema) *sharedType {
	for range jsonschema.MaxDepth {
		target := referred(schema)
		if target == nil {
			return nil
		}
		if t := s.byTarget[target]; t != nil {
			return t
		}
		schema = target
	}
	return nil
}

func (s *sharedTypes) names() (all []string) {
	for name := range s.byName {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// referred returns the schema that another refers to, itself or as the only part of its allOf; nil if it says more than that.
func referred(schema *jsonschema.Schema) (target *jsonschema.Schema) {
	for _, k := range schema.Keywords() {
		switch k.Name {
		case "$ref":
			target = schema.Target()
		case "allOf":
			if len(k.Parts) != 1 || k.Parts[0].Schema.Target() == nil || target != nil {
				return nil
			}
			target = k.Parts[0].Schema.Target()
		case "title", "description", "default", "examples", "deprecated", "$comment":
		default:
			return nil
		}
	}
	return target
}

// shareTypes returns the types that have names.
func shareTypes(functions []Function, answers bool) *sharedTypes {
	c := &referenceCounter{seen: map[*jsonschema.Schema]bool{}, count: map[*jsonschema.Schema]int{}}
	for i := range functions {
		c.walk(functions[i].Input)
		if answers {
			c.walk(functions[i].Output)
		}
	}
	s := &sharedTypes{byTarget: map[*jsonschema.Schema]*sharedType{}, byName: map[string]*sharedType{}}
	type equal struct {
		sum   [sha256.Size]byte
		count int
	}
	sums := make([]equal, len(c.targets))
	total := map[[sha256.Size]byte]int{}
	steps := maxCompared
	for i, target := range c.targets {
		sums[i] = equal{closure(target, i, &steps), c.count[target]}
		total[sums[i].sum] += sums[i].count
	}
	known := map[[sha256.Size]byte]*sharedType{}
	for i, target := range c.targets {
		sum := sums[i].sum
		if total[sum] < 2 || !worthName(target) {
			continue
		}
		t := known[sum]
		if t == nil {
			t = &sharedType{name: s.free(c.names[i]), schema: target}
			known[sum] = t
			s.byName[t.name] = t
		}
		s.byTarget[target] = t
	}
	return s
}

// free returns a name that no type has for a definition: its last part, as Pod of io.k8s.api.core.v1.Pod, or all of it, or a number behind it.
func (s *sharedTypes) free(definition string) string {
	short, long := typeName(definition[strings.LastIndexByte(definition, '.')+1:]), typeName(definition)
	for _, name := range []string{short, long} {
		if s.byName[name] == nil && !reserved[name] {
			return name
		}
	}
	for n := 2; ; n++ {
		if name := long + strconv.Itoa(n); s.byName[name] == nil {
			return name
		}
	}
}

// reserved are names of types that mean something else.
var reserved = wordSet("any base64 boolean integer never null number object string undefined unknown void")

// shortType is the length in bytes of a schema beyond which its type deserves a name.
const shortType = 60

// worthName reports whether a type is longer than its name.
func worthName(target *jsonschema.Schema) bool { return len(target.Source()) > shortType }

// referenceCounter counts the references to each schema, in the order in which they are met.
type referenceCounter struct {
	seen    map[*jsonschema.Schema]bool
	count   map[*jsonschema.Schema]int
	targets []*jsonschema.Schema
	names   []string
	steps   *int // schemas that may still be met; nil if there is no limit
}

func (c *referenceCounter) walk(s *jsonschema.Schema) {
	if s == nil || c.seen[s] {
		return
	}
	c.seen[s] = true
	if c.steps != nil {
		if *c.steps--; *c.steps < 0 {
			return
		}
	}
	if target := s.Target(); target != nil {
		if c.count[target]++; c.count[target] == 1 {
			name := s.Reference()
			if name == "" {
				name = "Type"
			}
			c.targets, c.names = append(c.targets, target), append(c.names, name)
		}
		c.walk(target)
	}
	for _, k := range s.Keywords() {
		if k.Name == "$defs" {
			continue
		}
		for _, part := range k.Parts {
			c.walk(part.Schema)
		}
	}
}

// maxCompared is the number of schemas that are met to find equal types of several functions. Types that come after that are not shared.
const maxCompared = 100_000

// closure returns a digest of a schema and of all that it refers to, in the order in which they are met. Without steps left, it is that of
// the index.
func closure(target *jsonschema.Schema, index int, steps *int) [sha256.Size]byte {
	c := &referenceCounter{seen: map[*jsonschema.Schema]bool{}, count: map[*jsonschema.Schema]int{}, steps: steps}
	c.walk(target)
	h := sha256.New()
	if *steps < 0 {
		h.Write([]byte(strconv.Itoa(index)))
		return [sha256.Size]byte(h.Sum(nil))
	}
	h.Write(target.Source())
	for i, other := range c.targets {
		h.Write([]byte("\x00" + c.names[i] + "\x00"))
		h.Write(other.Source())
	}
	return [sha256.Size]byte(h.Sum(nil))
}

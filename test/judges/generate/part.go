package generate

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// parts are the schemas that all apply to one value: the schema itself, what it refers to, all of its allOf and one
// each of its alternatives.
type parts []map[string]any

// gather adds a schema and what applies with it.
func (m *maker) gather(all parts, s any, depth int) (parts, error) {
	if depth > 60 {
		return nil, fmt.Errorf("%w: references lead in circles", errUnfit)
	}
	object, ok := s.(map[string]any)
	if !ok {
		if s == false {
			return nil, fmt.Errorf("%w: the schema is false", errUnfit)
		}
		return all, nil
	}
	all = append(all, object)
	var err error
	add := func(s any) {
		if err == nil {
			all, err = m.gather(all, s, depth+1)
		}
	}
	if ref, ok := object["$ref"].(string); ok {
		target, found := lookup(m.root, ref)
		if !found {
			return nil, fmt.Errorf("%w: %q leads nowhere", errUnfit, ref)
		}
		add(target)
	}
	for _, part := range list(object["allOf"]) {
		add(part)
	}
	for _, word := range []string{"anyOf", "oneOf"} {
		if branches := list(object[word]); len(branches) > 0 {
			add(m.branch(branches))
		}
	}
	if condition, ok := object["if"]; ok {
		if m.r.IntN(2) == 0 {
			add(condition)
			add(object["then"])
		} else {
			add(object["else"])
		}
	}
	return all, err
}

// branch takes one of several alternatives. Deep down, and where null is not wanted, it looks for a simple one.
func (m *maker) branch(branches []any) any {
	taken := branches[m.r.IntN(len(branches))]
	for range 6 {
		b, ok := taken.(map[string]any)
		if !ok {
			return taken
		}
		null := b["type"] == "null" && m.o.Plain
		deep := m.left <= 0 && (b["$ref"] != nil || b["properties"] != nil || b["allOf"] != nil)
		if !null && !deep {
			break
		}
		taken = branches[m.r.IntN(len(branches))]
	}
	return taken
}

// lookup follows a reference within the schema.
func lookup(root any, ref string) (any, bool) {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, false
	}
	at := root
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if pointer == "" {
			break
		}
		step = strings.NewReplacer("~1", "/", "~0", "~", "%25", "%").Replace(step)
		switch node := at.(type) {
		case map[string]any:
			if at, ok = node[step]; !ok {
				return nil, false
			}
		case []any:
			i, err := json.Number(step).Int64()
			if err != nil || i < 0 || i >= int64(len(node)) {
				return nil, false
			}
			at = node[i]
		default:
			return nil, false
		}
	}
	return at, true
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// all returns what every part says under a word.
func (p parts) all(word string) (found []any) {
	for _, part := range p {
		if v, ok := part[word]; ok {
			found = append(found, v)
		}
	}
	return found
}

// has tells whether any part says something under one of the words.
func (p parts) has(words ...string) bool {
	return slices.ContainsFunc(p, func(part map[string]any) bool {
		return slices.ContainsFunc(words, func(word string) bool { return part[word] != nil })
	})
}

// unbounded is what most returns where nothing is said.
const unbounded = 1 << 30

// least returns the largest of the lower bounds under a word, 0 if there is none.
func (p parts) least(word string) int {
	out := 0
	for _, n := range p.counts(word) {
		out = max(out, n)
	}
	return out
}

// most returns the smallest of the upper bounds under a word.
func (p parts) most(word string) int {
	out := unbounded
	for _, n := range p.counts(word) {
		out = min(out, n)
	}
	return out
}

func (p parts) counts(word string) (found []int) {
	for _, v := range p.all(word) {
		if n, ok := v.(json.Number); ok {
			if i, err := n.Int64(); err == nil {
				found = append(found, int(min(i, unbounded)))
			}
		}
	}
	return found
}

// types returns the types that all parts allow, in a fixed order; without any word about it those that the other
// words are about.
func (p parts) types() []string {
	known := []string{"string", "integer", "number", "boolean", "object", "array", "null"}
	said := false
	for _, v := range p.all("type") {
		var names []string
		switch v := v.(type) {
		case string:
			names = []string{v}
		case []any:
			for _, n := range v {
				if n, ok := n.(string); ok {
					names = append(names, n)
				}
			}
		}
		said = true
		known = slices.DeleteFunc(known, func(name string) bool {
			return !slices.Contains(names, name) && (name != "integer" || !slices.Contains(names, "number"))
		})
	}
	if slices.Contains(known, "number") && said {
		known = slices.DeleteFunc(known, func(name string) bool { return name == "integer" })
	}
	if said {
		return known
	}
	switch {
	case p.has("properties", "required", "additionalProperties", "minProperties", "patternProperties", "propertyNames"):
		return []string{"object"}
	case p.has("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"):
		return []string{"array"}
	case p.has("minLength", "maxLength", "pattern", "contentEncoding"):
		return []string{"string"}
	case p.has("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"):
		return []string{"number"}
	case p.has("format"):
		switch name, _ := p.all("format")[0].(string); {
		case strings.HasPrefix(name, "int"), strings.HasPrefix(name, "uint"):
			return []string{"integer"}
		case name == "float", name == "double":
			return []string{"number"}
		}
		return []string{"string"}
	}
	return []string{"string", "integer", "boolean"}
}

// member returns the schemas of one member of an object; ok is false when a part forbids it.
func (p parts) member(name string) (found []any, ok bool) {
	for _, part := range p {
		declared := false
		properties, _ := part["properties"].(map[string]any)
		if s, ok := properties[name]; ok {
			found, declared = append(found, s), true
		}
		patterns, _ := part["patternProperties"].(map[string]any)
		for _, pattern := range slices.Sorted(maps.Keys(patterns)) {
			if re, err := regexp.Compile(pattern); err == nil && re.MatchString(name) {
				found, declared = append(found, patterns[pattern]), true
			}
		}
		if more, said := part["additionalProperties"]; said && !declared {
			if more == false {
				return nil, false
			}
			found = append(found, more)
		}
	}
	return found, true
}

// names returns the declared members, sorted, and those that must be there.
func (p parts) names() (declared []string, required map[string]bool) {
	seen := map[string]bool{}
	required = map[string]bool{}
	for _, part := range p {
		properties, _ := part["properties"].(map[string]any)
		for name := range properties {
			seen[name] = true
		}
		for _, name := range list(part["required"]) {
			if name, ok := name.(string); ok {
				seen[name], required[name] = true, true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen)), required
}

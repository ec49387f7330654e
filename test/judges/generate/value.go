package generate

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// maker makes one value.
type maker struct {
	r        *rand.Rand
	o        Options
	root     any
	optional float64 // how likely an optional member is given
	examples bool    // whether examples of the schema are taken
	left     int     // how many values may still be made before optional ones end
}

// value makes a value that fits all of the schemas, as far as can be seen without trying.
func (m *maker) value(schemas []any, depth int) (any, error) {
	m.left--
	if depth > 40 || m.left < -2000 {
		return nil, fmt.Errorf("%w: required members go on without end", errUnfit)
	}
	var p parts
	for _, s := range schemas {
		var err error
		if p, err = m.gather(p, s, 0); err != nil {
			return nil, err
		}
	}
	if fixed := p.all("const"); len(fixed) > 0 {
		return fixed[0], nil
	}
	if enums := p.all("enum"); len(enums) > 0 {
		return m.listed(p, enums)
	}
	if m.examples && m.r.IntN(3) > 0 {
		for _, e := range p.all("examples") {
			if given := list(e); len(given) > 0 {
				if v := given[m.r.IntN(len(given))]; m.credible(p, v) {
					return v, nil
				}
			}
		}
	}
	types := p.types()
	if len(types) > 1 && (m.o.Plain || m.o.NoEmpty || m.r.IntN(4) > 0) {
		types = slices.DeleteFunc(types, func(name string) bool { return name == "null" })
	}
	if len(types) > 1 && m.left <= 0 {
		types = slices.DeleteFunc(slices.Clone(types), func(name string) bool { return name == "object" || name == "array" })
	}
	if len(types) == 0 {
		return nil, fmt.Errorf("%w: its types exclude each other", errUnfit)
	}
	switch types[m.r.IntN(len(types))] {
	case "object":
		return m.object(p, depth)
	case "array":
		return m.array(p, depth)
	case "string":
		return m.text(p)
	case "integer":
		return m.number(p, true)
	case "number":
		return m.number(p, false)
	case "boolean":
		return m.r.IntN(2) == 0, nil
	}
	return nil, nil
}

// credible tells whether an example keeps to the format, which the validator does not look at.
func (m *maker) credible(p parts, v any) bool {
	text, ok := v.(string)
	if !ok {
		return true
	}
	for _, format := range p.all("format") {
		format, _ := format.(string)
		if !keeps(format, text) {
			return false
		}
	}
	return true
}

// listed takes a value that stands in every list.
func (m *maker) listed(p parts, enums []any) (any, error) {
	var common []any
	types := p.types()
	for _, v := range list(enums[0]) {
		if v == nil && (m.o.Plain || m.o.NoEmpty) && len(list(enums[0])) > 1 {
			continue
		}
		if v == "" && m.o.NoEmpty && len(list(enums[0])) > 1 {
			continue
		}
		if p.has("type") && !slices.Contains(types, kindOf(v)) && !(kindOf(v) == "integer" && slices.Contains(types, "number")) {
			continue
		}
		everywhere := true
		for _, other := range enums[1:] {
			everywhere = everywhere && slices.ContainsFunc(list(other), func(o any) bool { return same(o, v) })
		}
		if everywhere {
			common = append(common, v)
		}
	}
	if len(common) == 0 {
		return nil, fmt.Errorf("%w: the lists of values have none in common", errUnfit)
	}
	return common[m.r.IntN(len(common))], nil
}

func (m *maker) object(p parts, depth int) (any, error) {
	out := map[string]any{}
	declared, required := p.names()
	most := p.most("maxProperties")
	for _, pass := range []bool{true, false} { // what must be there first
		for _, name := range declared {
			if required[name] != pass {
				continue
			}
			if !pass && (depth >= m.o.Depth || m.left <= 0 || len(out) >= most || m.r.Float64() >= m.optional) {
				continue
			}
			schemas, ok := p.member(name)
			if !ok {
				if pass {
					return nil, fmt.Errorf("%w: the member %q is required and forbidden", errUnfit, name)
				}
				continue
			}
			v, err := m.value(schemas, depth+1)
			if err != nil {
				if pass {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
				continue // it can be left away
			}
			out[name] = v
		}
	}
	for _, needs := range p.all("dependentRequired") {
		needs, _ := needs.(map[string]any)
		for _, trigger := range slices.Sorted(maps.Keys(needs)) {
			if _, given := out[trigger]; !given {
				continue
			}
			for _, name := range list(needs[trigger]) {
				name, _ := name.(string)
				if _, given := out[name]; given {
					continue
				}
				schemas, _ := p.member(name)
				v, err := m.value(schemas, depth+1)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
				out[name] = v
			}
		}
	}
	least := p.least("minProperties")
	if m.o.NoEmpty {
		least = max(least, 1)
	}
	if err := m.more(p, out, declared, least, most, depth); err != nil {
		return nil, err
	}
	return out, nil
}

// more adds members that are not declared, where the schema speaks of them or too few are there.
func (m *maker) more(p parts, out map[string]any, declared []string, least, most, depth int) error {
	for _, name := range declared { // declared ones first
		if len(out) >= least || len(out) >= most {
			break
		}
		if _, given := out[name]; given {
			continue
		}
		if schemas, ok := p.member(name); ok {
			if v, err := m.value(schemas, depth+1); err == nil {
				out[name] = v
			}
		}
	}
	var names []string
	for _, s := range p.all("additionalProperties") {
		if s != false && (s != true || !m.o.Plain) && m.r.Float64() < max(m.optional, 0.2) {
			names = append(names, m.memberName(p), m.memberName(p))[:1+m.r.IntN(2)]
		}
	}
	for _, s := range p.all("patternProperties") {
		patterns, _ := s.(map[string]any)
		for _, pattern := range slices.Sorted(maps.Keys(patterns)) {
			if name, err := m.matching(pattern, 1, 40); err == nil && m.r.Float64() < max(m.optional, 0.2) {
				names = append(names, name)
			}
		}
	}
	if depth >= m.o.Depth || m.left <= 0 {
		names = nil
	}
	for i := 0; i < len(names) || len(out) < least && i < len(names)+least; i++ {
		name := m.memberName(p)
		if i < len(names) {
			name = names[i]
		}
		schemas, ok := p.member(name)
		if !ok || len(out) >= most {
			continue
		}
		if slices.Contains(p.all("unevaluatedProperties"), any(false)) && len(schemas) == 0 {
			continue
		}
		v, err := m.value(schemas, depth+1)
		if err == nil {
			out[name] = v
		}
	}
	if len(out) < least && !(m.o.NoEmpty && least == 1) {
		return fmt.Errorf("%w: %d members are wanted", errUnfit, least)
	}
	return nil
}

// memberName makes the name of a member that is not declared.
func (m *maker) memberName(p parts) string {
	if names := p.all("propertyNames"); len(names) > 0 {
		if v, err := m.value(append(names, map[string]any{"type": "string", "minLength": number(1)}), 0); err == nil {
			if name, ok := v.(string); ok {
				return name
			}
		}
	}
	if m.o.Plain || m.r.IntN(2) == 0 {
		return m.word(3 + m.r.IntN(6))
	}
	return "k" + m.nasty(1+m.r.IntN(3))
}

func (m *maker) array(p parts, depth int) (any, error) {
	least, most := p.least("minItems"), p.most("maxItems")
	prefix := []any{}
	for _, s := range p.all("prefixItems") {
		prefix = append(prefix, list(s)...)
	}
	if least > 2000 {
		return nil, fmt.Errorf("%w: %d elements are wanted", errUnfit, least)
	}
	if m.o.NoEmpty || len(prefix) > 0 || p.has("contains") {
		least = max(least, 1)
	}
	n := min(least+m.r.IntN(4), most)
	if depth >= m.o.Depth || m.left <= 0 {
		n = min(least, most)
	}
	n = max(n, min(len(prefix), most))
	out := make([]any, 0, n)
	unique := slices.Contains(p.all("uniqueItems"), any(true))
	for tries := 0; len(out) < n && tries < 4*n+20; tries++ {
		schemas := p.all("items")
		if len(out) < len(prefix) {
			schemas = []any{prefix[len(out)]}
		} else if slices.Contains(schemas, any(false)) {
			break
		}
		if len(out) == 0 {
			schemas = append(slices.Clone(schemas), p.all("contains")...)
		}
		v, err := m.value(schemas, depth+1)
		if err != nil {
			if len(out) >= least {
				break
			}
			return nil, err
		}
		if unique && slices.ContainsFunc(out, func(o any) bool { return same(o, v) }) {
			continue
		}
		out = append(out, v)
	}
	return out, nil
}

// same compares two values by their text.
func same(a, b any) bool {
	x, err := encode(a)
	if err != nil {
		return false
	}
	y, err := encode(b)
	return err == nil && string(x) == string(y)
}

// kindOf names the type of a value.
func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	default:
		if strings.ContainsAny(fmt.Sprint(v), ".eE") {
			return "number"
		}
		return "integer"
	}
}

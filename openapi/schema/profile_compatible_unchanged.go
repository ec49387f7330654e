package schema

import (
	"slices"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
)

// IsCompatible reports whether [Compatible] certainly leaves a schema unchanged, apart from what [Open] removes. Most schemas are, and this
// check is cheaper than writing and comparing. If it is false, a schema may be unchanged or not.
func IsCompatible(schema *jsonschema.Schema, maxBytes int) bool {
	if maxBytes <= 0 {
		maxBytes = Limits{}.withDefaults().MaxBytes
	}
	root := &definition{}
	w := compatibleWriter{most: maxBytes, steps: maxCompatibleSteps, in: root, known: map[string]*definition{}}
	if len(schema.Source()) > maxBytes || composed(schema) || !w.keepsKeywords(schema, 0) {
		return false
	}
	definitions := schema.Parts("$defs")
	for i := 0; i < len(w.used); i++ { // grows
		if i >= len(definitions) || definitions[i].Name != w.used[i] {
			return false // they would have another order
		}
		w.in = w.known[w.used[i]]
		if d := definitions[i].Schema; !d.IsObject() || !w.keepsKeywords(d, 1) {
			return false
		}
	}
	return len(w.used) == len(definitions) && w.steps >= 0 && !w.bareRecursion() && root.expand(maxExpanded) >= 0
}

// keeps reports whether a schema is written as it is.
func (w *compatibleWriter) keeps(s *jsonschema.Schema, level int) bool {
	if name, noted, ok := plainReference(s); ok {
		w.refer(name, noted)
		return true
	}
	return w.keepsKeywords(s, level)
}

// keepsKeywords reports whether a schema that is more than a reference is written as it is.
func (w *compatibleWriter) keepsKeywords(s *jsonschema.Schema, level int) bool {
	w.in.schemas++
	if w.steps--; w.steps < 0 || level > maxCompatibleDepth {
		return false
	}
	for i, k := range s.Keywords() {
		if !keepsKeyword(s, k, i, level) {
			return false
		}
		if k.Name == "$defs" || k.Name == "additionalProperties" {
			continue
		}
		for _, p := range k.Parts {
			if p.Schema.IsObject() && !w.keeps(p.Schema, level+1) {
				return false
			}
		}
	}
	return true
}

// keepsKeyword reports whether the value of the keyword at an index is written as it is, apart from the schemas in it.
func keepsKeyword(s *jsonschema.Schema, k jsonschema.Keyword, index, level int) bool {
	open := func(p jsonschema.Part) bool { return !p.Schema.IsObject() || p.Schema.Never() }
	switch k.Name {
	case "$ref", "allOf", "oneOf", "const", "unevaluatedProperties":
		return false
	case "additionalProperties": // which Open takes away
		return level == 0 && index > 0 && string(k.Value) == "false"
	case "$defs":
		return level == 0 && index == len(s.Keywords())-1
	case "anyOf":
		return len(k.Parts) > 1 && !slices.ContainsFunc(k.Parts, open)
	case "prefixItems":
		return s.Has("items") && !slices.ContainsFunc(k.Parts, func(p jsonschema.Part) bool { return !p.Schema.IsObject() })
	case "items":
		return len(k.Parts) == 1 && !open(k.Parts[0]) && len(k.Schema().Keywords()) > 0
	case "properties":
		return !slices.ContainsFunc(k.Parts, func(p jsonschema.Part) bool { return open(p) || unnamed(p.Name) })
	case "required":
		names := k.Texts()
		slices.Sort(names)
		return len(names) > 0 && len(slices.Compact(names)) == len(names)
	case "enum":
		for value := range jsonscan.Elements(k.Value) {
			if jsonscan.KindOf(value) != jsonscan.String || len(value) == len(`""`) {
				return false
			}
		}
		return s.Has("type")
	}
	return true
}

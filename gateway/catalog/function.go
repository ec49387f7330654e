package catalog

import (
	"strings"
	"unicode"
)

// functionsOf returns the names of functions that stand in ids as FastAPI makes them, of those functions that only one operation of
// its API has.
func functionsOf(candidates []*candidate) map[*candidate]string {
	type key struct{ api, function string }
	byFunction := map[key][]*candidate{}
	for _, c := range candidates {
		if f, lost := transliterated(function(c.op.ID, c.op.Method, c.op.Path)); f != "" && !lost {
			byFunction[key{c.api, f}] = append(byFunction[key{c.api, f}], c)
		}
	}
	functions := map[*candidate]string{}
	for k, of := range byFunction {
		if len(of) == 1 && strings.ContainsFunc(k.function, isLetter) {
			functions[of[0]] = k.function
		}
	}
	return functions
}

// function returns the name of the function in an id that FastAPI made of it, the path and the method:
// "read_item_items__item_id__get" of "read_item" and GET /items/{item_id}. It is "" of every other id.
func function(id, method, path string) string {
	end := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return r
		}
		return '_'
	}, path) + "_" + strings.ToLower(method)
	name, ok := strings.CutSuffix(id, end)
	if !ok {
		return ""
	}
	return name
}

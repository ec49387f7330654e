package main

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// place puts the arguments of a case where the tool's schema has them, as a model would: parameters by their names or as members of an
// object that has them, the members of a body at the root or in an object for the body.
func (c requestCase) place(tool *mcp.Tool) map[string]any {
	schema, _ := tool.InputSchema.(map[string]any)
	root := properties(schema, schema)
	arguments, taken := map[string]any{}, map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(c.arguments.Parameters)) {
		value := c.arguments.Parameters[name]
		if key := find(root, name); key != "" {
			arguments[key], taken[key] = value, true
			continue
		}
		inside := name
		for _, group := range slices.Sorted(maps.Keys(root)) {
			if key := find(properties(schema, root[group]), name); key != "" && !isBody(group) {
				members, _ := arguments[group].(map[string]any)
				if members == nil {
					members = map[string]any{}
				}
				members[key], arguments[group], inside = value, members, ""
				break
			}
		}
		if inside != "" {
			arguments[name] = value
		}
	}
	if c.arguments.Body == nil {
		return arguments
	}
	body, isObject := c.arguments.Body.(map[string]any)
	flat := isObject
	for name := range body {
		flat = flat && root[name] != nil && !taken[name]
	}
	if flat {
		maps.Copy(arguments, body)
		return arguments
	}
	for key, declared := range root {
		if !isBody(key) {
			continue
		}
		arguments[key] = c.arguments.Body
		if s, ok := declared.(map[string]any); ok && s["type"] == "string" {
			arguments[key] = c.want.body // the tool wants the text of the body
		}
		return arguments
	}
	if isObject {
		for name, value := range body {
			if key := find(root, name); key != "" && !taken[key] {
				name = key
			}
			if _, used := arguments[name]; !used {
				arguments[name] = value
			}
		}
	}
	return arguments
}

func isBody(key string) bool {
	return slices.Contains([]string{"body", "requestBody", "request_body"}, key)
}

// find returns the key for a parameter: its name with a suffix that tells where it is, since its name alone is then another's; its name;
// or one that differs in signs and case.
func find(properties map[string]any, name string) string {
	keys := slices.Sorted(maps.Keys(properties))
	for _, matches := range []func(string) bool{
		func(key string) bool { return strings.HasPrefix(key, name+"__") },
		func(key string) bool { return key == name },
		func(key string) bool { return letters(key) == letters(name) },
	} {
		if i := slices.IndexFunc(keys, matches); i >= 0 {
			return keys[i]
		}
	}
	return ""
}

func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// properties returns the members that a schema declares, also by references and allOf.
func properties(root map[string]any, schema any) map[string]any {
	all := map[string]any{}
	var visit func(any, int)
	visit = func(value any, depth int) {
		s, ok := value.(map[string]any)
		if !ok || depth > 8 {
			return
		}
		if declared, ok := s["properties"].(map[string]any); ok {
			maps.Copy(all, declared)
		}
		if parts, ok := s["allOf"].([]any); ok {
			for _, part := range parts {
				visit(part, depth+1)
			}
		}
		if reference, ok := s["$ref"].(string); ok && strings.HasPrefix(reference, "#/") {
			var at any = root
			for name := range strings.SplitSeq(reference[2:], "/") {
				m, _ := at.(map[string]any)
				at = m[name]
			}
			visit(at, depth+1)
		}
	}
	visit(schema, 0)
	return all
}

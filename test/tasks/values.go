package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/itchyny/gojq"
)

// values are what the steps of a task have kept, by name.
type values map[string]any

var placeholder = regexp.MustCompile(`\$\{(\w+)\}`)

// expand replaces ${NAME} in all strings of a JSON value. A string that is nothing else becomes the value itself.
func (v values) expand(value any) (any, error) {
	switch value := value.(type) {
	case string:
		return v.expandText(value)
	case []any:
		all := make([]any, len(value))
		for i, item := range value {
			expanded, err := v.expand(item)
			if err != nil {
				return nil, err
			}
			all[i] = expanded
		}
		return all, nil
	case map[string]any:
		all := make(map[string]any, len(value))
		for name, member := range value {
			expanded, err := v.expand(member)
			if err != nil {
				return nil, err
			}
			all[name] = expanded
		}
		return all, nil
	}
	return value, nil
}

func (v values) expandText(text string) (any, error) {
	if match := placeholder.FindStringSubmatch(text); match != nil && match[0] == text {
		if value, ok := v[match[1]]; ok {
			return value, nil
		}
	}
	return v.text(text)
}

// text replaces ${NAME} in a text.
func (v values) text(text string) (string, error) {
	var missing []string
	expanded := placeholder.ReplaceAllStringFunc(text, func(match string) string {
		name := placeholder.FindStringSubmatch(match)[1]
		value, ok := v[name]
		if !ok {
			missing = append(missing, name)
			return match
		}
		if s, ok := value.(string); ok {
			return s
		}
		return compact(value)
	})
	if len(missing) > 0 {
		return "", fmt.Errorf("no step before has kept %s", strings.Join(missing, ", "))
	}
	return expanded, nil
}

// keep adds what queries in jq find in an answer. The answer is JSON, or a string if it is anything else. A list or a bare value may stand
// in an object with the one member result, as structured results of MCP have it.
func (v values) keep(queries map[string]string, answer string) error {
	if len(queries) == 0 {
		return nil
	}
	value := parse(answer)
	if object, ok := value.(map[string]any); ok && len(object) == 1 {
		if result, ok := object["result"]; ok {
			value = result
		}
	}
	for name, query := range queries {
		found, err := ask(query, value, nil)
		if err != nil {
			return err
		}
		if found == nil {
			return fmt.Errorf("%s finds nothing in the answer %.300s", query, answer)
		}
		v[name] = found
	}
	return nil
}

// parse returns the JSON value that an answer begins with, or the answer.
func parse(answer string) any {
	var value any
	if err := json.NewDecoder(strings.NewReader(answer)).Decode(&value); err != nil {
		return answer
	}
	return value
}

// ask returns the first result of a query in jq, which has the kept values as $NAME.
func ask(query string, value any, v values) (any, error) {
	parsed, err := gojq.Parse(query)
	if err != nil {
		return nil, fmt.Errorf("the query %q: %w", query, err)
	}
	var names []string
	var bound []any
	for name, value := range v {
		names, bound = append(names, "$"+name), append(bound, value)
	}
	code, err := gojq.Compile(parsed, gojq.WithVariables(names))
	if err != nil {
		return nil, fmt.Errorf("the query %q: %w", query, err)
	}
	found, ok := code.Run(value, bound...).Next()
	if !ok {
		return nil, nil
	}
	if err, ok := found.(error); ok {
		return nil, fmt.Errorf("the query %q: %w", query, err)
	}
	return found, nil
}

func compact(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

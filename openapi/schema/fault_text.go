package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

// show returns a given value with its type, cut to maxShown characters: `string "x"`, `number 5`, `null`.
func show(value any) string {
	name := ""
	switch value.(type) {
	case string:
		name = "string "
	case json.Number:
		name = "number "
	case bool:
		name = "boolean "
	case []any:
		name = "array "
	case map[string]any:
		name = "object "
	}
	return name + showPlain(value)
}

// showPlain returns a value as JSON, cut to maxShown characters.
func showPlain(value any) string {
	return text.TruncateWords(string(appendShown(nil, value)), maxShown)
}

// appendShown appends a value as JSON, and stops soon after there is more than will be shown.
func appendShown(dst []byte, value any) []byte {
	const enough = 4 * maxShown // bytes
	if len(dst) > enough {
		return dst
	}
	switch value := value.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return fmt.Append(dst, value)
	case json.Number:
		return append(dst, value[:min(len(value), enough)]...)
	case string:
		if len(value) > enough {
			return append(jsonscan.AppendString(dst, text.Prefix(value, enough)), ' ')
		}
		return jsonscan.AppendString(dst, value)
	case []any:
		dst = append(dst, '[')
		for i, item := range value {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst = appendShown(dst, item); len(dst) > enough {
				return dst
			}
		}
		return append(dst, ']')
	case map[string]any:
		dst = append(dst, '{')
		for i, name := range slices.Sorted(maps.Keys(value)) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendShown(dst, name), ':')
			if dst = appendShown(dst, value[name]); len(dst) > enough {
				return dst
			}
		}
		return append(dst, '}')
	}
	return fmt.Append(dst, value)
}

// count returns "1 item", "2 items".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// eachOnce leaves out values that look like one before: alternatives often allow the same.
func eachOnce(values []any) []any {
	out := make([]any, 0, len(values))
	seen := make(map[string]bool, len(values))
	for _, v := range values {
		if text := showPlain(v); !seen[text] {
			seen[text] = true
			out = append(out, v)
		}
	}
	return out
}

// oneOf lists allowed values.
func oneOf(values []any) string {
	var shown []string
	for _, v := range values[:min(len(values), maxAllowed)] {
		shown = append(shown, showPlain(v))
	}
	switch {
	case len(values) == 1:
		return shown[0]
	case len(values) > maxAllowed:
		return fmt.Sprintf("one of %s and %d more", strings.Join(shown, ", "), len(values)-maxAllowed)
	}
	return "one of " + strings.Join(shown, ", ")
}

// similar returns a hint if one of the allowed texts is close to the given one.
func (e *explainer) similar(allowed []any, given any) string {
	raw, ok := given.(string)
	if !ok || e.compared > maxCompared {
		return ""
	}
	var names []string
	for _, v := range allowed {
		if s, ok := v.(string); ok {
			names = append(names, s)
		}
	}
	return text.DidYouMean(text.TruncateWords(e.near(raw, names), maxShown))
}

package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/truncate"
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
	return truncate.Words(string(appendShown(nil, value)), maxShown)
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
			return append(jsonscan.AppendString(dst, truncate.Prefix(value, enough)), ' ')
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
func similar(allowed []any, given any) string {
	text, ok := given.(string)
	if !ok {
		return ""
	}
	var names []string
	for _, v := range allowed {
		if s, ok := v.(string); ok {
			names = append(names, s)
		}
	}
	if near := nearest(text, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", truncate.Words(near, maxShown))
	}
	return ""
}

// nearest returns the name that is most like the given one, "" when none is like it at all. Case, "-" and "_" count for
// little.
func nearest(given string, names []string) string {
	const longest = 64
	if given == "" || len(given) > longest {
		return ""
	}
	best, least := "", min(3, 1+len(given)/4)+1
	fold := strings.NewReplacer("-", "", "_", "", ".", "", " ", "")
	folded := strings.ToLower(fold.Replace(given))
	for _, name := range names {
		if len(name) > longest {
			continue
		}
		other := strings.ToLower(fold.Replace(name))
		d := distance(folded, other)
		if d >= len(other) || d >= len(folded) && d > 0 {
			continue
		}
		if d < least {
			best, least = name, d
		}
	}
	return best
}

// distance is the number of characters to insert, remove, replace or swap with their neighbour to turn a into b
// (optimal string alignment).
func distance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[0] {
		rows[0][j] = j
	}
	before, last, row := rows[2], rows[0], rows[1]
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

// difference is one place where two JSON values differ. A value that is missing is nil.
type difference struct {
	At  string `json:"at"` // JSON Pointer
	Was any    `json:"was,omitempty"`
	Now any    `json:"now,omitempty"`
}

// String writes the difference for people, with short values.
func (d difference) String() string {
	switch {
	case d.Was == nil:
		return d.At + " is new: " + shortJSON(d.Now)
	case d.Now == nil:
		return d.At + " is left out: " + shortJSON(d.Was)
	}
	return d.At + ": " + shortJSON(d.Was) + " before, " + shortJSON(d.Now) + " now"
}

// shortJSON returns the beginning of a value as JSON.
func shortJSON(value any) string {
	raw, err := json.Marshal(value)
	if err != nil { // decoded JSON always encodes
		return "?"
	}
	return text.TruncateRunes(string(raw), 60)
}

// mostDifferences is the number of places that are listed of one tool. A schema that is another one differs everywhere.
const mostDifferences = 50

// differences appends the places where two decoded values differ, at most mostDifferences in all.
func differences(all []difference, at string, was, now any) []difference {
	if len(all) >= mostDifferences {
		return all
	}
	switch before := was.(type) {
	case map[string]any:
		after, ok := now.(map[string]any)
		if !ok {
			break
		}
		names := slices.Collect(maps.Keys(before))
		for name := range after {
			if _, both := before[name]; !both {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			all = differences(all, at+"/"+jsonscan.EscapeToken(name), before[name], after[name])
		}
		return all
	case []any:
		after, ok := now.([]any)
		if !ok || len(after) != len(before) {
			break
		}
		for i := range before {
			all = differences(all, at+"/"+strconv.Itoa(i), before[i], after[i])
		}
		return all
	default:
		if _, isMap := now.(map[string]any); isMap {
			break
		}
		if _, isList := now.([]any); !isList && was == now {
			return all
		}
	}
	return append(all, difference{At: at, Was: was, Now: now})
}

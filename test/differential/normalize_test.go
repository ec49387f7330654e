package differential

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// normalize takes out of a message what two servers may say differently: names, times, opaque values and words. It keeps
// the opaque ones in found.
func normalize(v any, found map[string]string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			normalize(e, found)
		}
	case map[string]any:
		for key, value := range v {
			text, isText := value.(string)
			switch {
			case strings.HasSuffix(key, "serverInfo"):
				v[key] = "SERVER"
			case key == "subscribe" && value == false:
				delete(v, key) // as if it were not there
			case key == "ttlMs" || key == "cacheScope":
				v[key] = "CACHE"
			case key == "drawbridge/request" && isText:
				v[key] = "REQUEST"
			case key == "nextCursor" && isText:
				found["cursor"] = text
				v[key] = "CURSOR"
			case key == "requestState" && isText:
				found["state"] = text
				v[key] = "STATE"
			case key == "error":
				if e, ok := value.(map[string]any); ok && e["message"] != "" {
					e["message"] = "WORDS"
				}
			default:
				normalize(value, found)
			}
		}
		if v["isError"] == true {
			v["content"] = "WORDS" // of the model's and the gateway's, not of the protocol
		}
	}
}

// A difference is a place where two answers are not the same.
type difference struct{ where, sdk, ours string }

// compare lists the places in which two values differ, deepest ones.
func compare(where string, sdk, ours any) []difference {
	a, isA := sdk.(map[string]any)
	b, isB := ours.(map[string]any)
	if isA && isB {
		if a[outcomeKey] != b[outcomeKey] {
			return []difference{{outcomeKey, fmt.Sprint(a[outcomeKey]), fmt.Sprint(b[outcomeKey])}}
		}
		keys := maps.Clone(a)
		maps.Copy(keys, b)
		var all []difference
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			next := strings.TrimPrefix(where+"/"+key, "/")
			va, inA := a[key]
			vb, inB := b[key]
			switch {
			case !inA:
				all = append(all, difference{next, "", brief(vb)})
			case !inB:
				all = append(all, difference{next, brief(va), ""})
			default:
				all = append(all, compare(next, va, vb)...)
			}
		}
		return all
	}
	la, isA := sdk.([]any)
	lb, isB := ours.([]any)
	if isA && isB && len(la) == len(lb) {
		var all []difference
		for i := range la {
			all = append(all, compare(fmt.Sprintf("%s/%d", where, i), la[i], lb[i])...)
		}
		return all
	}
	if x, y := brief(sdk), brief(ours); x != y {
		return []difference{{where, x, y}}
	}
	return nil
}

// brief is a value as it stands in the table.
func brief(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	if err != nil {
		return err.Error()
	}
	text := strings.ReplaceAll(strings.TrimSpace(b.String()), "|", "\\|")
	if len(text) > 120 {
		text = text[:117] + "..."
	}
	return text
}

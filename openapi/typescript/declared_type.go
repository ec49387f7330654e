package typescript

import (
	"slices"
	"strconv"
	"strings"

	"drawbridge/openapi/jsonschema"
)

// typeOf returns the type of a value. Levels is how many levels of objects are opened, and whole reports that the type itself is written,
// even if it has a name.
func (w *declarer) typeOf(schema *jsonschema.Schema, indent, levels int, whole bool) string {
	return strings.Join(w.types(schema, indent, levels, whole), "|")
}

// types returns the types that [declarer.typeOf] joins, at least one.
func (w *declarer) types(schema *jsonschema.Schema, indent, levels int, whole bool) []string {
	if w.over {
		return []string{"unknown"}
	}
	if t := w.shared.of(schema); t != nil && !whole {
		w.enqueue(t)
		return []string{t.name}
	}
	of := schema.Resolve()
	if w.count++; w.count > maxTypes {
		w.over = true
	}
	if of == nil || len(w.open) > leastNested+2*w.detail.depth || slices.Contains(w.open, of) {
		return []string{"unknown"}
	}
	w.open = append(w.open, of)
	defer func() { w.open = w.open[:len(w.open)-1] }()
	sh := w.shape(schema)
	switch {
	case sh.literal != nil:
		return []string{literal(sh.literal, "unknown")}
	case sh.enum != nil:
		return w.enum(sh.enum)
	case sh.alternatives != nil:
		return w.union(sh.alternatives, indent, levels)
	}
	if len(sh.kinds) == 0 {
		return []string{"unknown"}
	}
	all := make([]string, len(sh.kinds))
	for i, kind := range sh.kinds {
		switch kind {
		case "array":
			all[i] = arrayOf(w.types(sh.items, indent, levels, false))
		case "object":
			all[i] = w.object(sh, indent, levels)
		case "integer":
			w.integers = true
			all[i] = kind
		case "string":
			if all[i] = kind; sh.format() == "base64" {
				w.encoded = true
				all[i] = "base64"
			}
		default:
			all[i] = kind
		}
	}
	return all
}

func (w *declarer) union(list []*jsonschema.Schema, indent, levels int) []string {
	var all, first []string
	for _, alternative := range list {
		types := w.types(alternative, indent, levels, false)
		if len(all) >= w.detail.values {
			w.cut = true
			return append(all, "unknown /* …+"+strconv.Itoa(len(list)-len(all))+" */")
		}
		if len(all) == 0 {
			first = types
		}
		if text := strings.Join(types, "|"); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	if len(all) == 1 {
		return first
	}
	return all
}

func (w *declarer) enum(list [][]byte) []string {
	shown := min(len(list), w.detail.values)
	all := make([]string, 0, shown+1)
	for _, value := range list[:shown] {
		if text := literal(value, ""); text != "" {
			all = append(all, text)
			continue
		}
		w.cut = true
		all = append(all, "string /* …*/")
	}
	if shown < len(list) {
		w.cut = true
		all = append(all, "string /* …+"+strconv.Itoa(len(list)-shown)+" */")
	}
	return all
}

// leastNested is the number of schemas in each other, lists and alternatives among them, that are written in any detail.
const leastNested = 6

// leastRequired is the number of required members of an object that have their types in any detail.
const leastRequired = 40

// maxDeclaredName is the length in bytes of a name of a member beyond which it has no line of its own.
const maxDeclaredName = 1000

// object returns the type of an object: a member a line.
func (w *declarer) object(sh *shape, indent, levels int) string {
	if len(sh.members) == 0 {
		if sh.values != nil {
			return "{[key: string]: " + w.typeOf(sh.values, indent, levels, false) + "}"
		}
		return "object"
	}
	if levels <= 0 {
		w.cut = true
		return w.names(sh)
	}
	margin := "\n" + strings.Repeat("  ", indent+1)
	var b strings.Builder
	b.WriteByte('{')
	optional, required := 0, 0
	var rest []jsonschema.Member
	for _, m := range sh.members {
		if w.written+b.Len() > maxDeclared {
			w.over = true
			break
		}
		count, most := &optional, w.detail.members
		if m.Required {
			count, most = &required, max(most, leastRequired)
		}
		if *count++; *count > most || len(m.Name) > maxDeclaredName {
			rest = append(rest, m)
			continue
		}
		b.WriteString(margin + memberText(m) + ": " + w.typeOf(m.Schema, indent+1, levels-1, false) + w.commentOf(m.Schema))
	}
	if len(rest) > 0 {
		w.cut = true
		b.WriteString(margin + w.nameList(rest))
	}
	if len(sh.either) > 0 {
		comment, cut := eitherText(sh.either)
		w.cut = w.cut || cut
		b.WriteString(margin + "// needs " + comment)
	}
	if sh.values != nil {
		b.WriteString(margin + "[key: string]: unknown")
	}
	b.WriteString("\n" + strings.Repeat("  ", indent) + "}")
	w.written += b.Len()
	return b.String()
}

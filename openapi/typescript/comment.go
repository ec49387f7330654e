package typescript

import (
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
	"drawbridge/openapi/text"
)

// commentOf returns the comment behind a member: what the schema says besides its type. It is "" if that is nothing.
func (w *declarer) commentOf(schema *jsonschema.Schema) string {
	sh := w.shape(schema)
	var parts []string
	if sh.merged.Has("deprecated") {
		parts = append(parts, "deprecated")
	}
	if w.detail.comment > 0 {
		if description := w.shorten(strings.TrimSuffix(sh.merged.Nearest("description").Text(), "."), w.detail.comment); description != "" {
			parts = append(parts, description)
		}
	}
	if parts = append(parts, w.bounds(sh)...); len(parts) == 0 {
		return ""
	}
	return " // " + strings.Join(parts, "; ")
}

// inComment returns a text that does not end the comment that it stands in.
func inComment(s string) string { return strings.ReplaceAll(s, "*/", "* /") }

// shorten returns a text in one line of at most limit characters.
func (w *declarer) shorten(raw string, limit int) string {
	raw = strings.Join(strings.Fields(raw), " ")
	short := text.TruncateWords(raw, max(limit, 1))
	w.cut = w.cut || short != raw
	return short
}

// keywordWords are the keywords that bound a value, with their words in a comment.
var keywordWords = []struct{ keyword, before, after string }{
	{"default", "default ", ""}, {"minimum", "≥ ", ""}, {"exclusiveMinimum", "> ", ""}, {"maximum", "≤ ", ""}, {"exclusiveMaximum", "< ", ""},
	{"multipleOf", "a multiple of ", ""}, {"minLength", "≥ ", " characters"}, {"maxLength", "≤ ", " characters"},
	{"minItems", "≥ ", " items"}, {"maxItems", "≤ ", " items"},
}

// maxPattern is the length in bytes of a pattern or a default beyond which it is cut.
const maxPattern = 80

// bounds returns what restricts a value, in words.
func (w *declarer) bounds(sh *shape) (all []string) {
	if w.detail.comment == 0 {
		return nil // an error tells them
	}
	if format := sh.merged.First("format").Text(); format != "" && sh.format() != "base64" && sh.is("string") {
		all = append(all, text.Truncate(strings.Join(strings.Fields(format), " "), maxPattern))
	}
	for _, k := range keywordWords {
		if value := sh.merged.First(k.keyword).Value; value != nil && !(k.keyword == "minLength" && sh.isSegment()) {
			all = append(all, k.before+w.value(value)+k.after)
		}
	}
	for _, pattern := range sh.merged.Values("pattern") {
		switch {
		case sh.isSegment():
			all = append(all, "no /")
		default:
			all = append(all, "pattern "+w.value([]byte(pattern.Text())))
		}
	}
	if examples := sh.merged.First("examples"); w.detail.comment > 60 && len(sh.enum) == 0 {
		if example := firstElement(examples); example != nil && len(example) <= maxLiteral {
			all = append(all, "e.g. "+w.value(example))
		}
	}
	return all
}

// value returns a value in one line, cut if it is long.
func (w *declarer) value(raw []byte) string {
	line := strings.Join(strings.Fields(string(raw)), " ")
	short := text.Truncate(line, maxPattern)
	w.cut = w.cut || short != line
	return short
}

// firstElement returns the first element of a keyword that is a list, nil if there is none.
func firstElement(k jsonschema.Keyword) []byte {
	if jsonscan.KindOf(k.Value) != jsonscan.Array {
		return nil
	}
	for element := range jsonscan.Elements(k.Value) {
		return element
	}
	return nil
}

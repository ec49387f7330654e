package elicit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

// ShownText makes text from outside safe to display: one line of visible characters, of at most limit bytes.
func ShownText(raw string, limit int) string {
	raw = strings.Join(strings.FieldsFunc(raw, func(r rune) bool { return r == ' ' || Invisible(r) }), " ")
	return text.Truncate(raw, limit)
}

// maxShownArguments limits the arguments that a question shows, in bytes.
const maxShownArguments = 600

// shownArguments returns arguments in readable form, cut if they are long.
func shownArguments(args json.RawMessage) []byte {
	shown := escapeInvisible(jsonscan.AppendCompact(nil, args))
	if len(shown) <= maxShownArguments {
		return shown
	}
	return fmt.Appendf(nil, "%s… (%d bytes)", text.Prefix(string(shown), maxShownArguments), len(shown))
}

// escapeInvisible escapes the invisible characters of a JSON text: arguments may come from a page that the model has
// read, and the arguments that are sent must be those that were shown (S8).
func escapeInvisible(text []byte) []byte {
	if !bytes.ContainsFunc(text, Invisible) {
		return text
	}
	var out []byte
	for _, r := range string(text) {
		if !Invisible(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
}

// Invisible reports whether a character has no glyph: control and format characters, of which some reverse the order of
// others, variation selectors, fillers, and code points that are not assigned.
func Invisible(r rune) bool {
	return !unicode.IsPrint(r) || unicode.Is(unicode.Variation_Selector, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

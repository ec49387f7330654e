package finder

import (
	"strings"
	"unicode"
)

// maxWishes is the number of wishes of a query that are searched for one by one; the last one has the rest.
const maxWishes = 4

// wishes returns the parts of a query that ask for different things: "delete a flow; list the runs", or one on each
// line. Parts without two words, such as the end of "GET /flows;", belong to the one before.
func wishes(text string) []string {
	var all []string
	for part := range strings.FieldsFuncSeq(betweenWishes.Replace(text), func(r rune) bool { return r == ';' || r == '\n' }) {
		part = strings.TrimFunc(part, func(r rune) bool { return unicode.IsSpace(r) || r == ',' })
		switch {
		case part == "":
		case len(all) > 0 && (len(all) == maxWishes || !strings.ContainsFunc(part, unicode.IsSpace)):
			all[len(all)-1] += " " + part
		default:
			all = append(all, part)
		}
	}
	if len(all) == 0 {
		return []string{text}
	}
	return all
}

// betweenWishes replaces the words between two wishes by a semicolon.
var betweenWishes = strings.NewReplacer(" and then ", ";", ", then ", ";")

package text

import (
	"strconv"
	"strings"
)

// DidYouMean returns the suggestion at the end of an error about an unknown name, such as `; did you mean "limit"?`. near are the names
// that were probably meant, as [Nearest] or [NearestFew] return them. Without names it returns "".
func DidYouMean(near ...string) string {
	var quoted []string
	for _, name := range near {
		if name != "" {
			quoted = append(quoted, strconv.Quote(name))
		}
	}
	if len(quoted) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(quoted, " or ") + "?"
}

package text

import (
	"strconv"
	"strings"
)

// DidYouMean returns what an error about an unknown name ends with, such as `; did you mean "limit"?`: the names that were probably meant, as
// [Nearest] or [NearestFew] return them; "" if there is none.
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

package deliver

import (
	"fmt"
	"slices"
	"strings"

	"drawbridge/gateway/projection"
	"drawbridge/gateway/tokenizer"
	"drawbridge/openapi/text"
)

// truncationNote returns the note on a response that was cut to most tokens. left is the number of parts that are left out.
func truncationNote(most int, cuts []projection.Cut, left int, safe bool, ways []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The answer is cut to %d tokens.", most)
	if said := (&projection.Answer{Cuts: cuts}).Note(); said != "" {
		b.WriteString(" " + said)
	}
	if left > 0 {
		fmt.Fprintf(&b, " The last %d parts are left out.", left)
	}
	return b.String() + " " + rest(safe, ways)
}

// beginning returns the beginning of a text within a number of tokens.
func beginning(raw string, most int) string {
	if len(raw) <= most {
		return raw
	}
	if n, _ := tokenizer.Prefix([]byte(raw), most); n < len(raw) {
		return raw[:n] + text.Ellipsis
	}
	return raw
}

// inPart adds the number of the part to a cut if there are several parts.
func inPart(c projection.Cut, i, parts int) projection.Cut {
	switch {
	case parts == 1:
	case c.Path == "":
		c.Path = fmt.Sprintf("part %d", i+1)
	default:
		c.Path += fmt.Sprintf(" in part %d", i+1)
	}
	return c
}

// atMostPlaces returns the first cuts, and one that combines all others.
func atMostPlaces(cuts []projection.Cut) []projection.Cut {
	const most = 4
	if len(cuts) <= most {
		return cuts
	}
	others := 0
	for _, c := range cuts[most-1:] {
		if c.Kind == 0 { // it is several already
			others += c.Left
		} else {
			others++
		}
	}
	return append(slices.Clip(cuts[:most-1]), projection.Cut{Left: others})
}

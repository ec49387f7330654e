package deliver

import (
	"slices"
	"strings"

	"drawbridge/gateway/plan"
	"drawbridge/gateway/projection"
	"drawbridge/gateway/tokenizer"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
)

// rest returns the sentences of a note on how to get what a result lacks. A call that changes something is not to be repeated for it.
func rest(safe bool, ways []string) string {
	if !safe {
		text := "The call succeeded: do not repeat it for the rest."
		if len(ways) > 0 {
			text += " In other calls, " + strings.Join(ways, ", or ") + "."
		}
		return text
	}
	if len(ways) == 0 {
		ways = []string{"ask for less by other arguments"}
	}
	return "For the rest, " + strings.Join(ways, ", or ") + "."
}

// restOf returns the sentences on how to get what the projection left out of a response: what the operator did not select, and the cuts.
func (w *result) restOf(selected bool, cuts []projection.Cut, sliced []projection.Sliced) string {
	var ways []string
	if len(cuts) > 0 {
		ways = w.waysAfterCut(cuts, sliced)
	}
	l := w.plan.Links
	if uri := w.wholeURI(len(cuts) > 0 || l != nil && l.Over > 0 && sizeOf(w.Parts) > l.Over); uri != "" {
		ways = append(ways, "read the resource "+uri)
	} else if len(cuts) > 0 && !w.isReachable(cuts, sliced) {
		if uri, lasts := w.rereadURI(); uri != "" {
			ways = append(ways, "read the resource "+uri+lasts)
		}
	}
	if len(cuts) == 0 && (!selected || len(ways) == 0) {
		return ""
	}
	return rest(w.plan.Safe || len(cuts) == 0, ways)
}

// waysAfterCut returns the ways to what the limits left out by arguments of the tool, in words.
func (w *result) waysAfterCut(cuts []projection.Cut, sliced []projection.Sliced) (ways []string) {
	if way := w.wayBySelection(cuts, sliced); way != "" {
		ways = append(ways, way)
	}
	if s := w.plan.Smaller(); s.Pages != "" {
		ways = append(ways, s.Pages)
	} else if s.Fields != "" {
		ways = append(ways, s.Fields)
	}
	return ways
}

// selection returns the name of the argument by which the call can select fields of the response; "" if it has none.
func (w *result) selection() string {
	switch p := w.plan.Projection; {
	case w.inv.Via != "":
		return "select"
	case p != nil && p.Argument:
		return plan.SelectArgument
	}
	return ""
}

// wayBySelection returns the way to the rest by a list of fields, in words; "" if there is none.
func (w *result) wayBySelection(cuts []projection.Cut, sliced []projection.Sliced) string {
	name := w.selection()
	if name == "" {
		return ""
	}
	next, of := "", "fields or elements"
	for i := range cuts { // the outermost is the most useful
		if path := w.next(&cuts[i], sliced); path != "" && (next == "" || len(path) < len(next)) {
			next = path
		}
		if cuts[i].Text {
			of = "lines"
		}
	}
	switch {
	case next != "":
		return "name the " + of + " that you need in " + name + ", such as " + next + " for the next ones"
	case w.inv.Fields != nil || of == "lines":
		return ""
	}
	return "name the fields that you need in " + name
}

// next returns the path of a field list that selects what follows a cut; "" if none does. A call that changed something is not to be repeated
// for it, and parts of a response have different positions.
func (w *result) next(c *projection.Cut, sliced []projection.Sliced) string {
	if w.selection() == "" || !w.plan.Safe || w.OfJob || len(w.Shown) > 1 {
		return ""
	}
	return c.Next(sliced)
}

// isReachable reports whether arguments of the tool lead to all that the limits left out: to elements and lines by their positions, to
// elements by pages.
func (w *result) isReachable(cuts []projection.Cut, sliced []projection.Sliced) bool {
	paged := w.plan.Smaller().Pages != ""
	return !slices.ContainsFunc(cuts, func(c projection.Cut) bool {
		return w.next(&c, sliced) == "" && (!paged || c.Kind != jsonscan.Array)
	})
}

// waysAfterTruncation returns the ways to what a truncation left out, in words: by arguments of the tool, and by link, the last, unless that is
// "".
func (w *result) waysAfterTruncation(cuts []projection.Cut, link string) []string {
	var sliced []projection.Sliced
	if len(w.Projected) == 1 && w.Projected[0].Answer != nil {
		sliced = w.Projected[0].Sliced
	}
	ways := w.waysAfterCut(cuts, sliced)
	if link != "" {
		ways = append(ways, link)
	}
	return ways
}

// linkAfterTruncation returns the link to all of a truncated response, in words; "" if there is none, or if its URI has more than most tokens.
func (w *result) linkAfterTruncation(parts []answer.Part, most int) string {
	// A stream that was cut off does not end at the same place again.
	if slices.ContainsFunc(parts, func(p answer.Part) bool { return p.Events > 0 }) {
		return ""
	}
	uri, lasts := w.rereadURI()
	if uri == "" || tokenizer.Count([]byte(uri)) > most {
		return ""
	}
	return "read the resource " + uri + lasts
}

// waysWithoutProjection returns the ways to a response that can't be projected, in words: a smaller one, or all of it as a resource.
func (w *result) waysWithoutProjection() []string {
	ways := w.plan.Smaller().Ways()
	if uri := w.wholeURI(true); uri != "" {
		ways = append(ways, "read the resource "+uri)
	}
	return ways
}

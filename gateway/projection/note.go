package projection

import (
	"fmt"
	"strconv"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// Note says in one line what an answer lacks; "" if it is whole. more are ways to get the rest, as phrases that go on from
// "For the rest, ", such as "read the resource …".
func (a *Answer) Note(more []string) string {
	var says []string
	if a.Selected {
		says = append(says, "Only the fields that the operator selected are shown.")
	}
	for _, m := range a.Missed {
		says = append(says, m.note())
	}
	for i := range a.Sliced {
		if note := a.Sliced[i].note(); note != "" {
			says = append(says, note)
		}
	}
	if len(a.Cuts) > 0 {
		parts := make([]string, len(a.Cuts))
		for i, c := range a.Cuts {
			parts[i] = c.note()
		}
		says = append(says, "Left out: "+strings.Join(parts, ", ")+".")
	}
	if (a.Selected || len(a.Cuts) > 0) && len(more) > 0 {
		says = append(says, "For the rest, "+strings.Join(more, ", or ")+".")
	}
	return strings.Join(says, " ")
}

func (m *Missed) note() string {
	if len(m.Known) == 0 {
		return fmt.Sprintf("%s is not in the answer.", m.Path)
	}
	return fmt.Sprintf("%s is not in the answer, which has there: %s.", m.Path, strings.Join(m.Known, ", "))
}

// note describes a cut.
func (c *Cut) note() string {
	unit := ""
	switch c.Kind {
	case jsonscan.Array:
		unit = "element"
	case jsonscan.Object:
		unit = "member"
	case jsonscan.String:
		unit = "byte"
	case jsonscan.Number:
		return "a number that is too long"
	default:
		return "and more at " + strconv.Itoa(c.Left) + " other places"
	}
	if c.Left > 1 {
		unit += "s"
	}
	place := c.Path
	if place == "" {
		place = "the answer"
	}
	return fmt.Sprintf("%d %s of %s", c.Left, unit, place)
}

package projection

import (
	"fmt"
	"strconv"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// Note says in one line what an answer lacks; "" if it is whole.
func (a *Answer) Note() string {
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
	switch a.Nulls {
	case 0:
	case 1:
		says = append(says, "1 null member is left out.")
	default:
		says = append(says, fmt.Sprintf("%d null members are left out.", a.Nulls))
	}
	if len(a.Cuts) > 0 {
		parts := make([]string, len(a.Cuts))
		for i, c := range a.Cuts {
			parts[i] = c.note()
		}
		says = append(says, "Left out: "+strings.Join(parts, ", ")+".")
	}
	return strings.Join(says, " ")
}

func (m *Missed) note() string {
	if len(m.Known) == 0 {
		return fmt.Sprintf("%s is not in the answer.", m.Path)
	}
	return fmt.Sprintf("%s is not in the answer, which has there: %s.", m.Path, strings.Join(m.Known, ", "))
}

// Next returns the path of a field list that selects the next elements of an array or lines of a text: as many as are shown, behind those
// that sliced has selected. It is "" if that can't be said.
func (c *Cut) Next(sliced []Sliced) string {
	if c.Shown == 0 || c.Kind != jsonscan.Array && !c.Text {
		return ""
	}
	first := c.Shown
	for i := range sliced {
		if sliced[i].Path == c.Path && sliced[i].lines == c.Text {
			first += sliced[i].First
		}
	}
	end := first + c.Shown
	if !c.Text {
		end = min(end, first+c.Left)
	}
	return fmt.Sprintf("%s[%d:%d]", c.Path, first, end)
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

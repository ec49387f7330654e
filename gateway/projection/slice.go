package projection

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// A slice selects elements of an array by their positions, as the slices of Python and JSONPath do (RFC 9535 section 2.3.4): from 0, the end
// excluded, negative positions from the end. The zero value selects all elements.
type slice struct {
	from, to int
	until    bool // there is a to
}

// maxPosition is the largest position in a slice.
const maxPosition = 1_000_000_000

// all reports whether the slice selects all elements.
func (s slice) all() bool { return s.from == 0 && !s.until }

// of returns the positions that the slice selects of an array with total elements.
func (s slice) of(total int) (first, end int) {
	position := func(i int) int {
		if i < 0 {
			i += total
		}
		return min(max(i, 0), total)
	}
	first, end = position(s.from), total
	if s.until {
		end = position(s.to)
	}
	return first, max(first, end)
}

// parseSlice reads what is between brackets: nothing or * for all elements, a position, or a slice. ok is false if it is none of these.
func parseSlice(text string) (s slice, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" || text == "*" {
		return s, true
	}
	from, to, ranged := strings.Cut(text, ":")
	position := func(text string, absent int) int {
		if text = strings.TrimSpace(text); text == "" {
			return absent
		}
		i, err := strconv.Atoi(text)
		if err != nil || i > maxPosition || i < -maxPosition {
			ok = false
		}
		return i
	}
	ok = true
	s.from = position(from, 0)
	switch {
	case !ranged && s.from == -1: // the last element
	case !ranged:
		s.to, s.until = s.from+1, true
	case strings.TrimSpace(to) != "":
		s.to, s.until = position(to, 0), true
	}
	return s, ok && (ranged || strings.TrimSpace(from) != "")
}

// Sliced is what a slice selected of an array.
type Sliced struct {
	Path       string // that leads to the array; "" for the answer itself
	First, End int    // positions
	Total      int    // elements of the array
	lines      bool   // of a text, in place of elements
}

// note names the elements that are shown.
func (s *Sliced) note() string {
	unit := "elements"
	if s.lines {
		unit = "lines"
	}
	of := s.Path
	if of == "" {
		of = "the answer"
	}
	switch s.End - s.First {
	case s.Total:
		return ""
	case 1:
		return fmt.Sprintf("Of %s %s %d of %d is shown.", of, strings.TrimSuffix(unit, "s"), s.First, s.Total)
	case 0:
		return fmt.Sprintf("Of %s no %s are shown; it has %d.", of, unit, s.Total)
	default:
		return fmt.Sprintf("Of %s the %s %d to %d of %d are shown.", of, unit, s.First, s.End-1, s.Total)
	}
}

// count returns the number of elements of the array that starts at i.
func count(data []byte, i int) (n int) {
	for i++; data[i] != ']'; n++ {
		if data[i] == ',' {
			i++
		}
		i = jsonscan.Skip(data, i)
	}
	return n
}

// Lines returns the lines of a text that the list selects; ok is false if it selects fields. Line ends belong to their lines.
func (l *FieldList) Lines(text []byte) (lines []byte, sliced Sliced, ok bool) {
	if len(l.paths) != 1 {
		return nil, sliced, false
	}
	p := &l.paths[0]
	at := slices.IndexFunc(p.slices, func(all []slice) bool { return len(all) == 1 })
	if at < 0 || at != len(p.path) || at > 1 || at == 1 && (p.wild[0] || p.path[0] != "lines") {
		return nil, sliced, false
	}
	all := bytes.SplitAfter(text, []byte("\n"))
	if len(all[len(all)-1]) == 0 {
		all = all[:len(all)-1]
	}
	sliced = Sliced{Total: len(all), lines: true}
	sliced.First, sliced.End = p.slices[at][0].of(len(all))
	return bytes.Join(all[sliced.First:sliced.End], nil), sliced, true
}

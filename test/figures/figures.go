// Package figures is the table that measuring programs of this module print, and that the suite of docs/contributing/chaos.md reads.
// It hides the layout. The one rule: what Table writes, Parse reads back.
package figures

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

// Figure is one line of the table: what was measured, against its goal. One without a goal is for the reader.
type Figure struct {
	Name, Goal, Measured string
	Met                  bool
}

// New returns a figure.
func New(name, goal, measured string, met bool) Figure {
	return Figure{Name: name, Goal: goal, Measured: measured, Met: met}
}

const (
	head   = "figure"
	missed = "MISSED"
	layout = "%-62s  %-35s  %s%s\n"
)

// Table prints figures as they come. It is for one goroutine.
type Table struct {
	w      io.Writer
	missed int
}

// NewTable prints the head of a table.
func NewTable(w io.Writer) *Table {
	fmt.Fprintf(w, layout, head, "goal", "measured", "")
	return &Table{w: w}
}

// Add prints figures, each on one line: what was measured may quote answers, which have blanks and lines of their own.
func (t *Table) Add(all ...Figure) {
	for _, f := range all {
		mark := ""
		if !f.Met {
			mark, t.missed = "  "+missed, t.missed+1
		}
		fmt.Fprintf(t.w, layout, f.Name, f.Goal, strings.Join(strings.Fields(f.Measured), " "), mark)
	}
}

// Err tells how many figures have missed their goals; nil for none.
func (t *Table) Err() error {
	if t.missed == 0 {
		return nil
	}
	return fmt.Errorf("%d figures were missed", t.missed)
}

var columns = regexp.MustCompile(`\s{2,}`)

// Parse returns the figures of a table that stands in what a program has printed, which may hold other lines too. It is
// an error if there is no table.
func Parse(printed string) ([]Figure, error) {
	_, body, found := strings.Cut("\n"+printed, "\n"+head+" ")
	if !found {
		return nil, fmt.Errorf("there is no table in what was printed:\n%s", printed)
	}
	_, body, _ = strings.Cut(body, "\n") // the names of the columns
	var all []Figure
	for line := range strings.Lines(body) {
		parts := columns.Split(strings.TrimSpace(line), -1)
		met := true
		if last := len(parts) - 1; parts[last] == missed {
			met, parts = false, parts[:last]
		}
		switch len(parts) {
		case 3:
			all = append(all, Figure{parts[0], parts[1], parts[2], met})
		case 2:
			all = append(all, Figure{parts[0], "", parts[1], met})
		}
	}
	return all, nil
}

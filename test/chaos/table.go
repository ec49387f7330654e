package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// table is what was measured of all figures.
type table struct {
	markdown bool
	lines    []line
}

// line is one row with the figure that it belongs to.
type line struct {
	number           int
	name, conditions string
	row
}

func (t *table) add(f figure, z size, r row) {
	t.lines = append(t.lines, line{f.number, f.name, f.conditions[z], r})
}

// missed counts the goals that are not met.
func (t *table) missed() (n int) {
	for _, l := range t.lines {
		if l.verdict == missed {
			n++
		}
	}
	return n
}

// print writes the table. What was run stands once for each figure.
func (t *table) print(w io.Writer) {
	if t.markdown {
		fmt.Fprintln(w, "| # | figure | what is run | goal | measured | |\n|---|---|---|---|---|---|")
	}
	tabs := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	defer tabs.Flush()
	if !t.markdown {
		fmt.Fprintln(tabs, "#\tfigure\twhat is run\tgoal\tmeasured\t")
	}
	previous := 0
	for _, l := range t.lines {
		name, conditions := l.name, l.conditions
		if l.number == previous {
			name, conditions = "", ""
		}
		previous = l.number
		if l.what != "" {
			name = strings.TrimPrefix(name+": "+l.what, ": ")
		}
		if t.markdown {
			fmt.Fprintf(w, "| %d | %s | %s | %s | %s | %s |\n", l.number, cell(name), cell(conditions), cell(l.goal), cell(l.measured), l.verdict)
			continue
		}
		fmt.Fprintf(tabs, "%d\t%s\t%s\t%s\t%s\t%s\n", l.number, name, conditions, l.goal, l.measured, l.verdict)
	}
}

func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

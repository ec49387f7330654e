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

// print writes the table. What was run stands once for each figure, and not in Markdown, where the page tells it.
func (t *table) print(w io.Writer) {
	tabs := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	defer tabs.Flush()
	if t.markdown {
		fmt.Fprintln(w, markdownHead)
	} else {
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
			fmt.Fprintf(w, "| %d | %s | %s | %s | %s |\n", l.number, cell(name), cell(l.goal), cell(l.measured), l.verdict.markdown())
			continue
		}
		fmt.Fprintf(tabs, "%d\t%s\t%s\t%s\t%s\t%s\n", l.number, name, conditions, l.goal, l.measured, l.verdict)
	}
}

// markdownHead is that of the table in docs/contributing/chaos.md.
const markdownHead = "| # | figure | goal | measured | |\n|---|---|---|---|---|"

// markdown is the verdict as docs/contributing/chaos.md has it.
func (v verdict) markdown() string {
	switch v {
	case ok:
		return "met"
	case missed:
		return "**missed**"
	case shown:
		return "–"
	case notMeasured:
	}
	return string(v)
}

// cell is a text as a cell of Markdown has it: none is a dash.
func cell(text string) string {
	if text == "" {
		return "–"
	}
	return strings.ReplaceAll(text, "|", "\\|")
}

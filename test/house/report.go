package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// total sums up the packages.
func total(all []measured) measured {
	t := measured{name: "all"}
	for _, p := range all {
		t.files, t.lines, t.exported = t.files+p.files, t.lines+p.lines, t.exported+p.exported
		t.comments, t.dialect = t.comments+p.comments, t.dialect+p.dialect
		if p.longest.lines > t.longest.lines {
			t.longest = file{p.name + "/" + p.longest.name, p.longest.lines}
		}
	}
	return t
}

func printText(w io.Writer, all []measured) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "package\tfiles\tlines\tlongest file\texported\tlargest set\tdialect\ttypes over 25 methods")
	for _, p := range append(all, total(all)) {
		fmt.Fprintf(table, "%s\t%d\t%d\t%s %d\t%d\t%d\t%.1f\t%s\n", p.name, p.files, p.lines, p.longest.name, p.longest.lines, p.exported, len(p.set), p.dialectShare(), p.types())
	}
	_ = table.Flush()
	var advised []string
	for _, p := range all {
		if p.dialectShare() > advisedDialect {
			advised = append(advised, p.name)
		}
	}
	if len(advised) > 0 {
		fmt.Fprintf(w, "\nmore than %d turns of phrase in 100 lines of comments (advice, no limit): %s\n", advisedDialect, strings.Join(advised, ", "))
	}
}

// dialectShare returns the turns of phrase per 100 lines of comments.
func (m measured) dialectShare() float64 {
	return 100 * float64(m.dialect) / float64(max(m.comments, 1))
}

// printSet prints the files of the largest set of a package, one a line.
func printSet(w io.Writer, all []measured, name string) error {
	for _, p := range all {
		if p.name == name {
			for _, file := range p.set {
				fmt.Fprintln(w, file)
			}
			return nil
		}
	}
	return fmt.Errorf("no package is named %q", name)
}

func (m measured) types() string {
	var names []string
	for _, t := range m.methodful {
		names = append(names, fmt.Sprintf("%s %d", t.name, t.methods))
	}
	return strings.Join(names, ", ")
}

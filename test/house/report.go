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
		if p.longest.lines > t.longest.lines {
			t.longest = file{p.name + "/" + p.longest.name, p.longest.lines}
		}
	}
	return t
}

func printText(w io.Writer, all []measured) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "package\tfiles\tlines\tlongest file\texported\tlargest set\ttypes over 25 methods")
	for _, p := range append(all, total(all)) {
		fmt.Fprintf(table, "%s\t%d\t%d\t%s %d\t%d\t%d\t%s\n", p.name, p.files, p.lines, p.longest.name, p.longest.lines, p.exported, len(p.set), p.types())
	}
	_ = table.Flush()
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

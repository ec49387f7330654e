package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// A row counts one document, or all. Operations that count as compared are equal, explained or unexplained.
type row struct {
	name                                         string
	operations, tools, asked, notMade, built     int
	compared, equal, explained, unexplained      int
	calls, callsEqual, callsExplained, callsOpen int
	pieces, piecesDiffer, plain, plainEqual      int
	rules                                        map[string]int
	judge                                        map[string]int // its reasons
	made                                         map[string]int // reasons for no arguments
	problem                                      string
}

type report struct {
	rows  []row
	total row
}

func newRow(name string) row {
	return row{name: name, rules: map[string]int{}, judge: map[string]int{}, made: map[string]int{}}
}

func summarize(tallies []tally) report {
	r := report{total: newRow("all")}
	for _, t := range tallies {
		w := newRow(t.name)
		w.operations, w.tools, w.problem = t.operations, t.tools, t.problem
		for i := range t.outcomes {
			w.count(&t.outcomes[i])
		}
		r.rows = append(r.rows, w)
		r.total.add(&w)
	}
	return r
}

func (w *row) count(o *outcome) {
	w.asked++
	if o.notMade != "" {
		w.notMade++
		w.made[o.notMade]++
		return
	}
	if o.judge != "" && len(o.comparisons) == 0 && len(o.failures) == 0 {
		w.judge[o.judge]++
		return
	}
	w.built++
	w.compared++
	open, explained := len(o.failures) > 0, false
	for _, c := range o.comparisons {
		w.calls++
		w.pieces += c.pieces
		w.piecesDiffer += min(len(c.differences), c.pieces)
		differences := c.differences
		if c.plain {
			w.plain++
			if len(differences) == 0 {
				w.plainEqual++
			}
		}
		callOpen := false
		for _, d := range differences {
			if d.rule == "" {
				callOpen = true
			} else {
				w.rules[d.rule]++
			}
		}
		switch {
		case callOpen:
			w.callsOpen++
			open = true
		case len(differences) > 0:
			w.callsExplained++
			explained = true
		default:
			w.callsEqual++
		}
	}
	switch {
	case open:
		w.unexplained++
	case explained:
		w.explained++
	default:
		w.equal++
	}
}

func (w *row) add(o *row) {
	w.operations += o.operations
	w.tools += o.tools
	w.asked += o.asked
	w.notMade += o.notMade
	w.built += o.built
	w.compared += o.compared
	w.equal += o.equal
	w.explained += o.explained
	w.unexplained += o.unexplained
	w.calls += o.calls
	w.plain += o.plain
	w.plainEqual += o.plainEqual
	w.pieces += o.pieces
	w.piecesDiffer += o.piecesDiffer
	w.callsEqual += o.callsEqual
	w.callsExplained += o.callsExplained
	w.callsOpen += o.callsOpen
	for _, m := range []struct{ to, from map[string]int }{{w.rules, o.rules}, {w.judge, o.judge}, {w.made, o.made}} {
		for k, n := range m.from {
			m.to[k] += n
		}
	}
}

func (r *report) print(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "document\toperations\tasked\tno call\tbuilt\tcompared\tequal\texplained\tunexplained\t calls\tequal\texplained\tunexplained\t")
	for _, row := range append(slices.Clone(r.rows), r.total) {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", row.name, row.operations, row.asked, row.notMade, row.built, row.compared,
			row.equal, row.explained, row.unexplained, row.calls, row.callsEqual, row.callsExplained, row.callsOpen)
	}
	t.Flush()
	fmt.Fprintf(w, "plain calls: %d, equal %.2f %%; pieces: %d, differ %d\n", r.total.plain, 100*float64(r.total.plainEqual)/float64(r.total.plain), r.total.pieces, r.total.piecesDiffer)
	for _, list := range []struct {
		title string
		of    map[string]int
	}{{"not built, in swagger-client's words", r.total.judge}, {"no call of ours", r.total.made}, {"differences explained, by rule", r.total.rules}} {
		if len(list.of) > 0 {
			fmt.Fprintf(w, "\n%s:\n", list.title)
			for _, k := range byCount(list.of) {
				fmt.Fprintf(w, "%6d  %.200s\n", list.of[k], strings.ReplaceAll(k, "\n", " "))
			}
		}
	}
}

func byCount(m map[string]int) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int {
		if m[a] != m[b] {
			return m[b] - m[a]
		}
		return strings.Compare(a, b)
	})
	return keys
}

func (r *report) markdown(w io.Writer) { r.print(w) }

func (r *report) verdict() error {
	if r.total.unexplained > 0 {
		return errors.New("not explained")
	}
	return nil
}

// printDifferences prints what is not explained, and with -v what is.
func printDifferences(w io.Writer, o *options, outcomes []outcome) {
	shown := 0
	for _, oc := range outcomes {
		for _, f := range oc.failures {
			fmt.Fprintf(w, "%s: %s %s: %s\n", oc.subject.document, oc.subject.op.Method, oc.subject.op.Path, f)
		}
		for _, c := range oc.comparisons {
			for _, d := range c.differences {
				if d.rule == "" {
					if shown++; shown > o.show {
						continue
					}
				} else if !o.verbose {
					continue
				}
				fmt.Fprintf(w, "%s: %s %s: %s %s\n", oc.subject.document, oc.subject.op.Method, oc.subject.op.Path, d, d.rule)
			}
		}
	}
	if shown > o.show {
		fmt.Fprintf(w, "… and %d more\n", shown-o.show)
	}
}

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
)

// What a run must reach.
const (
	leastCompared = 0.80 // of the operations asked about
	leastEqual    = 0.99 // of the plain calls about which the standard says what is right
)

// counts is how comparisons came out. Each stands once: what is silent has only differences about which the standard
// says nothing.
type counts struct{ compared, equal, silent, explained, unexplained int }

func (c *counts) add(o counts) {
	c.compared += o.compared
	c.equal += o.equal
	c.silent += o.silent
	c.explained += o.explained
	c.unexplained += o.unexplained
}

// verdict counts one comparison by its differences.
func (c *counts) verdict(differences []difference, failed bool) {
	c.compared++
	has := func(f func(difference) bool) bool { return slices.ContainsFunc(differences, f) }
	switch {
	case failed || has(func(d difference) bool { return d.rule == "" }):
		c.unexplained++
	case has(func(d difference) bool { return !d.silent }):
		c.explained++
	case len(differences) > 0:
		c.silent++
	default:
		c.equal++
	}
}

// decided is the share that is equal where the standard says what is right.
func (c *counts) decided() float64 { return share(c.equal, c.compared-c.silent) }

// A row counts one document, or all.
type row struct {
	name              string
	problem           string // of a document that could not be read
	operations, asked int    // operations of the document; those asked about
	notMade           int    // operations for which no call was made
	built             int    // by the judge
	operation         counts // an operation is equal if all its calls are
	plain, edge       counts // calls
	rules             map[string]int
	judge, made       map[string]int // reasons: of the judge for building nothing, of ours for no call
}

type report struct {
	rows  []row
	total row
}

func newRow(name string) row {
	return row{name: name, rules: map[string]int{}, judge: map[string]int{}, made: map[string]int{}}
}

// summarize counts. whole: nothing was sampled, so that operations which are no tools count as asked about.
func summarize(tallies []tally, whole bool) report {
	r := report{total: newRow("all")}
	for _, t := range tallies {
		w := newRow(t.name)
		w.operations, w.problem = t.operations, t.problem
		if whole {
			w.asked += t.skipped
		}
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
	switch {
	case o.notMade != "":
		w.notMade++
		w.made[o.notMade]++
		return
	case o.judge != "" && len(o.comparisons) == 0 && len(o.failures) == 0:
		w.judge[o.judge]++
		return
	}
	w.built++
	var all []difference
	for _, c := range o.comparisons {
		for _, d := range c.differences {
			if d.rule != "" {
				w.rules[d.rule]++
			}
		}
		if c.plain {
			w.plain.verdict(c.differences, false)
		} else {
			w.edge.verdict(c.differences, false)
		}
		all = append(all, c.differences...)
	}
	w.operation.verdict(all, len(o.failures) > 0)
}

func (w *row) add(o *row) {
	w.operations += o.operations
	w.asked += o.asked
	w.notMade += o.notMade
	w.built += o.built
	w.operation.add(o.operation)
	w.plain.add(o.plain)
	w.edge.add(o.edge)
	for _, m := range []struct{ to, from map[string]int }{{w.rules, o.rules}, {w.judge, o.judge}, {w.made, o.made}} {
		for k, n := range m.from {
			m.to[k] += n
		}
	}
}

// A table is printed for people or as markdown.
type table struct {
	head []string
	rows [][]string
	text int // columns of text, the first ones
}

func (t *table) add(cells ...any) {
	line := make([]string, len(cells))
	for i, c := range cells {
		line[i] = fmt.Sprint(c)
	}
	t.rows = append(t.rows, line)
}

func (t *table) print(w io.Writer, markdown bool) {
	if !markdown {
		tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		for _, line := range append([][]string{t.head}, t.rows...) {
			fmt.Fprintln(tw, strings.Join(line, "\t")+"\t")
		}
		tw.Flush()
		return
	}
	fmt.Fprintf(w, "| %s |\n", strings.Join(t.head, " | "))
	for i := range t.head {
		if i < t.text {
			fmt.Fprint(w, "|---")
		} else {
			fmt.Fprint(w, "|---:")
		}
	}
	fmt.Fprintln(w, "|")
	for _, line := range t.rows {
		cells := make([]string, len(line))
		for i, c := range line {
			cells[i] = strings.ReplaceAll(c, "|", `\|`)
		}
		fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
	}
}

func (r *report) print(w io.Writer, markdown bool) {
	documents := table{text: 1, head: []string{"document", "operations", "built by the judge", "compared", "equal", "standard is silent", "explained", "unexplained", "calls", "equal"}}
	for _, row := range append(slices.Clone(r.rows), r.total) {
		name := row.name
		if row.problem != "" {
			name += " (not read)"
		}
		o := row.operation
		documents.add(name, row.asked, row.built, o.compared, o.equal, o.silent, o.explained, o.unexplained, row.plain.compared+row.edge.compared, row.plain.equal+row.edge.equal)
	}
	documents.print(w, markdown)
	t := &r.total
	fmt.Fprintln(w)
	kinds := table{text: 1, head: []string{"", "compared", "equal", "standard is silent", "explained", "unexplained", "equal %", "equal % where it is not silent"}}
	for _, k := range []struct {
		name string
		of   counts
	}{{"operations", t.operation}, {"calls with plain values", t.plain}, {"calls with values at the edges", t.edge}} {
		kinds.add(k.name, k.of.compared, k.of.equal, k.of.silent, k.of.explained, k.of.unexplained, fmt.Sprintf("%.2f", 100*share(k.of.equal, k.of.compared)), fmt.Sprintf("%.2f", 100*k.of.decided()))
	}
	kinds.print(w, markdown)
	fmt.Fprintln(w)
	explained := table{text: 3, head: []string{"rule", "what swagger-client does", "what decides for us", "differences"}}
	if !markdown {
		explained.head = []string{"rule", "differences"}
	}
	for _, rule := range rules() {
		switch {
		case markdown:
			clause := rule.clause
			if rule.silent {
				clause = "silent: " + clause
			}
			explained.add("`"+rule.id+"`", rule.what, clause, t.rules[rule.id])
		case t.rules[rule.id] > 0:
			explained.add(rule.id, t.rules[rule.id])
		}
	}
	explained.print(w, markdown)
	for _, list := range []struct {
		title string
		of    map[string]int
	}{{"not built, in the words of swagger-client", t.judge}, {"no call was made", t.made}} {
		if len(list.of) == 0 {
			continue
		}
		fmt.Fprintln(w)
		reasons := table{text: 1, head: []string{list.title, "operations"}}
		for _, k := range byCount(list.of) {
			reasons.add(fmt.Sprintf("%.160s", strings.ReplaceAll(k, "\n", " ")), list.of[k])
		}
		reasons.print(w, markdown)
	}
}

func share(part, of int) float64 {
	if of == 0 {
		return 1
	}
	return float64(part) / float64(of)
}

func byCount(m map[string]int) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(m[b]-m[a], strings.Compare(a, b)) })
	return keys
}

// verdict is the error for a run that doesn't reach what it must.
func (r *report) verdict() error {
	t := &r.total
	var problems []error
	if n := t.operation.unexplained; n > 0 {
		problems = append(problems, fmt.Errorf("%d operations differ without an explanation", n))
	}
	if s := share(t.operation.compared, t.asked); s < leastCompared {
		problems = append(problems, fmt.Errorf("%.2f %% of the operations were compared; %.0f %% are wanted", 100*s, 100*leastCompared))
	}
	// In a sample it is chance which of the operations come that swagger-client does otherwise.
	if s := t.plain.decided(); s < leastEqual && t.plain.compared >= 5000 {
		problems = append(problems, fmt.Errorf("%.2f %% of the plain calls that the standard decides about are equal; %.0f %% are wanted", 100*s, 100*leastEqual))
	}
	return errors.Join(problems...)
}

// A printer prints what is not explained, and with -v what is, as it is found.
type printer struct {
	w io.Writer
	o *options

	mu    sync.Mutex
	shown int
}

func (p *printer) print(oc *outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	line := func(text string) {
		fmt.Fprintf(p.w, "%s: %s %s: %s\n", oc.subject.document, oc.subject.op.Method, oc.subject.op.Path, text)
	}
	open := func(text string) {
		if p.shown++; p.shown <= p.o.show {
			line(text)
		}
	}
	for _, f := range oc.failures {
		open(f)
	}
	for _, c := range oc.comparisons {
		for _, d := range c.differences {
			if d.rule == "" {
				open(d.String())
			} else if p.o.verbose {
				line("[" + d.rule + "] " + d.String())
			}
		}
	}
}

func (p *printer) end() {
	if p.shown > p.o.show {
		fmt.Fprintf(p.w, "… and %d more\n", p.shown-p.o.show)
	}
}

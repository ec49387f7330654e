package main

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
)

// callReport counts calls with generated arguments, and groups those that are not accepted by the kind of reason.
type callReport struct {
	out      io.Writer
	markdown bool
	verbose  bool
	rows     []callRow
	groups   map[string]*callGroup
}

// callRow is one row of the table.
type callRow struct {
	document           string
	operations, called int
	calls              int
	accepted           int // Prism finds no fault in the request
	isError            int // of the accepted ones
	explained          int // a rule says why they are not accepted
	refused            int // by Prism
	unsent             int // refused by the gateway
	unmade             int // no arguments were found for the published schema
	unjudged           int // Prism can't judge
	remarks            string
}

// callGroup is the calls that were not accepted for one kind of reason.
type callGroup struct {
	title      string
	calls      int
	operations map[string]bool
	documents  map[string]bool
	document   string
	example    finding
}

func (r *callReport) add(o outcome) {
	row := callRow{document: o.document, operations: o.tools, called: o.sampled, remarks: remarks(o)}
	for _, f := range o.findings {
		row.calls++
		side := ""
		switch {
		case f.verdict == unable:
			row.unjudged++
			side = "not judged"
		case f.accepted:
			row.accepted++
			if f.verdict == failed || f.verdict == explained {
				row.isError++
				side = "accepted, the result has isError"
			}
		case f.verdict == explained:
			row.explained++
			side = "explained"
		case f.request != "":
			row.refused++
			side = "refused by Prism"
		case f.arguments == nil:
			row.unmade++
			side = "no arguments"
		default:
			row.unsent++
			side = "refused by the gateway"
		}
		if side == "" {
			continue
		}
		r.group(side, o.document, f)
		if r.verbose {
			fmt.Fprintf(r.out, "%s: %s: %s\n", o.document, side, kindOfRefusal(f))
			r.example(f)
		}
	}
	r.rows = append(r.rows, row)
	if !r.markdown {
		fmt.Fprintf(r.out, "%s: %d calls of %d operations, %d accepted, %d explained, %d refused by Prism, %d by the gateway, %d without arguments, %d not judged %s\n",
			row.document, row.calls, row.called, row.accepted, row.explained, row.refused, row.unsent, row.unmade, row.unjudged, o.problem)
	}
}

func (r *callReport) group(side, document string, f finding) {
	title := side + ": " + kindOfRefusal(f)
	if r.groups == nil {
		r.groups = map[string]*callGroup{}
	}
	g := r.groups[title]
	if g == nil {
		g = &callGroup{title: title, operations: map[string]bool{}, documents: map[string]bool{}, document: document, example: f}
		r.groups[title] = g
	}
	g.calls++
	g.operations[document+" "+f.operation] = true
	g.documents[document] = true
}

func (r *callReport) example(f finding) {
	fmt.Fprintf(r.out, "  %s\n    reason:    %.1000s\n    arguments: %.1500s\n    sent:      %.1500s\n", f.operation, f.reason, f.arguments, cmp.Or(f.request, "nothing"))
}

func (r *callReport) print(share float64) error {
	total := callRow{document: "all"}
	for _, row := range r.rows {
		total.operations += row.operations
		total.called += row.called
		total.calls += row.calls
		total.accepted += row.accepted
		total.isError += row.isError
		total.explained += row.explained
		total.refused += row.refused
		total.unsent += row.unsent
		total.unmade += row.unmade
		total.unjudged += row.unjudged
	}
	r.table(append(r.rows, total))
	r.kinds()
	judged := total.calls - total.unjudged
	if judged == 0 {
		return fmt.Errorf("%w: Prism judged nothing", errMissed)
	}
	fmt.Fprintf(r.out, "\n%d documents, %d operations, %d of them called. Of %d calls %d are judged: %.2f %% are accepted, %.2f %% with what rules explain; "+
		"Prism refuses %d, the gateway refuses %d before sending, and for %d no arguments were found.\n",
		len(r.rows), total.operations, total.called, total.calls, judged, percent(total.accepted, judged), percent(total.accepted+total.explained, judged),
		total.refused, total.unsent, total.unmade)
	if percent(total.accepted+total.explained, judged) < share {
		return errMissed
	}
	return nil
}

func (r *callReport) table(rows []callRow) {
	out := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', 0)
	format := strings.Repeat("%v\t", 11) + "%v\n"
	if r.markdown {
		format = "|" + strings.Repeat(" %v |", 12) + "\n"
	}
	line := func(cells ...any) { fmt.Fprintf(out, format, cells...) }
	fmt.Fprintln(r.out)
	line("document", "operations", "called", "calls", "accepted", "isError", "explained", "refused by Prism", "refused by the gateway", "no arguments", "not judged", "remarks")
	if r.markdown {
		fmt.Fprintln(out, "|---"+strings.Repeat("|---:", 10)+"|---|")
	}
	for _, w := range rows {
		line(w.document, w.operations, w.called, w.calls, w.accepted, w.isError, w.explained, w.refused, w.unsent, w.unmade, w.unjudged, w.remarks)
	}
	out.Flush()
}

// kinds prints the groups, the largest first, each with its first call as an example.
func (r *callReport) kinds() {
	groups := make([]*callGroup, 0, len(r.groups))
	for _, g := range r.groups {
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b *callGroup) int { return cmp.Or(b.calls-a.calls, strings.Compare(a.title, b.title)) })
	if r.markdown {
		fmt.Fprint(r.out, "\n| kind | calls | operations | documents |\n|---|---:|---:|---:|\n")
	}
	for _, g := range groups {
		if r.markdown {
			fmt.Fprintf(r.out, "| %s | %d | %d | %d |\n", strings.ReplaceAll(g.title, "|", "\\|"), g.calls, len(g.operations), len(g.documents))
			continue
		}
		fmt.Fprintf(r.out, "\n%s: %d calls of %d operations in %d documents, such as %s:\n", g.title, g.calls, len(g.operations), len(g.documents), g.document)
		r.example(g.example)
	}
}

var (
	inQuotes = regexp.MustCompile("\"[^\"]*\"|'[^']*'|`[^`]*`")
	digits   = regexp.MustCompile(`\d+`)
)

// kindOfRefusal is a reason without the names and values of its document. Of several violations the first one counts that
// no rule explains.
func kindOfRefusal(f finding) string {
	switch {
	case f.rule != "":
		return f.rule
	case f.verdict == unable:
		return kindOf(f.reason)
	}
	text := inQuotes.ReplaceAllString(cmp.Or(f.open, f.reason), "…")
	if f.request != "" { // "body.a.b: Request body property a.b must be integer (type)"
		location, message, _ := strings.Cut(text, ": ")
		where, _, _ := strings.Cut(strings.TrimPrefix(location, "request."), ".")
		if i := strings.Index(message, " must "); i >= 0 {
			message = message[i+1:]
		}
		if told, values, ok := strings.Cut(message, ": "); ok { // the allowed values
			message = told + values[max(strings.LastIndex(values, " ("), 0):]
		}
		text = where + ": " + message
	}
	if said, fault, ok := strings.Cut(text, ": /"); ok && f.request == "" { // "the gateway: /a/b: must be a string"
		if _, sentence, ok := strings.Cut(fault, ": "); ok {
			text = said + ": " + sentence
		}
	}
	return fmt.Sprintf("%.200s", digits.ReplaceAllString(text, "N"))
}

package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"drawbridge/cmd/drawbridge/terminal"
	"drawbridge/config"
	"drawbridge/gateway"
)

// mostOfOneCode is the number of problems of one kind that are printed without --verbose: a
// generated document has the same mistake a thousand times, and a few suffice to find its cause.
const mostOfOneCode = 5

// reportText writes load reports for people: a line for each API, below it the kinds of findings,
// below each the positions as file:line:col. It keeps the first write error.
type reportText struct {
	w     io.Writer
	width int // that tables must fit, 0 for any
	err   error
	checkOptions
}

// printf writes lines. A text has no line breaks of its own: those of a document would begin lines that look like the program's.
func (t *reportText) printf(format string, args ...any) {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = breaks.Replace(text)
		}
	}
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format, args...)
	}
}

// outcome writes the load result of an API. unusable are the indexes of operations whose calls
// can't work.
func (t *reportText) outcome(o *gateway.Outcome, unusable []int) {
	if o.Err != nil {
		t.printf("%s: can't be served: %v\n", o.Name, o.Err)
		t.discovered(o)
		return
	}
	a := o.Report.API
	t.printf("%s: OpenAPI %s, %v; %s\n", o.Name, a.Standard, a.Operations, count(a.Problems, "problem"))
	t.discovered(o)
	for _, i := range unusable {
		op := o.Report.Operations[i]
		t.printf("  %s%s %s: %s\n", op.Prefix(), op.Method, op.Path, op.Uncallable)
	}
	for _, fault := range a.Faults {
		t.printf("  warning: %s\n", fault)
	}
	for _, note := range a.Notes {
		t.printf("  %s\n", note)
	}
	t.quarantined(o)
	t.heldBack(o)
	t.skipped(o)
	t.overlays(o)
	if t.quiet {
		return
	}
	if a.Webhooks+a.Callbacks > 0 {
		t.printf("  %s, %s: not exposed as tools\n", count(a.Webhooks, "webhook"), count(a.Callbacks, "callback"))
	}
	t.renamed(o)
	t.problems(o)
	for _, p := range o.Report.Advice {
		t.printf("  standard: %s%s\n", p.Prefix(), p.Message)
	}
	if t.verbose {
		t.table(o)
	}
}

// quarantined writes why a start would serve the document in server.state_dir and hold the one that was read.
func (t *reportText) quarantined(o *gateway.Outcome) {
	held := o.Report.API.Held
	if held == nil {
		return
	}
	const would = "  warning: serve would hold this document and keep using the one in server.state_dir until POST /apis/%s/accept: %s\n"
	if held.Lost > 0 {
		t.printf(would, o.Name, fmt.Sprintf("%d of %d operations are missing", held.Lost, held.Of))
	}
	for _, restriction := range held.Restrictions {
		t.printf(would, o.Name, restriction)
	}
}

// passedOver writes the files of directories that are not OpenAPI documents.
func (t *reportText) passedOver(files []string) {
	if t.quiet {
		return
	}
	for _, file := range files {
		t.printf("%s: ignored: it has neither openapi nor swagger at its root; documents may refer to it\n", file)
	}
}

// discovered writes which service an API was made of.
func (t *reportText) discovered(o *gateway.Outcome) {
	if s := o.Report.API.Service; s != nil {
		t.printf("  discovered: %s\n", discoveredFrom(s))
	}
}

// services writes the services that providers have found and that are not served.
func (t *reportText) services(g *gateway.Gateway) {
	d := g.Status().Discovery
	if d == nil {
		return
	}
	most := mostOfOneCode
	if t.verbose {
		most = len(d.Services)
	}
	for _, text := range unreadable(d) {
		t.printf("%s\n", text)
	}
	for _, text := range attentions(d, g.Config(), most) {
		t.printf("warning: %s\n", text)
	}
	if !t.quiet {
		t.printf("discovery: %s\n", d.Summary())
	}
}

// drift writes how calls and answers of a running gateway differ from the documents.
func (t *reportText) drift(observed []apiDrift) {
	for _, a := range observed {
		if a.Drift == nil {
			if !t.quiet {
				t.printf("%s: no drift was observed since the gateway has started or the document has changed\n", a.API)
			}
			continue
		}
		t.printf("warning: %s: %s from the document at %s\n", a.API, count(int(a.Drift.Total), "difference"), count(a.Drift.Places, "place"))
		list := t.list(len(a.Drift.Differences))
		for i := range a.Drift.Differences {
			if d := &a.Drift.Differences[i]; list.next() {
				t.printf("    %s %s %s\n", d.Method, d.Path, d.Text())
			}
		}
		list.end()
	}
}

// lists writes what the list of tools of each endpoint shows.
func (t *reportText) lists(g *gateway.Gateway) {
	for _, list := range g.Lists() {
		switch {
		case list.OverBudget:
			t.printf("warning: ")
		case t.quiet:
			continue
		}
		if list.Presentation == string(config.PresentationAll) {
			t.printf("%s lists %s: %s\n", list.Endpoint, count(list.Tools, "tool"), list.Reason)
			continue
		}
		t.printf("%s lists search_tools instead of %s: %s", list.Endpoint, count(list.Tools-list.Pinned, "tool"), list.Reason)
		if list.Pinned > 0 {
			t.printf("; %d pinned", list.Pinned)
		}
		t.printf("\n")
	}
}

// clashes writes the names that depend on other documents.
func (t *reportText) clashes(clashes []string) {
	if t.quiet {
		return
	}
	for _, clash := range clashes {
		t.printf("warning: %s\n", clash)
	}
}

// lines writes problems, one a line.
func (t *reportText) lines(problems []string) {
	for _, problem := range problems {
		t.printf("%s\n", problem)
	}
}

// skipped writes the operations that can't be tools.
func (t *reportText) skipped(o *gateway.Outcome) {
	codes := o.Report.API.SkipCodes
	for _, code := range codes.Codes() {
		t.printf("  %s: %s skipped\n", code, count(codes[code], "operation"))
		list := t.list(codes[code])
		for _, op := range o.Report.Operations {
			if op.Skipped() && op.Reasons[0].Code == code && list.next() {
				t.printf("    %s%s: %s\n", op.Prefix(), strings.TrimSpace(op.Method+" "+op.Path), op.Reasons[0].Message)
			}
		}
		list.end()
	}
}

// overlays writes the actions of overlays with the number of values that each selected.
func (t *reportText) overlays(o *gateway.Outcome) {
	actions := o.Report.Overlays
	if len(actions) == 0 || t.quiet {
		return
	}
	t.printf("  overlays: %s applied\n", count(len(actions), "action"))
	list := t.list(len(actions))
	for _, a := range actions {
		if list.next() {
			t.printf("    %s%s %s: %d matched\n", a.Prefix(), a.Action, a.Target, a.Matched)
		}
	}
	list.end()
}

// renamed counts the names that differ from the document, which is not a problem.
func (t *reportText) renamed(o *gateway.Outcome) {
	for _, code := range []string{"tool-renamed", "argument-renamed"} {
		n := 0
		for _, op := range o.Report.Operations {
			if slices.ContainsFunc(op.Reasons, func(r gateway.Reason) bool { return r.Code == code }) {
				n++
			}
		}
		if n == 0 {
			continue
		}
		t.printf("  %s: %s concerned\n", code, count(n, "operation"))
		if !t.verbose {
			continue
		}
		for _, op := range o.Report.Operations {
			for _, r := range op.Reasons {
				if r.Code == code {
					t.printf("    %s%s %s: %s\n", op.Prefix(), op.Method, op.Path, r.Message)
				}
			}
		}
	}
}

// problems writes the problems of the document, the most frequent kind first.
func (t *reportText) problems(o *gateway.Outcome) {
	touched := map[string]int{}
	for _, op := range o.Report.Operations {
		mine := map[string]bool{}
		for _, i := range op.Problems {
			if code := o.Report.Problems[i].Code; !mine[code] {
				mine[code] = true
				touched[code]++
			}
		}
	}
	codes := o.Report.API.ProblemCodes
	for _, code := range codes.Codes() {
		t.printf("  %s: %s", code, count(codes[code], "problem"))
		if n := touched[code]; n > 0 {
			t.printf(", %s concerned", count(n, "operation"))
		}
		t.printf("\n")
		list := t.list(codes[code])
		for _, p := range o.Report.Problems {
			if p.Code == code && list.next() {
				t.printf("    %s\n", p.Text())
			}
		}
		list.end()
	}
}

// shortList truncates a list after a few entries.
type shortList struct {
	t            *reportText
	all, printed int
}

func (t *reportText) list(all int) *shortList { return &shortList{t: t, all: all} }

func (l *shortList) next() bool {
	// One more line is no longer than the line that would replace it.
	if !l.t.verbose && l.printed >= mostOfOneCode && l.all > mostOfOneCode+1 {
		return false
	}
	l.printed++
	return true
}

func (l *shortList) end() {
	switch more := l.all - l.printed; {
	case more <= 0:
	case l.t.verbose:
		l.t.printf("    … and %d more\n", more)
	default:
		l.t.printf("    … and %d more (--verbose)\n", more)
	}
}

// table writes the fate of every operation.
func (t *reportText) table(o *gateway.Outcome) {
	table := terminal.Table{Indent: "  ", Width: t.width, Flexible: []int{5, 2, 3}}
	var access accessNotes
	table.Row("FATE", "METHOD", "PATH", "TOOL", "ACCESS", "REASONS")
	for _, i := range t.fates(o) {
		op := &o.Report.Operations[i]
		var reasons []string
		add := func(code string) {
			if len(reasons) == 0 || reasons[len(reasons)-1] != code {
				reasons = append(reasons, code)
			}
		}
		for _, r := range op.Reasons {
			add(r.Code)
		}
		for _, i := range op.Problems {
			add(o.Report.Problems[i].Code)
		}
		table.Row(string(op.Fate), cmp.Or(op.Method, "-"), oneLine(op.Path), cmp.Or(op.Tool, "-"), access.mark(op.Access), cmp.Or(strings.Join(reasons, " "), "-"))
	}
	if _, err := table.WriteTo(t.w); t.err == nil {
		t.err = err
	}
	access.print(t.w, "  ")
}

// fates returns the indexes of the operations in the order of the table.
func (t *reportText) fates(o *gateway.Outcome) []int {
	operations := o.Report.Operations
	indexes := make([]int, len(operations))
	for i := range indexes {
		indexes[i] = i
	}
	key := func(i int) string {
		switch op := &operations[i]; t.order {
		case "fate":
			return string(op.Fate)
		case "method":
			return op.Method
		case "path":
			return op.Path
		case "tool":
			return op.Tool
		}
		return ""
	}
	slices.SortStableFunc(indexes, func(a, b int) int { return strings.Compare(key(a), key(b)) })
	return indexes
}

// selectors writes the selectors of the configuration that match nothing.
func (t *reportText) selectors(problems config.Problems) {
	for _, problem := range problems {
		t.printf("%s\n", problem)
	}
}

// heldBack lists tools that are not approved.
func (t *reportText) heldBack(o *gateway.Outcome) {
	n := o.Report.API.Operations.HeldBack
	if n == 0 {
		return
	}
	t.printf("  %s held back, because tools.lock does not approve them; drawbridge lock --config FILE does:\n", count(n, "tool"))
	shown := 0
	for _, op := range o.Report.Operations {
		if !op.HeldBack() {
			continue
		}
		if shown++; shown > mostOfOneCode && !t.verbose {
			t.printf("    and %d more\n", n-mostOfOneCode)
			return
		}
		t.printf("    %s %s: %s\n", op.Method, op.Path, strings.TrimSuffix(op.Reasons[0].Message, "; drawbridge lock --config FILE approves it"))
	}
}

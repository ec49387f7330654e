package main

import (
	"fmt"
	"io"
	"strconv"

	"drawbridge/cmd/drawbridge/terminal"
	"drawbridge/openapi/readiness"
)

// scoreText prints scores for people.
type scoreText struct {
	w     io.Writer
	width int // that the tables must fit, 0 for any
	top   int // operations of an API, 0 for all
	err   error
}

func (t *scoreText) print(all []*scored) {
	table := terminal.Table{Width: t.width, Flexible: []int{0}}
	table.Row("API", "SCORE", "TOOLS", "SKIPPED", "FINDINGS")
	for _, a := range all {
		table.Row(a.API, score(a.Score), strconv.Itoa(a.Tools), strconv.Itoa(a.Skipped), strconv.Itoa(findings(a.Report)))
	}
	t.table(&table)
	for _, a := range all {
		t.kinds(a)
		t.operations(a)
		t.overlay(a)
	}
}

func score(s float64) string { return fmt.Sprintf("%.1f", s) }

func findings(r *readiness.Report) (n int) {
	for _, k := range r.Kinds {
		n += k.Findings
	}
	return n
}

// kinds prints what the findings of an API cost, by their code. COST is how far they lower the score.
func (t *scoreText) kinds(a *scored) {
	if len(a.Kinds) == 0 {
		return
	}
	t.line("")
	table := terminal.Table{Width: t.width, Flexible: []int{3}}
	table.Row("COST", "FINDINGS", "CODE", a.API)
	for _, k := range a.Kinds {
		table.Row(fmt.Sprintf("%.1f", float64(k.Weight)/float64(len(a.Operations))), strconv.Itoa(k.Findings), string(k.Code), k.Title)
	}
	t.table(&table)
}

// operations prints the operations with the lowest scores and their findings.
func (t *scoreText) operations(a *scored) {
	shown := 0
	for _, op := range a.Operations {
		if len(op.Findings) == 0 {
			break // those that follow have none either, or cost nothing
		}
		if t.top > 0 && shown == t.top {
			t.line("\nand more operations with findings; --top 0 prints all")
			return
		}
		shown++
		name := op.Method + " " + oneLine(op.Path)
		if op.Tool != "" && op.Tool != op.Method+" "+op.Path {
			name += "  " + op.Tool
		}
		t.line(fmt.Sprintf("\n%d  %s", op.Score, name))
		for _, f := range op.Findings {
			t.line(fmt.Sprintf("  %s: %s (-%d): %s", f.Place, f.Code, f.Weight, oneLine(f.Message)))
		}
	}
}

// overlay prints what was written, and what the configuration has to say.
func (t *scoreText) overlay(a *scored) {
	o := a.Overlay
	if o == nil {
		return
	}
	t.line("")
	for _, refused := range o.Refused {
		t.line("left out: " + oneLine(refused))
	}
	if o.File == "" {
		t.line("no overlay is written: the document does not say elsewhere what it lacks")
	} else {
		t.line(fmt.Sprintf("%s written: %s, of which %s; the score rises from %s to %s", o.File, count(o.Changes, "change"), count(o.Drafts, "draft"), score(a.Score), score(o.Score)))
		t.line("Read it, list it in apis[].overlays, and run drawbridge check.")
	}
	if len(o.Settings) > 0 {
		t.line("An overlay can't make these settings; add those that are true to the configuration:")
		for _, line := range o.Settings {
			t.line("  " + line)
		}
	}
}

func (t *scoreText) line(text string) {
	if _, err := fmt.Fprintln(t.w, text); t.err == nil {
		t.err = err
	}
}

func (t *scoreText) table(table *terminal.Table) {
	if _, err := table.WriteTo(t.w); t.err == nil {
		t.err = err
	}
}

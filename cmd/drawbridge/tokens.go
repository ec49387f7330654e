package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"drawbridge/cmd/drawbridge/terminal"
	"drawbridge/gateway"
	"drawbridge/gateway/tokenreport"
)

func (p *program) tokensCommand() *cobra.Command {
	var asJSON bool
	top := 10
	c := &cobra.Command{
		Use:   "tokens [--config FILE | DOCUMENT]",
		Short: "Report what the tools cost in tokens, by API, tag and tool, and how to save",
		Long: `Tokens counts what the list of tools costs a model that is shown all of it, in the encoding o200k_base, and prints
the largest APIs, tags and tools. A tool counts for each of its tags. The columns DESCRIPTION, INPUT and OUTPUT are the
description of a tool, the schema of its arguments and its output schema; TEXTS and ENUMS are the descriptions and enums in
both schemas. Each is the number of tokens that there would be fewer without it.

The advice names settings of the configuration, with the tokens that each of them alone would save. All are counted, none is
estimated. Settings of an API belong to its item in apis.`,
		Example: `  drawbridge tokens --config drawbridge.yaml
  drawbridge tokens --top 3 https://orders.internal/openapi.json
  drawbridge tokens --json openapi.yaml | jq '.by_tool[] | select(.tokens > 1000) | .name'`,
	}
	p.configFlag(c)
	c.Flags().IntVar(&top, "top", top, "number of rows in each table, 0 for all")
	c.Flags().BoolVar(&asJSON, "json", false, "print the whole report as JSON")
	p.wideFlag(c)
	c.RunE = p.interruptible(func(c *cobra.Command, args []string) error {
		location, _, err := p.location(c, args, 0)
		if err != nil {
			return err
		}
		switch {
		case top < 0:
			return usageError{fmt.Errorf("tokens: --top %d: give a number of rows, or 0 for all", top), c}
		case asJSON && c.Flags().Changed("top"):
			return usageError{errors.New("tokens: --json and --top exclude each other"), c}
		}
		g, outcomes, err := p.loadTools(c.Context(), location, gateway.Options{})
		if err != nil {
			return err
		}
		failed := p.printFailures(outcomes)
		report := tokenreport.New(g.Tools(), tokenreport.Options{SearchList: g.SearchList()})
		if asJSON {
			err = p.printTokensJSON(report)
		} else {
			err = printTokens(printable{p.stdout}, g, report, top, p.tableWidth())
		}
		return cmp.Or(err, failed)
	})
	return c
}

func (p *program) printTokensJSON(r *tokenreport.Report) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(printable{p.stdout}, string(b))
	return err
}

// printTokens prints the tables of a report, with at most top rows each.
func printTokens(w io.Writer, g *gateway.Gateway, r *tokenreport.Report, top, width int) error {
	t := tokenTable{w: w, width: width, total: r.Tokens}
	if r.Tools > 0 {
		t.costs(r, top)
	}
	fmt.Fprintf(t.w, "%s, %s of %s\n", count(r.Tools, "tool"), count(r.Tokens, "token"), r.Encoding)
	lists := reportText{w: t.w}
	lists.lists(g)
	t.advice(r.Advice, top)
	return errors.Join(lists.err, t.err)
}

// tokenTable writes the tables of a report.
type tokenTable struct {
	w     io.Writer
	width int // that the tables must fit, 0 for any
	total int
	err   error // the first write error

	terminal.Table
}

// costs prints what APIs, tags and tools cost.
func (t *tokenTable) costs(r *tokenreport.Report, top int) {
	t.heading("API", "TOOLS")
	for _, g := range r.APIs[:rows(len(r.APIs), top)] {
		t.row(g.Weights, g.API, strconv.Itoa(g.Tools))
	}
	t.more(len(r.APIs), top, "API")
	t.heading("API", "TAG", "TOOLS")
	for _, g := range r.Tags[:rows(len(r.Tags), top)] {
		tag := *g.Tag
		if tag == "" {
			tag = "(none)"
		}
		t.row(g.Weights, g.API, oneLine(tag), strconv.Itoa(g.Tools))
	}
	t.more(len(r.Tags), top, "tag")
	t.heading("TOOL")
	for _, tool := range r.ByTool[:rows(len(r.ByTool), top)] {
		t.row(tool.Weights, tool.Name)
	}
	t.more(len(r.ByTool), top, "tool")
}

// advice prints measures with what they save.
func (t *tokenTable) advice(advice []tokenreport.Advice, top int) {
	if len(advice) == 0 {
		return
	}
	fmt.Fprintln(t.w)
	t.Table = terminal.Table{} // settings are to be copied, so nothing is truncated
	t.Row("SAVES", "SHARE", "TOOLS", "API", "ADVICE")
	for _, a := range advice[:rows(len(advice), top)] {
		api := a.API
		if api == "" {
			api = "(all)"
		}
		t.Row(strconv.Itoa(a.Saves), t.share(a.Saves), strconv.Itoa(a.Tools), api, a.Setting)
	}
	t.flush()
}

// heading begins a table with columns of its own, which may be truncated, before those of weights.
func (t *tokenTable) heading(own ...string) {
	t.Table = terminal.Table{Width: t.width, Flexible: []int{1, 0}}
	if len(own) == 1 {
		t.Flexible = []int{0}
	}
	t.Row(append(own, "TOKENS", "SHARE", "DESCRIPTION", "INPUT", "OUTPUT", "TEXTS", "ENUMS")...)
}

func (t *tokenTable) row(v tokenreport.Weights, own ...string) {
	t.Row(append(own, strconv.Itoa(v.Tokens), t.share(v.Tokens), strconv.Itoa(v.Description), strconv.Itoa(v.InputSchema), strconv.Itoa(v.OutputSchema), strconv.Itoa(v.SchemaDescriptions), strconv.Itoa(v.Enums))...)
}

// flush writes the table.
func (t *tokenTable) flush() {
	if _, err := t.WriteTo(t.w); t.err == nil {
		t.err = err
	}
}

// more ends a table, and says how many rows it lacks.
func (t *tokenTable) more(n, top int, thing string) {
	t.flush()
	if left := n - rows(n, top); left > 0 {
		fmt.Fprintf(t.w, "and %s; --top 0 prints all\n", count(left, "more "+thing))
	}
	fmt.Fprintln(t.w)
}

func (t *tokenTable) share(tokens int) string {
	return fmt.Sprintf("%.1f %%", 100*float64(tokens)/float64(max(t.total, 1)))
}

// rows returns how many of n rows are printed.
func rows(n, top int) int {
	if top == 0 {
		return n
	}
	return min(n, top)
}

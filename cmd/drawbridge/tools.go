package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"drawbridge/gateway"
)

func (p *program) toolsCommand() *cobra.Command {
	var asJSON bool
	var table toolTable
	c := &cobra.Command{
		Use:   "tools [--config FILE | DOCUMENT]",
		Short: "Print the tools: name, method, path, title, tokens",
		Long: `Tools prints the catalog that clients would see. Tokens are those of a definition in the encoding o200k_base; their sum
is the cost of every request by a client that shows all tools to its model. 'drawbridge tokens' prints what weighs in them.
The notes below the table show what a call requires and how it reaches its service, with the setting that determines it. With
--json they are in the _meta of each tool, which clients do not get.`,
		Example: `  drawbridge tools --config drawbridge.yaml
  drawbridge tools --sort tokens --top 20 openapi.yaml
  drawbridge tools --json openapi.yaml | jq '.tools[].name'`,
	}
	p.configFlag(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print the result of tools/list")
	c.Flags().StringVar(&table.order, "sort", "name", "order of the table: name, or tokens for the most expensive first")
	c.Flags().IntVar(&table.top, "top", 0, "number of rows in the table, 0 for all")
	c.RunE = p.interruptible(func(c *cobra.Command, args []string) error {
		location, _, err := p.location(c, args, 0)
		if err != nil {
			return err
		}
		if err := table.check(); err != nil {
			return usageError{err, c}
		}
		if asJSON && (c.Flags().Changed("sort") || c.Flags().Changed("top")) {
			return usageError{errors.New("tools: --json is the whole list by name, without --sort and --top"), c}
		}
		g, outcomes, err := p.loadTools(c.Context(), location, gateway.Options{})
		if err != nil {
			return err
		}
		failed := p.printFailures(outcomes)
		if asJSON {
			err = p.printToolsJSON(g)
		} else {
			err = table.print(printable{p.stdout}, g)
		}
		return cmp.Or(err, failed)
	})
	return c
}

// printFailures prints the APIs that can't be served, and returns the exit code 1 if there are any.
func (p *program) printFailures(outcomes []gateway.Outcome) (err error) {
	for _, o := range outcomes {
		if o.Err != nil {
			fmt.Fprintf(p.stderr, "%s: can't be served: %v\n", o.Name, o.Err)
			err = exitError(exitFail)
		}
	}
	return err
}

func (p *program) printToolsJSON(g *gateway.Gateway) error {
	var b bytes.Buffer
	definitions, err := g.DefinitionsWithAccess()
	if err != nil {
		return err
	}
	if err := json.Indent(&b, append(append([]byte(`{"tools":`), definitions...), '}'), "", "  "); err != nil {
		return err
	}
	_, err = fmt.Fprintln(printable{p.stdout}, b.String())
	return err
}

// toolTable prints the tools.
type toolTable struct {
	order string // byName or byTokens
	top   int    // rows, 0 for all
}

const (
	byName   = "name"
	byTokens = "tokens"
)

func (t toolTable) check() error {
	if t.order != byName && t.order != byTokens {
		return fmt.Errorf("tools: --sort %q: give name or tokens", t.order)
	}
	if t.top < 0 {
		return fmt.Errorf("tools: --top %d: give a number of rows, or 0 for all", t.top)
	}
	return nil
}

func (t toolTable) print(out io.Writer, g *gateway.Gateway) error {
	plans, total := g.Plans(), 0
	for _, plan := range plans {
		total += plan.Tool.Tokens()
	}
	n := len(plans)
	if t.order == byTokens {
		sort.SliceStable(plans, func(i, j int) bool { return plans[i].Tool.Tokens() > plans[j].Tool.Tokens() })
	}
	plans = plans[:rows(n, t.top)]
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tMETHOD\tPATH\tTITLE\tTOKENS\tACCESS")
	var access accessNotes
	for _, plan := range plans {
		t := plan.Tool
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\n", t.Name, t.Operation.Method, t.Operation.Path, t.Title, t.Tokens(), access.mark(g.Access(plan)))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if left := n - len(plans); left > 0 {
		fmt.Fprintf(out, "and %s\n", count(left, "more tool"))
	}
	fmt.Fprintf(out, "%s, %s\n", count(n, "tool"), count(total, "token"))
	lists := reportText{w: out}
	lists.lists(g)
	access.print(out, "")
	return lists.err
}

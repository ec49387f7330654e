package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"drawbridge/gateway"
)

func (p *program) toolsCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "tools [--config FILE | DOCUMENT]",
		Short: "Print the tools: name, method, path, title, estimated tokens",
		Long: `Tools prints the catalog that clients would see. Tokens are estimated as a quarter of the bytes of a definition;
their sum is the cost of every request by a client that shows all tools to its model. The notes below the table show what a
call requires and how it reaches its service, with the setting that determines it. With --json they are in the _meta of each
tool, which clients do not get.`,
		Example: `  drawbridge tools --config drawbridge.yaml
  drawbridge tools --json openapi.yaml | jq '.tools[].name'`,
	}
	p.configFlag(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print the result of tools/list")
	c.RunE = p.interruptible(func(c *cobra.Command, args []string) error {
		location, _, err := p.location(c, args, 0)
		if err != nil {
			return err
		}
		g, outcomes, err := p.loadTools(c.Context(), location, gateway.Options{})
		if err != nil {
			return err
		}
		for _, o := range outcomes {
			if o.Err != nil {
				fmt.Fprintf(p.stderr, "%s: can't be served: %v\n", o.Name, o.Err)
				err = exitError(exitFail)
			}
		}
		if asJSON {
			var b bytes.Buffer
			definitions, e := g.DefinitionsWithAccess()
			if e != nil {
				return e
			}
			if e := json.Indent(&b, append(append([]byte(`{"tools":`), definitions...), '}'), "", "  "); e != nil {
				return e
			}
			fmt.Fprintln(printable{p.stdout}, b.String())
			return err
		}
		w := tabwriter.NewWriter(printable{p.stdout}, 0, 4, 2, ' ', 0)
		fmt.Fprintln(w, "NAME\tMETHOD\tPATH\tTITLE\tTOKENS\tACCESS")
		plans, total := g.Plans(), 0
		var access accessNotes
		for _, plan := range plans {
			t := plan.Tool
			total += t.Tokens()
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\n", t.Name, t.Operation.Method, t.Operation.Path, t.Title, t.Tokens(), access.mark(g.Access(plan)))
		}
		if e := w.Flush(); e != nil {
			return e
		}
		fmt.Fprintf(p.stdout, "%s, about %d tokens\n", count(len(plans), "tool"), total)
		access.print(printable{p.stdout}, "")
		return err
	})
	return c
}

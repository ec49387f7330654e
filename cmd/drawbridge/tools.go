package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"drawbridge/cmd/drawbridge/terminal"
	"drawbridge/gateway"
	"drawbridge/openapi/jsonscan"
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
--json they are in the _meta of each tool, and what each endpoint lists in that of the result; clients get neither. Keep the output
before an upgrade: 'drawbridge check --against FILE' lists what has changed since.

At a terminal the table fits its width: long titles, paths and names end in "…". --wide, a file or a pipe gets them whole.
A --filter that matches no tool is an error.`,
		Example: `  drawbridge tools --config drawbridge.yaml
  drawbridge tools --sort tokens --top 20 openapi.yaml
  drawbridge tools --filter api=orders --filter 'get*'
  drawbridge tools --json openapi.yaml | jq '.tools[].name'`,
	}
	p.configFlag(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print the result of tools/list")
	table.filter.flag(p, c, "tools")
	c.Flags().StringVar(&table.order, "sort", byName, "`COLUMN` that orders the table: "+oneOf(toolOrders)+"; tokens: the most expensive first")
	complete(c, "sort", fixedValues(toolOrders...))
	c.Flags().IntVar(&table.top, "top", 0, "number of rows in the table, 0 for all")
	p.wideFlag(c)
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
		plans := g.Plans()
		if err := table.filter.problem("tools", listedTools(plans)); err != nil {
			return usageError{err, c}
		}
		if asJSON {
			err = p.printToolsJSON(g, &table.filter)
		} else {
			table.width = p.tableWidth()
			err = table.print(printable{p.stdout}, g, plans)
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

// listedTools returns what filters see of tools.
func listedTools(plans []*gateway.Plan) []listed {
	all := make([]listed, len(plans))
	for i, plan := range plans {
		all[i] = listedTool(plan)
	}
	return all
}

func listedTool(plan *gateway.Plan) listed {
	t := plan.Tool
	return listed{"name": {t.Name}, "tag": t.Tags, "api": {t.API}, "method": {t.Method}, "path": {t.Path}}
}

// maxIndented is the deepest nesting of a definition that is indented: of a deeper one most would be spaces, hundreds of megabytes of them.
const maxIndented = 100

// printToolsJSON prints the tools that the filter selects, one by one: all together take many times their size.
func (p *program) printToolsJSON(g *gateway.Gateway, f *filter) error {
	out := printable{p.stdout}
	meta, err := json.MarshalIndent(map[string]any{"drawbridge/lists": g.Lists()}, "  ", "  ")
	if err != nil {
		return err
	}
	end := ",\n  \"_meta\": " + string(meta) + "\n}\n"
	before, after := "{\n  \"tools\": [", "]"+end
	var b bytes.Buffer
	for definition, err := range g.DefinitionsWithAccess() {
		if err != nil {
			return err
		}
		if len(f.patterns) > 0 {
			if plan := g.Plan(jsonscan.StringAt(definition, "/name")); plan == nil || !f.match(listedTool(plan)) {
				continue
			}
		}
		b.Reset()
		b.WriteString(before + "\n    ")
		if _, err := jsonscan.Scan(definition, jsonscan.Options{MaxDepth: maxIndented}); err != nil {
			b.Write(definition)
		} else if err := json.Indent(&b, definition, "    ", "  "); err != nil {
			return err
		}
		if _, err := out.Write(b.Bytes()); err != nil {
			return err
		}
		before, after = ",", "\n  ]"+end
	}
	if before != "," {
		after = before + after
	}
	_, err = io.WriteString(out, after)
	return err
}

// toolTable prints the tools.
type toolTable struct {
	filter filter
	order  string // one of toolOrders
	top    int    // rows, 0 for all
	width  int    // of the terminal, 0 for any
}

const (
	byName   = "name"
	byTokens = "tokens"
)

// toolOrders are the values of --sort.
var toolOrders = []string{byName, byTokens, "api", "method", "path", "title"}

func (t toolTable) check() error {
	if !slices.Contains(toolOrders, t.order) {
		return fmt.Errorf("tools: --sort %q: give %s", t.order, oneOf(toolOrders))
	}
	if t.top < 0 {
		return fmt.Errorf("tools: --top %d: give a number of rows, or 0 for all", t.top)
	}
	return nil
}

// compare orders two tools. Equal ones stay ordered by name.
func (t toolTable) compare(a, b *gateway.Plan) int {
	switch t.order {
	case byTokens:
		return b.Tool.Tokens() - a.Tool.Tokens()
	case "api":
		return strings.Compare(a.Source.Name, b.Source.Name)
	case "method":
		return strings.Compare(a.Tool.Method, b.Tool.Method)
	case "path":
		return strings.Compare(a.Tool.Path, b.Tool.Path)
	case "title":
		return strings.Compare(a.Tool.Title, b.Tool.Title)
	}
	return strings.Compare(a.Tool.Name, b.Tool.Name)
}

// renamedTools returns how many tools of a configuration file have former names that stay callable. A document without one never had
// other names.
func renamedTools(g *gateway.Gateway, plans []*gateway.Plan) (n int) {
	if g.Config().IsBare() {
		return 0
	}
	for _, plan := range plans {
		if len(callableNames(g, plan)) > 0 {
			n++
		}
	}
	return n
}

func (t toolTable) print(out io.Writer, g *gateway.Gateway, plans []*gateway.Plan) error {
	plans = slices.DeleteFunc(plans, func(plan *gateway.Plan) bool { return !t.filter.match(listedTool(plan)) })
	total := 0
	for _, plan := range plans {
		total += plan.Tool.Tokens()
	}
	n := len(plans)
	slices.SortStableFunc(plans, t.compare)
	plans = plans[:rows(n, t.top)]
	table := terminal.Table{Width: t.width, Flexible: []int{3, 2, 0}}
	table.Row("NAME", "METHOD", "PATH", "TITLE", "TOKENS", "ACCESS")
	var access accessNotes
	for _, plan := range plans {
		t := plan.Tool
		table.Row(t.Name, t.Method, oneLine(t.Path), oneLine(t.Title), strconv.Itoa(t.Tokens()), access.mark(g.Access(plan)))
	}
	if _, err := table.WriteTo(out); err != nil {
		return err
	}
	if left := n - len(plans); left > 0 {
		fmt.Fprintf(out, "and %s\n", count(left, "more tool"))
	}
	fmt.Fprintf(out, "%s, %s\n", count(n, "tool"), count(total, "token"))
	if n := renamedTools(g, plans); n > 0 {
		fmt.Fprintf(out, "%s renamed: former names stay callable, and --json lists them\n", count(n, "tool"))
	}
	lists := reportText{w: out}
	lists.lists(g)
	access.print(out, "")
	return lists.err
}

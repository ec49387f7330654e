package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"drawbridge/config"
	"drawbridge/gateway"
)

func (p *program) checkCommand() *cobra.Command {
	var o checkOptions
	c := &cobra.Command{
		Use:   "check [--config FILE | DOCUMENT]",
		Short: "Report what would be served, what not, and why",
		Long: `Check reads the configuration and all documents once and prints a load report: for each API how many operations
become tools, unchanged or changed, and how many are excluded by the configuration, held back because they are not approved,
or skipped because they can't be tools; then the reasons and all problems that were repaired or guessed, by kind, each with
file:line:col and JSON Pointer; and for each endpoint whether its list shows all tools, or those that search for them.
Each action of an overlay is listed with the number of values that it selected. If server.state_dir has the document that ran
before, a document that serve would hold is reported, because it gives wider access or lacks too many operations.

A selector of the configuration that matches no operation is listed with its position. It is an error if it restricts access,
as is an action of an overlay that should remove something and selects nothing; serve rejects the configuration then.

With --no-secrets the variables, secret files, keys and certificates that the configuration refers to may be missing, as in a
check of a change in review: each is noted once, and what depends on it is not checked. Documents are fetched without a
credential then; their locations and files of certificate authorities must not depend on a missing variable.

With --against the report ends with what differs for clients: tools that are added, removed, renamed or changed, each with the
places of its definition, and endpoints that list all tools instead of search, or the reverse. FILE is the output of
'drawbridge tools --json' or 'drawbridge check --json', a manifest or a result of tools/list that another version wrote, or the file of
tools.lock. VERSION is a release: the configuration is compiled with the defaults of that release, too, and the defaults that changed
since and that it does not set are listed, each with the setting that restores it. 0 stands for the time before the first release.

With --admin a running gateway is asked how calls and answers differ from the documents, and the report ends with that; with --strict
such a difference is an error. 'drawbridge drift' shows the whole table, and writes overlays.

--filter prints the operations that match, with their problems and counts; the exit code is that of the whole. A filter that
matches nothing is an error. At a terminal the table of --verbose fits its width; --wide, a file or a pipe gets it whole.

Of APIs that discovery finds, the services are named. Services that are not served are listed with the reason and the next step,
as are selectors of a provider that match no service, and services that get no credential, or not the name of their API, because the
configuration does not name them with their namespace.

Exit codes: 0 if clean or with warnings only, 1 if an API or a prompt can't be served or a registry can't be read as a whole (with
--strict also if any operation is skipped, a document would be held, a selector or an action matches nothing, an API has no tool that
can be called, a directory has no document, a service is not served or not named, anything differs from --against, or --admin shows drift), 2 on bad usage or configuration.`,
		Example: `  drawbridge check --config drawbridge.yaml
  drawbridge check --no-secrets --config drawbridge.yaml
  drawbridge check --verbose --filter api=orders --sort fate
  drawbridge check --against tools-before.json --config drawbridge.yaml
  drawbridge check --against 0 --config drawbridge.yaml
  drawbridge check --strict https://orders.internal/openapi.json
  drawbridge check --json openapi.yaml | jq '.apis[].operations[] | select(.fate == "changed")'`,
	}
	p.configFlag(c)
	p.baseURLFlag(c)
	c.Flags().BoolVar(&o.strict, "strict", false, "exit with 1 if any operation is skipped, a document would be held, a selector or an action of an overlay matches nothing, or an API has no tool that can be called")
	c.Flags().BoolVar(&o.standard, "standard", false, "also print violations of the OpenAPI standard (advice for the authors of the documents)")
	c.Flags().BoolVar(&p.noSecrets, "no-secrets", false, "check without the environment variables and secret files that are missing: each is a warning")
	c.Flags().BoolVarP(&o.quiet, "quiet", "q", false, "do not print problems of documents")
	c.Flags().BoolVarP(&o.verbose, "verbose", "v", false, "print all problems, and the fate of every operation")
	o.againstFlag(c)
	adminFlag(c, &o.admin)
	o.filter.flag(p, c, "operations")
	c.Flags().StringVar(&o.order, "sort", byDocument, "`COLUMN` that orders the table of --verbose: "+oneOf(fateOrders))
	complete(c, "sort", fixedValues(fateOrders...))
	p.wideFlag(c)
	c.Flags().BoolVar(&o.json, "json", false, "print the report as JSON (docs/load-report.md)")
	c.RunE = p.interruptible(func(c *cobra.Command, args []string) error { return p.check(c, args, &o) })
	return c
}

// check runs the command.
func (p *program) check(c *cobra.Command, args []string, o *checkOptions) error {
	location, _, err := p.location(c, args, 0)
	if err != nil {
		return err
	}
	if err := o.check(c.Flags().Changed("sort")); err != nil {
		return usageError{err, c}
	}
	var observed []apiDrift
	if o.admin != "" {
		client, err := parseAdminURL("check", o.admin)
		if err != nil {
			return usageError{err, c}
		}
		if observed, _, err = client.drift(c.Context(), ""); err != nil {
			return err
		}
	}
	var against *target
	if c.Flags().Changed("against") {
		if against, err = parseTarget(o.against); err != nil {
			return usageError{err, c}
		}
	}
	g, outcomes, err := p.loadOnce(c.Context(), location, gateway.Options{Advise: o.standard, CompareStored: true})
	if err != nil {
		return err
	}
	progress := p.progress("compiling the checks of arguments")
	defer progress.Stop()
	failed := false
	unusable := make([][]int, len(outcomes))
	for i := range outcomes {
		unusable[i] = compileAll(&outcomes[i])
		report := &outcomes[i].Report
		failed = failed || outcomes[i].Err != nil || len(unusable[i]) > 0 || o.strict && (report.API.Skipped > 0 || report.API.Held != nil || len(report.API.Faults) > 0 || selectsNothing(report.Overlays))
	}
	progress.Stop()
	var compared *comparison
	if against != nil {
		if compared, err = p.compare(c.Context(), against, location, g, outcomes, &o.filter); err != nil {
			return err
		}
		failed = failed || o.strict && compared.differs()
	}
	failed = failed || o.strict && slices.ContainsFunc(observed, func(a apiDrift) bool { return a.Drift != nil })
	if outcomes, unusable, err = o.filter.outcomes(outcomes, unusable); err != nil {
		return usageError{err, c}
	}
	selectors := g.SelectorProblems()
	if d := g.Status().Discovery; d != nil {
		failed = failed || d.IsIncomplete() || o.strict && (d.HasUnserved() || d.HasUnmatched() || d.HasUnnamed())
	}
	failed = failed || len(g.PromptProblems())+len(g.WorkflowProblems()) > 0 || o.strict && (len(selectors) > 0 || len(g.Config().EmptyDirectories()) > 0)
	if o.json {
		err = p.printReportJSON(outcomes, g, compared, observed)
	} else {
		text := reportText{w: printable{p.stdout}, width: p.tableWidth(), checkOptions: *o}
		for i := range outcomes {
			text.outcome(&outcomes[i], unusable[i])
		}
		text.selectors(selectors)
		text.lines(g.PromptProblems())
		text.lines(slices.Concat(g.WorkflowProblems(), g.WorkflowWarnings()))
		text.clashes(g.NameClashes())
		text.passedOver(g.PassedOver())
		text.services(g)
		text.lists(g)
		if compared != nil {
			text.comparison(compared)
		}
		text.drift(observed)
		err = text.err
	}
	if err != nil {
		return err
	}
	if len(selectors.Errors()) > 0 {
		return exitError(exitUsage)
	}
	if failed {
		return exitError(exitFail)
	}
	return nil
}

// selectsNothing reports whether an action of an overlay selected nothing that should have.
func selectsNothing(actions []gateway.OverlayAction) bool {
	return slices.ContainsFunc(actions, func(a gateway.OverlayAction) bool { return a.Matched == 0 && !a.Optional })
}

type checkOptions struct {
	strict, standard     bool
	quiet, verbose, json bool
	against              string // --against: a file or a version
	admin                string // --admin: the URL of a running gateway
	filter               filter
	order                string // of the table of --verbose: one of fateOrders
}

// byDocument is the order of operations in their documents.
const byDocument = "document"

// fateOrders are the values of --sort.
var fateOrders = []string{byDocument, "fate", "method", "path", "tool"}

func (o *checkOptions) check(sorted bool) error {
	switch {
	case o.json && (o.quiet || o.verbose) || o.quiet && o.verbose:
		return errors.New("check: --json, --quiet and --verbose exclude each other")
	case !slices.Contains(fateOrders, o.order):
		return fmt.Errorf("check: --sort %q: give %s", o.order, oneOf(fateOrders))
	case sorted && !o.verbose:
		return errors.New("check: --sort orders the table of --verbose, which was not given")
	}
	return nil
}

// loadOnce loads configuration and documents for the commands that do not serve. It completes o.
func (p *program) loadOnce(ctx context.Context, location string, o gateway.Options) (*gateway.Gateway, []gateway.Outcome, error) {
	cfg, err := p.load(location)
	if err != nil {
		return nil, nil, err
	}
	return p.loadConfig(ctx, cfg, o)
}

// loadConfig is loadOnce with the configuration.
func (p *program) loadConfig(ctx context.Context, cfg *config.Config, o gateway.Options) (*gateway.Gateway, []gateway.Outcome, error) {
	// The outcome of each API is printed, so it need not be logged.
	o.Config, o.Version, o.Logger, o.TryUsualPaths = cfg, version, quietLogger(p, cfg), true
	progress := p.progress("reading documents")
	defer progress.Stop()
	o.Progress = progress.Count
	g, err := gateway.New(o)
	if err != nil {
		return nil, nil, usageError{err, nil}
	}
	outcomes, err := g.Load(ctx)
	return g, outcomes, err
}

// loadTools is loadOnce for the commands that use the tools: it rejects a configuration that serve
// rejects.
func (p *program) loadTools(ctx context.Context, location string, o gateway.Options) (*gateway.Gateway, []gateway.Outcome, error) {
	g, outcomes, err := p.loadOnce(ctx, location, o)
	if err == nil {
		err = asUsage(g.SelectorProblems().Err())
	}
	return g, outcomes, err
}

// asUsage converts the error of an unusable configuration to exit code 2; nil stays nil.
func asUsage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err, nil}
}

// quietLogger logs errors only, which are internal.
func quietLogger(p *program, cfg *config.Config) *slog.Logger {
	t := cfg.Telemetry
	t.LogLevel, t.LogFormat = "error", config.LogText
	log, _ := newLogger(p.stderr, t, p.getenv)
	return log
}

// compileAll compiles the argument validator of every operation, which serve does at the first
// call, and returns the indexes of those that fail. Operations often have the schema of another, as those of paths that are references to one.
func compileAll(o *gateway.Outcome) (unusable []int) {
	if o.Err != nil {
		return nil
	}
	known := make(map[string]error)
	for i, op := range o.API.Operations {
		err, ok := known[string(op.Input)]
		if !ok {
			err = op.CheckSchema()
			known[string(op.Input)] = err
		}
		if err != nil {
			o.Report.Operations[i].Uncallable = fmt.Sprintf("the schema of the arguments can't be used: %v", err)
			unusable = append(unusable, i)
		}
	}
	return unusable
}

func (p *program) printReportJSON(outcomes []gateway.Outcome, g *gateway.Gateway, compared *comparison, observed []apiDrift) error {
	var all struct {
		APIs       []any       `json:"apis"`
		Selectors  []string    `json:"selectors,omitempty"`
		Prompts    []string    `json:"prompts,omitempty"`
		Workflows  []string    `json:"workflows,omitempty"`
		Clashes    []string    `json:"clashes,omitempty"`
		PassedOver []string    `json:"passed_over,omitempty"`
		Lists      any         `json:"lists,omitempty"`
		Discovery  any         `json:"discovery,omitempty"`
		Compared   *comparison `json:"compared,omitempty"`
		Observed   []apiDrift  `json:"observed,omitempty"`
	}
	all.Compared, all.Observed = compared, observed
	if d := g.Status().Discovery; d != nil {
		for i := range d.Providers {
			d.Providers[i].Updated = time.Time{} // so that the same services give the same report
		}
		all.Discovery = d
	}
	for _, problem := range g.SelectorProblems() {
		all.Selectors = append(all.Selectors, problem.String())
	}
	all.Prompts, all.Workflows, all.Clashes, all.PassedOver = g.PromptProblems(), slices.Concat(g.WorkflowProblems(), g.WorkflowWarnings()), g.NameClashes(), g.PassedOver()
	if lists := g.Lists(); len(lists) > 0 {
		all.Lists = lists
	}
	for i := range outcomes {
		report := outcomes[i].Report
		report.API.LoadedAt = nil // so that the same documents give the same report
		all.APIs = append(all.APIs, report)
	}
	e := json.NewEncoder(printable{p.stdout})
	e.SetIndent("", "  ")
	return e.Encode(all)
}

// count formats a number with a noun.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"drawbridge/config"
	"drawbridge/gateway"
)

func (p *program) checkCommand() *cobra.Command {
	var strict, standard, quiet bool
	c := &cobra.Command{
		Use:   "check [--config FILE | DOCUMENT]",
		Short: "Tell what would be served, what not, and why",
		Long: `Check reads the configuration and all documents once and prints, for each API, every operation that can't become
a tool with the reason, and every problem that was repaired or guessed, each with file:line:col and JSON pointer.

Exit codes: 0 when clean or with warnings only, 1 when an API can't be served (with --strict: or any operation is
skipped), 2 on bad usage or configuration.`,
		Example: `  drawbridge check --config drawbridge.yaml
  drawbridge check --strict https://orders.internal/openapi.json`,
	}
	p.configFlag(c)
	c.Flags().BoolVar(&strict, "strict", false, "exit with 1 when any operation is skipped")
	c.Flags().BoolVar(&standard, "standard", false, "also print where the documents break the OpenAPI standard (advice for their authors)")
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "print no warnings")
	c.RunE = func(c *cobra.Command, args []string) error {
		location, _, err := p.location(c, args, 0)
		if err != nil {
			return err
		}
		_, outcomes, err := p.loadOnce(c.Context(), location, standard)
		if err != nil {
			return err
		}
		p.stdout = printable{p.stdout}
		failed := false
		for _, o := range outcomes {
			failed = p.printOutcome(o, quiet) || failed
			failed = failed || strict && o.API != nil && len(o.API.Skipped) > 0
		}
		if failed {
			return exitError(exitFail)
		}
		return nil
	}
	return c
}

// loadOnce reads configuration and documents for the commands that serve nothing.
func (p *program) loadOnce(ctx context.Context, location string, report bool) (*gateway.Gateway, []gateway.Outcome, error) {
	cfg, err := p.load(location)
	if err != nil {
		return nil, nil, err
	}
	// The outcome of each API is printed; the log would say it again.
	g, err := gateway.New(gateway.Options{Config: cfg, Version: version, Report: report, Logger: quietLogger(p, cfg)})
	if err != nil {
		return nil, nil, usageError{err, nil}
	}
	outcomes, err := g.Load(ctx)
	return g, outcomes, err
}

// quietLogger lets only errors through: they are ours.
func quietLogger(p *program, cfg *config.Config) *slog.Logger {
	t := cfg.Telemetry
	t.LogLevel, t.LogFormat = "error", config.LogText
	return newLogger(p.stderr, t)
}

// printOutcome prints what became of an API and tells whether it can't be served.
func (p *program) printOutcome(o gateway.Outcome, quiet bool) (failed bool) {
	if o.Err != nil {
		fmt.Fprintf(p.stdout, "%s: can't be served: %v\n", o.Name, o.Err)
		return true
	}
	without, missing := 0, ""
	for _, op := range o.API.Operations {
		if err := op.CheckSchema(); err != nil {
			fmt.Fprintf(p.stdout, "%s: %s: %s %s: the schema of the arguments can't be used: %v\n", op.Position, op.Pointer, op.Method, op.Path, err)
			failed = true
		}
		if op.Base == nil && !o.BaseURL {
			without, missing = without+1, op.BaseProblem
		}
	}
	for _, s := range o.API.Skipped {
		fmt.Fprintln(p.stdout, s)
	}
	if !quiet {
		for _, problem := range o.API.Problems {
			fmt.Fprintf(p.stdout, "warning: %s\n", problem)
		}
		for _, problem := range o.Report {
			fmt.Fprintf(p.stdout, "standard: %s\n", problem)
		}
	}
	if without > 0 && !quiet {
		fmt.Fprintf(p.stdout, "warning: %s can't be called yet: %s\n", count(without, "operation"), missing)
	}
	var credential string
	if unmet := o.UnmetSecurity; len(unmet) > 0 {
		credential = fmt.Sprintf("; the document asks for %s and no credential is configured", strings.Join(unmet, " or "))
	}
	fmt.Fprintf(p.stdout, "%s: OpenAPI %s, %s, %s skipped, %s%s\n", o.Name, o.Standard, count(o.Tools, "tool"),
		count(len(o.API.Skipped), "operation"), count(len(o.API.Problems), "warning"), credential)
	return failed
}

// count writes a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

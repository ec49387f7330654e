package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"drawbridge/gateway"
	"drawbridge/openapi/readiness"
	"drawbridge/openapi/text"
)

// scoring are the flags of score.
type scoring struct {
	*program
	api       string
	json      bool
	top       int
	failBelow float64
	fix       fixing
}

func (p *program) scoreCommand() *cobra.Command {
	s := &scoring{program: p, top: 10}
	c := &cobra.Command{
		Use:   "score [--config FILE | DOCUMENT]",
		Short: "Score how well a model can use the tools, and write an overlay that helps",
		Long: `Score looks at each tool as a model reads it, and gives each operation 100 points less the weights of its findings: texts
that are missing, repeated or say nothing, arguments without a description or a type, deep bodies without an example, lists
without paging, and so on. The score of an API is the mean of its operations. Each finding has its place in the document.

With --fix an OpenAPI overlay is written that mends what the document itself says elsewhere. It is proved before: it applies
without a warning, loses no operation, and raises the score. Nothing is served from it until you list it in apis[].overlays.

With --model an endpoint for chat completions (as of OpenAI) drafts the texts and examples that the document does not hold. They
go into the same overlay, each marked as a draft; read them. Only the texts, the path and the arguments of operations with
findings are sent; --dry-run shows them and sends nothing. The key is read from the environment variable that --model-key-env
names, and is sent over HTTPS or to this machine only.

Exit codes: 0 on success, 1 if a document can't be read or a score is below --fail-below, 2 on bad usage or configuration.`,
		Example: `  drawbridge score https://orders.internal/openapi.json
  drawbridge score --config drawbridge.yaml --fail-below 80
  drawbridge score --json openapi.yaml | jq '.apis[].operations[] | select(.score < 50) | .tool'
  drawbridge score --fix overlay.yaml openapi.yaml
  drawbridge score --fix overlay.yaml --model https://models.internal/v1 --model-name small --dry-run openapi.yaml`,
	}
	p.configFlag(c)
	c.Flags().StringVar(&s.api, "api", "", "score only the API of this `NAME`")
	c.Flags().IntVar(&s.top, "top", s.top, "number of operations whose findings are printed, 0 for all")
	c.Flags().BoolVar(&s.json, "json", false, "print the whole report as JSON")
	c.Flags().Float64Var(&s.failBelow, "fail-below", 0, "exit with 1 if an API has a lower `SCORE`")
	s.fix.flags(c)
	p.wideFlag(c)
	c.RunE = p.interruptible(func(c *cobra.Command, args []string) error {
		location, _, err := p.location(c, args, 0)
		if err != nil {
			return err
		}
		if err := s.check(c); err != nil {
			return usageError{err, c}
		}
		return s.run(c.Context(), location)
	})
	return c
}

// check checks the flags.
func (s *scoring) check(c *cobra.Command) error {
	switch {
	case s.top < 0:
		return fmt.Errorf("score: --top %d: give a number of operations, or 0 for all", s.top)
	case s.failBelow < 0 || s.failBelow > 100:
		return fmt.Errorf("score: --fail-below %g: give a score from 0 to 100", s.failBelow)
	case s.json && c.Flags().Changed("top"):
		return errors.New("score: --json and --top exclude each other")
	}
	return s.fix.check(c)
}

// scored is an API with its score.
type scored struct {
	API string `json:"api"`
	*readiness.Report
	// Overlay is what --fix has written; absent without it.
	Overlay *overlayResult `json:"overlay,omitempty"`

	assessment *gateway.Assessment
}

// run loads the documents, scores them, and writes the overlay if there is to be one.
func (s *scoring) run(ctx context.Context, location string) error {
	g, outcomes, err := s.loadTools(ctx, location, gateway.Options{})
	if err != nil {
		return err
	}
	outcomes, err = s.chosen(outcomes)
	if err != nil {
		return usageError{err, nil}
	}
	failed := s.printFailures(outcomes)
	var all []*scored
	for _, o := range outcomes {
		if o.Err != nil {
			continue
		}
		a, err := g.Assess(ctx, o.Name)
		if err != nil {
			return fmt.Errorf("%s: %w", o.Name, err)
		}
		all = append(all, &scored{API: o.Name, Report: a.Report, assessment: a})
	}
	if s.fix.isOn() && len(all) == 1 {
		if s.fix.dryRun {
			return s.showRequests(ctx, all[0])
		}
		if err := s.writeOverlay(ctx, all[0]); err != nil {
			return err
		}
	}
	if err := s.print(all); err != nil {
		return err
	}
	for _, a := range all {
		if a.Score < s.failBelow {
			fmt.Fprintf(s.stderr, "%s: the score %.1f is below %g\n", a.API, a.Score, s.failBelow)
			failed = exitError(exitFail)
		}
	}
	return failed
}

// chosen returns the outcome of the API that --api names, or else all. An overlay is for one document.
func (s *scoring) chosen(outcomes []gateway.Outcome) ([]gateway.Outcome, error) {
	var names []string
	for i, o := range outcomes {
		if o.Name == s.api {
			return outcomes[i : i+1], nil
		}
		names = append(names, o.Name)
	}
	switch {
	case s.api != "":
		return nil, fmt.Errorf("score: there is no API %q%s", s.api, text.DidYouMean(text.NearestFew(s.api, names, maxSuggestions)...))
	case s.fix.isOn() && len(outcomes) != 1:
		return nil, fmt.Errorf("score: an overlay is for one document, and there are %d; choose one with --api: %s", len(outcomes), strings.Join(names, ", "))
	}
	return outcomes, nil
}

func (s *scoring) print(all []*scored) error {
	out := printable{s.stdout}
	if s.json {
		b, err := json.MarshalIndent(struct {
			APIs []*scored `json:"apis"`
		}{append([]*scored{}, all...)}, "", "  ")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(out, string(b))
		return err
	}
	t := scoreText{w: out, width: s.tableWidth(), top: s.top}
	t.print(all)
	return t.err
}

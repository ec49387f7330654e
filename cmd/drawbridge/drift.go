package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"drawbridge/cmd/drawbridge/terminal"
	"drawbridge/gateway"
	"drawbridge/openapi/readiness"
	"drawbridge/openapi/text"
)

// drifting are the flags of drift.
type drifting struct {
	*program
	admin, overlay string
	force, json    bool
}

func (p *program) driftCommand() *cobra.Command {
	d := &drifting{program: p}
	c := &cobra.Command{
		Use:   "drift [--admin URL | --config FILE] [API]",
		Short: "Show how calls and answers differ from the documents, and write an overlay that mends it",
		Long: `Drift asks a running gateway how calls and answers differ from the documents: arguments that it refused because the document
declares another type, and answers with a type, a status or a media type that the document does not declare. It prints where and
how often. The gateway counts since it has started, or since the document has changed; each replica counts its own calls.

With --overlay an OpenAPI overlay is written that makes the document declare what was observed. The document is read again, as
the configuration says, and each action is proved: it applies without a warning, loses no operation, and the difference is gone.
An overlay widens, so read it: delete the actions where the document is right, and the service or the caller is not. Nothing is
served from it until you list it in apis[].overlays.

Exit codes: 0 on success, 1 if the gateway does not answer or a document can't be read, 2 on bad usage or configuration.`,
		Example: `  drawbridge drift --config drawbridge.yaml
  drawbridge drift --admin http://gateway.internal:9090 orders
  drawbridge drift --config drawbridge.yaml --overlay orders-drift.yaml orders
  drawbridge drift --json | jq '.apis[].drift.differences[] | select(.kind == "answer_type")'`,
	}
	p.configFlag(c)
	adminFlag(c, &d.admin)
	c.Flags().StringVar(&d.overlay, "overlay", "", "write an overlay to `FILE`")
	c.Flags().BoolVar(&d.force, "force", false, "replace the file of --overlay")
	c.Flags().BoolVar(&d.json, "json", false, "print the differences as JSON")
	p.wideFlag(c)
	c.RunE = p.interruptible(func(c *cobra.Command, args []string) error {
		if err := d.check(args); err != nil {
			return usageError{err, c}
		}
		return d.run(c, strings.Join(args, ""))
	})
	return c
}

// check checks the flags and arguments.
func (d *drifting) check(args []string) error {
	switch {
	case len(args) > 1:
		return fmt.Errorf("drift: unexpected argument %q: give the name of one API, or none for all", args[1])
	case d.force && d.overlay == "":
		return fmt.Errorf("drift: --force replaces the file of --overlay, which was not given")
	}
	if d.overlay != "" && !d.force {
		if _, err := os.Lstat(d.overlay); err == nil {
			return fmt.Errorf("drift: %s exists: give --force to replace it, or another file", d.overlay)
		}
	}
	return nil
}

func (d *drifting) run(c *cobra.Command, wanted string) error {
	ctx := c.Context()
	var client *adminClient
	var location string
	var err error
	if d.admin != "" {
		if client, err = parseAdminURL("drift", d.admin); err != nil {
			return usageError{err, c}
		}
	}
	if client == nil || d.overlay != "" {
		if location, _, err = d.location(c, nil, 0); err != nil {
			return err
		}
	}
	if client == nil {
		client = d.adminOf(location)
	}
	all, names, err := client.drift(ctx, wanted)
	switch {
	case err != nil && d.admin == "":
		return fmt.Errorf("%w; %w", err, errNoAdmin)
	case err != nil:
		return err
	case wanted != "" && len(all) == 0:
		return usageError{fmt.Errorf("drift: the gateway has no API %q%s", wanted, text.DidYouMean(text.NearestFew(wanted, names, maxSuggestions)...)), nil}
	}
	var fix *readiness.DriftFix
	if d.overlay != "" {
		if len(all) != 1 {
			return usageError{fmt.Errorf("drift: an overlay is for one document, and there are %d; name one API: %s", len(all), strings.Join(names, ", ")), nil}
		}
		if fix, err = d.writeOverlay(ctx, location, all[0]); err != nil {
			return err
		}
	}
	return d.print(all, fix)
}

// writeOverlay derives the overlay for the drift of an API, and writes it if there is one.
func (d *drifting) writeOverlay(ctx context.Context, location string, of apiDrift) (*readiness.DriftFix, error) {
	if of.Drift == nil {
		return &readiness.DriftFix{}, nil
	}
	g, outcomes, err := d.loadTools(ctx, location, gateway.Options{})
	if err != nil {
		return nil, err
	}
	if failed := d.printFailures(outcomes); failed != nil {
		return nil, failed
	}
	progress := d.progress("proving the overlay")
	defer progress.Stop()
	fix, err := g.FixDrift(ctx, of.API, of.Drift)
	if err != nil {
		return nil, fmt.Errorf("drift: %s: %w", of.API, err)
	}
	if fix.Data == nil {
		return fix, nil
	}
	if d.force {
		err = replaceFile(d.overlay, fix.Data)
	} else {
		err = createFile(d.overlay, string(fix.Data))
	}
	if err != nil {
		return nil, fmt.Errorf("drift: %w", err)
	}
	return fix, nil
}

func (d *drifting) print(all []apiDrift, fix *readiness.DriftFix) error {
	out := printable{d.stdout}
	if d.json {
		b, err := json.MarshalIndent(struct {
			APIs []apiDrift `json:"apis"`
		}{append([]apiDrift{}, all...)}, "", "  ")
		if err == nil {
			_, err = fmt.Fprintln(out, string(b))
		}
		return err
	}
	for i, a := range all {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if err := printDrift(out, d.tableWidth(), a, fix); err != nil {
			return err
		}
	}
	if fix == nil {
		return nil
	}
	for _, reason := range fix.Dropped {
		fmt.Fprintf(out, "left out: %s\n", oneLine(reason))
	}
	if fix.Data == nil {
		fmt.Fprintln(out, "no overlay is written: there is nothing that one can mend")
	} else {
		fmt.Fprintf(out, "%s written. Delete the actions where the document is right, list it in apis[].overlays, and run drawbridge check.\n", filepath.ToSlash(d.overlay))
	}
	if len(fix.Settings) > 0 {
		fmt.Fprintln(out, "Instead of changing what the document declares of JSON bodies, the gateway can send other types:")
		for _, line := range fix.Settings {
			fmt.Fprintf(out, "  %s\n", line)
		}
	}
	return nil
}

// printDrift prints the drift of an API as a table, with what an overlay does about it if there is one.
func printDrift(out io.Writer, width int, a apiDrift, fix *readiness.DriftFix) error {
	if a.Drift == nil {
		_, err := fmt.Fprintf(out, "%s: no drift was observed\n", oneLine(a.API))
		return err
	}
	fmt.Fprintf(out, "%s: %s at %s since %s\n", oneLine(a.API), count(int(a.Drift.Total), "difference"), count(a.Drift.Places, "place"), a.Drift.Since.UTC().Format("2006-01-02 15:04 MST"))
	table := terminal.Table{Indent: "  ", Width: width, Flexible: []int{2, 1}}
	heading := []string{"COUNT", "OPERATION", "DIFFERENCE"}
	if fix != nil {
		heading = append(heading, "OVERLAY")
	}
	table.Row(heading...)
	for i := range a.Drift.Differences {
		d := &a.Drift.Differences[i]
		cells := []string{strconv.FormatInt(d.Count, 10), oneLine(d.Method + " " + d.Path), oneLine(d.Phrase())}
		if fix != nil {
			cells = append(cells, fix.Mends[i].Text)
		}
		table.Row(cells...)
	}
	if _, err := table.WriteTo(out); err != nil {
		return err
	}
	if a.Drift.Uncounted > 0 {
		fmt.Fprintf(out, "  and %s at further places, which are not kept\n", count(int(a.Drift.Uncounted), "difference"))
	}
	return nil
}

// errNoAdmin is the advice if the listener of a configuration does not answer.
var errNoAdmin = errors.New("if the gateway runs elsewhere, give the URL of its admin listener with --admin")

// adminOf returns the client of the gateway that runs here with a configuration.
func (p *program) adminOf(location string) *adminClient {
	listen, _ := p.adminListen(location)
	return &adminClient{&url.URL{Scheme: "http", Host: local(listen)}}
}

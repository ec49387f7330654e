package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"drawbridge/gateway"
)

// record is a line of the file of --each.
type record struct {
	line      int // from 1
	arguments json.RawMessage
	fault     error // nil if the arguments are valid
}

// callEach calls a tool once for each record of a file. All records are validated before the first call, and if one has a
// fault nothing is sent: a call that can't be taken back must not be followed by an error that was there from the start.
func (p *program) callEach(c *cobra.Command, g *gateway.Gateway, plan *gateway.Plan, file string, dryRun bool) error {
	records, err := readRecords(file, c.InOrStdin(), int(g.Config().Limits.MaxBody))
	if err != nil {
		return usageError{err, nil}
	}
	wrong := 0
	for _, r := range records {
		if r.fault == nil {
			_, r.fault = plan.Request(c.Context(), r.arguments)
		}
		if r.fault != nil {
			wrong++
			fmt.Fprintf(p.stderr, "%s:%d: %s\n", file, r.line, strings.TrimPrefix(r.fault.Error(), "arguments: "))
		}
	}
	checked := count(len(records), "record")
	switch {
	case wrong > 0:
		fmt.Fprintf(p.stderr, "%s, %d invalid; nothing was sent\n", checked, wrong)
		return exitError(exitFail)
	case dryRun:
		fmt.Fprintf(p.stdout, "%s fit the arguments of %s; nothing was sent\n", checked, plan.Tool.Name)
		return nil
	}
	return p.sendEach(c, g, plan, file, records)
}

// sendEach makes the calls in the order of their records, one after the other, and prints each result in one line of JSON. It
// goes on after a failed call, and ends with the first interruption.
func (p *program) sendEach(c *cobra.Command, g *gateway.Gateway, plan *gateway.Plan, file string, records []record) error {
	failed := 0
	for _, r := range records {
		if err := c.Context().Err(); err != nil {
			return err
		}
		result, cause, err := g.CallWithCause(c.Context(), plan.Tool.Name, r.arguments)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", file, r.line, err)
		}
		if cause != nil {
			fmt.Fprintf(p.stderr, "%s:%d: ", file, r.line)
			p.printCause(c, plan, r.arguments, cause)
		}
		var outcome struct{ IsError bool }
		if err := json.Unmarshal(result, &outcome); err != nil {
			return err
		}
		if outcome.IsError {
			failed++
		}
		line, err := json.Marshal(struct {
			Line   int             `json:"line"`
			Result json.RawMessage `json:"result"`
		}{r.line, result})
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(p.stdout, string(line)); err != nil {
			return err
		}
	}
	if failed > 0 {
		fmt.Fprintf(p.stderr, "%s, %d failed\n", count(len(records), "record"), failed)
		return exitError(exitFail)
	}
	return nil
}

// readRecords reads the records of a file of JSON lines, - for standard input. Blank lines are passed over; lines
// that are no JSON object have a fault. A line may have limit bytes.
func readRecords(file string, stdin io.Reader, limit int) (records []record, err error) {
	in := stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, fmt.Errorf("the records can't be read: %w", err)
		}
		defer f.Close()
		in = f
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, limit)
	number := 0
	for lines.Scan() {
		number++
		text := bytes.TrimSpace(lines.Bytes())
		if number == 1 {
			text = bytes.TrimPrefix(text, []byte("\ufeff"))
		}
		if len(text) == 0 {
			continue
		}
		records = append(records, record{number, bytes.Clone(text), checkArguments(text)})
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%s:%d: the record is larger than limits.max_body (%d bytes)", file, number+1, limit)
	case err != nil:
		return nil, fmt.Errorf("%s: the records can't be read: %w", file, err)
	case len(records) == 0:
		return nil, fmt.Errorf("%s: it has no records: give one JSON object with arguments in each line", file)
	}
	return records, nil
}

package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// suite is what all figures share.
type suite struct {
	program string // the gateway
	root    string // of the module
	size    size
	seed    uint64
	dir     string    // of the figure that runs
	log     io.Writer // of several goroutines
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s := &suite{size: scaled, log: stderr}
	f := flag.NewFlagSet("chaos", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&s.program, "gateway", "bin/drawbridge", "the gateway's `program` (make build)")
	chosen := f.String("figures", "", "`numbers` of the figures to run, such as 2,9,12 (default: all of that size)")
	small := f.Bool("short", false, "a smoke test of those that need no quiet machine, a minute and a half")
	whole := f.Bool("full", false, "the whole figures, up to an hour each")
	list := f.Bool("list", false, "print the figures with what is run, and run none")
	markdown := f.Bool("markdown", false, "print what was measured as docs/contributing/chaos.md has it")
	f.Uint64Var(&s.seed, "seed", 1, "of what is random")
	neighbours := f.Bool("neighbour", false, "be the program of the least priority of figure 8 (the suite starts itself so)")
	crowd := f.String("crowd", "", "be the slow connections of figure 13: `mode`, host and number (the suite starts itself so)")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *neighbours {
		return beNeighbour(ctx, stdout)
	}
	if *crowd != "" {
		return beCrowd(ctx, *crowd, stdout)
	}
	switch {
	case *small && *whole:
		return errors.New("-short and -full exclude each other")
	case *small:
		s.size = short
	case *whole:
		s.size = full
	}
	selected, err := choose(allFigures(), *chosen, s.size)
	if err != nil {
		return err
	}
	t := &table{markdown: *markdown && !*list}
	if *list {
		for _, f := range selected {
			t.add(f, s.size, row{})
		}
		t.print(stdout)
		return nil
	}
	if s.program, err = filepath.Abs(s.program); err != nil {
		return err
	}
	if _, err := os.Stat(s.program); err != nil {
		return fmt.Errorf("no gateway (run make build first): %w", err)
	}
	if s.root, err = os.Getwd(); err != nil {
		return err
	}
	for i, rows := range s.figures(ctx, selected) {
		for _, r := range rows {
			t.add(selected[i], s.size, r)
		}
	}
	fmt.Fprintln(stdout)
	t.print(stdout)
	if err := ctx.Err(); err != nil {
		return err
	}
	if missed := t.missed(); missed > 0 {
		return fmt.Errorf("%d goals are missed", missed)
	}
	return nil
}

// figures runs those that were selected and returns the rows of each: those with a clock one after the other, and then those that only
// count, of which three may run at once. When ctx ends the others don't begin.
func (s *suite) figures(ctx context.Context, selected []figure) [][]row {
	results := make([][]row, len(selected))
	for i, f := range selected {
		if f.counts == 0 && ctx.Err() == nil {
			results[i] = s.figure(ctx, f)
		}
	}
	var several errgroup.Group
	several.SetLimit(3) // one of them mostly waits (30)
	var counting []int
	for i, f := range selected {
		if f.counts != 0 {
			counting = append(counting, i)
		}
	}
	slices.SortFunc(counting, func(a, b int) int { return cmp.Compare(selected[a].counts, selected[b].counts) })
	for _, i := range counting {
		several.Go(func() error {
			if ctx.Err() == nil {
				results[i] = s.figure(ctx, selected[i])
			}
			return nil
		})
	}
	_ = several.Wait() // there is no error: a figure that fails is a row
	return results
}

// figure runs one figure in a folder of its own, and returns what came of it. Whatever one does, the others run.
func (s *suite) figure(ctx context.Context, f figure) (rows []row) {
	began := time.Now()
	s.progress("== %d %s: %s", f.number, f.name, f.conditions[s.size])
	// What a figure needs is there for as long as it takes and no longer.
	limit := 10 * time.Minute
	if s.size == full {
		limit = time.Hour
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := func() (err error) {
		own := *s
		if own.dir, err = os.MkdirTemp("", "chaos"); err != nil {
			return err
		}
		defer os.RemoveAll(own.dir)
		rows, err = f.run(ctx, &own)
		return err
	}()
	var absent *notRun
	switch {
	case errors.As(err, &absent):
		rows = append(rows, row{measured: "not run: " + absent.reason, verdict: notMeasured})
	case err != nil:
		s.progress("%v", err)
		first, _, _ := strings.Cut(err.Error(), "\n")
		rows = append(rows, row{measured: "error: " + first, verdict: missed})
	case len(rows) == 0:
		rows = append(rows, row{measured: "nothing", verdict: missed})
	}
	told := ""
	for _, r := range rows {
		told += fmt.Sprintf("   %s %s (%s) %s\n", r.what, r.measured, r.goal, r.verdict)
	}
	s.progress("%s== %d: %s", told, f.number, time.Since(began).Round(100*time.Millisecond))
	return rows
}

// progress tells something in one piece, since two figures may do so at once.
func (s *suite) progress(format string, args ...any) { fmt.Fprintf(s.log, format+"\n", args...) }

// timed is the verdict on a goal of time. In the short size there is none: the machine has other work to do then.
func (s *suite) timed(met bool) verdict {
	if s.size == short {
		return shown
	}
	return verdictOf(met)
}

// by returns the value of the size that is run.
func by[T any](s *suite, values [3]T) T { return values[s.size] }

// choose returns the figures with these numbers, or all that the size has.
func choose(all []figure, numbers string, z size) ([]figure, error) {
	var selected []figure
	if numbers == "" {
		for _, f := range all {
			if f.conditions[z] != "" {
				selected = append(selected, f)
			}
		}
		return selected, nil
	}
next:
	for text := range strings.SplitSeq(numbers, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("-figures: %q is no number", text)
		}
		for _, f := range all {
			if f.number != n {
				continue
			}
			if f.conditions[z] == "" {
				return nil, fmt.Errorf("-figures: figure %d is not there in this size", n)
			}
			selected = append(selected, f)
			continue next
		}
		return nil, fmt.Errorf("-figures: there is no figure %d", n)
	}
	return selected, nil
}

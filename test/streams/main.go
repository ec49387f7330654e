package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"drawbridge/test/figures"
)

// settings are the flags.
type settings struct {
	program string
	streams int           // open at once
	reloads int           // of the last part
	few     int           // streams of the last part
	every   time.Duration // from one of its changes to the next
	rps     int           // calls a second beside it
	only    string        // the one part to run; "": all
}

func main() {
	var s settings
	flag.StringVar(&s.program, "gateway", "bin/drawbridge", "the gateway's program")
	flag.IntVar(&s.streams, "streams", 10_000, "open streams")
	flag.IntVar(&s.reloads, "reloads", 1000, "changes of which each stream is to be told once")
	flag.IntVar(&s.few, "few", 500, "open streams in that part")
	flag.DurationVar(&s.every, "every", 100*time.Millisecond, "time from one of these changes to the next, at least")
	flag.IntVar(&s.rps, "rps", 200, "calls a second in that part")
	flag.StringVar(&s.only, "only", "", "run one part: http1, http2 or reloads")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, s); err != nil {
		fmt.Fprintln(os.Stderr, "streams:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s settings) error {
	if s.streams < 1 || s.reloads < 1 || s.few < 1 || s.rps < 1 || s.every < 0 {
		return errors.New("-streams, -reloads, -few and -rps must be at least 1, and -every not below 0")
	}
	// A process of Go may have as many descriptors as the hard limit allows; so may the gateway.
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err == nil && limit.Max < uint64(s.streams)+100 {
		return fmt.Errorf("%d streams need %d descriptors, and the hard limit is %d (ulimit -Hn)", s.streams, s.streams+100, limit.Max)
	}
	table := figures.NewTable(os.Stdout)
	for _, part := range []struct {
		name string
		run  func(context.Context, *world) ([]figures.Figure, error)
	}{
		{"http1", func(ctx context.Context, w *world) ([]figures.Figure, error) {
			return w.many(ctx, "HTTP/1.1", dialStream)
		}},
		{"http2", func(ctx context.Context, w *world) ([]figures.Figure, error) {
			return w.many(ctx, "HTTP/2", newHTTP2().open)
		}},
		{"reloads", func(ctx context.Context, w *world) ([]figures.Figure, error) { return w.manyChanges(ctx) }},
	} {
		if s.only != "" && s.only != part.name {
			continue
		}
		w, err := newWorld(ctx, s)
		if err != nil {
			return err
		}
		measured, err := part.run(ctx, w)
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, w.gateway.Log())
		}
		if err := errors.Join(err, w.close()); err != nil {
			return err
		}
		table.Add(measured...)
	}
	return table.Err()
}

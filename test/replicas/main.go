package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"drawbridge/test/figures"
	"drawbridge/test/openload"
	"drawbridge/test/process"
)

// options are the flags.
type options struct {
	program  string
	duration time.Duration
	rps      int
	limit    int
}

func main() {
	var o options
	flag.StringVar(&o.program, "gateway", "bin/drawbridge", "the gateway's program")
	flag.DurationVar(&o.duration, "duration", 25*time.Second, "how long calls are made in all: a fifth each with Redis, killed, back, stopped, and back")
	flag.IntVar(&o.rps, "rps", 300, "calls a second, at all three gateways together")
	flag.IntVar(&o.limit, "limit", 40, "calls a second that the other API allows; three times as many are made")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "replicas:", err)
		os.Exit(1)
	}
}

// phase is a part of the run.
type phase struct {
	name string
	// begin does to Redis what the phase is about; nil: nothing.
	begin func(context.Context, *cluster) error
	up    bool // whether Redis is there
}

var phases = []phase{
	{"shared", nil, true},
	{"killed", func(_ context.Context, c *cluster) error { return c.redis.Kill() }, false},
	{"started again", func(ctx context.Context, c *cluster) error { return c.redis.Start(ctx) }, true},
	{"stopped", func(_ context.Context, c *cluster) error { return c.stopRedis() }, false},
	{"going on", func(_ context.Context, c *cluster) error { return c.continueRedis() }, true},
}

func run(ctx context.Context, o options) error {
	if o.duration < 5*time.Second || o.rps < 3 || o.limit < 1 {
		return errors.New("-duration must be at least 5s, -rps 3 and -limit 1")
	}
	c, err := newCluster(ctx, o)
	if errors.Is(err, process.ErrNoRedis) {
		return fmt.Errorf("%w: apt-get install redis-server", err)
	}
	if err != nil {
		return errors.Join(err, c.close())
	}
	measured, err := c.measure(ctx)
	if err := errors.Join(err, c.close()); err != nil {
		return err
	}
	table := figures.NewTable(os.Stdout)
	table.Add(measured...)
	return table.Err()
}

// measure makes the calls of all phases, and says what came of them.
func (c *cluster) measure(ctx context.Context) ([]figures.Figure, error) {
	l := c.load(ctx)
	length := c.duration / time.Duration(len(phases))
	var parts []part
	for _, p := range phases {
		part := part{phase: p, began: time.Now()}
		if p.begin != nil {
			if err := p.begin(ctx, c); err != nil {
				l.stop()
				return nil, err
			}
		}
		var err error
		if part.noticed, err = c.await(ctx, p.up, length); err != nil {
			l.stop()
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		if !openload.Pause(ctx, time.Until(part.began.Add(length))) {
			l.stop()
			return nil, ctx.Err()
		}
		part.ended = time.Now()
		parts = append(parts, part)
	}
	l.stop()
	return c.judge(l, parts), nil
}

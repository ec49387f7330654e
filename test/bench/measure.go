package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"drawbridge/auth/authtest"
	"drawbridge/test/process"
	"drawbridge/test/wire"
)

// revisions are those that clients of the measurements speak: one of each era.
var revisions = []string{wire.Modern, "2025-11-25"}

// bench is one measurement with what all its scenarios share.
type bench struct {
	settings
	self     string // this program
	dir      string // for configuration files
	issuer   *authtest.Server
	progress func(format string, args ...any)
}

// measure runs the scenarios that were asked for.
func measure(ctx context.Context, s settings, progress func(format string, args ...any)) (report *Report, err error) {
	ctx, cancel := context.WithCancel(ctx) // ends the children, whatever happens
	defer cancel()
	b := bench{settings: s, progress: progress}
	if b.self, err = os.Executable(); err != nil {
		return nil, err
	}
	if b.gateway, err = filepath.Abs(s.gateway); err != nil {
		return nil, err
	}
	if _, err = os.Stat(b.gateway); err != nil {
		return nil, fmt.Errorf("no gateway (run make build first): %w", err)
	}
	if b.dir, err = os.MkdirTemp("", "bench"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(b.dir)
	if b.issuer, err = authtest.Start(authtest.Options{}); err != nil {
		return nil, err
	}
	defer func() { _ = b.issuer.Close() }() // it has done its work

	report = newReport(s)
	for _, name := range s.scenarios {
		var err error
		switch name {
		case "small":
			err = b.calls(ctx, report, "1 KiB, 64 connections", small, 64, "loose", atLeast(1))
		case "large":
			err = b.calls(ctx, report, "256 KiB of records, 16 connections, text and structuredContent", large, 16, "loose", atLeast(0.5))
		case "text":
			err = b.calls(ctx, report, "256 KiB of records, 16 connections, text alone", large, 16, "off", atLeast(0.8))
		case "prose":
			err = b.calls(ctx, report, "256 KiB of prose, 16 connections, text and structuredContent", prose, 16, "loose", atLeast(0.5))
		case "prosetext":
			err = b.calls(ctx, report, "256 KiB of prose, 16 connections, text alone", prose, 16, "off", atLeast(0.8))
		case "list":
			err = b.withSpecs(report, name, func(dir string) error { return b.lists(ctx, report, filepath.Join(dir, "github.json")) })
		case "start":
			err = b.withSpecs(report, name, func(dir string) error {
				return errors.Join(
					b.starts(ctx, report, filepath.Join(dir, "github.json"), atMost(0.6), atMost(mib(80e6))),
					b.starts(ctx, report, filepath.Join(dir, "stripe.json"), atMost(0.4), Goal{}))
			})
		}
		if err != nil {
			return nil, fmt.Errorf("scenario %s: %w", name, err)
		}
	}
	report.judge()
	return report, nil
}

func (b *bench) withSpecs(report *Report, scenario string, f func(dir string) error) error {
	if _, err := os.Stat(b.specs); b.specs == "" || err != nil {
		b.progress("left out: no folder of big documents (-specs)")
		report.LeftOut = append(report.LeftOut, scenario)
		return nil
	}
	return f(b.specs)
}

// calls measures one payload through every target, in interleaved rounds. The goal is the gateway's, of each revision.
func (b *bench) calls(ctx context.Context, report *Report, title string, p payload, connections int, output string, goal Goal) (err error) {
	b.progress("%s", title)
	upstream, upstreamURL, err := startRole(ctx, b.self, "upstream", "")
	if err != nil {
		return err
	}
	defer stopInto(&err, upstream)
	proxy, proxyURL, err := startRole(ctx, b.self, "proxy", upstreamURL)
	if err != nil {
		return err
	}
	defer stopInto(&err, proxy)
	spec := filepath.Join(b.dir, "bench.yaml")
	if err := os.WriteFile(spec, []byte(document), 0o600); err != nil {
		return err
	}
	of := api{spec: spec, baseURL: upstreamURL, output: output}
	if b.live > 0 {
		of.console = ", token: " + liveToken
	}
	g, err := startGateway(ctx, b.gateway, b.dir, b.issuer, of)
	if err != nil {
		return err
	}
	defer stopInto(&err, g.child)
	if _, err := g.ready(ctx, wire.Modern); err != nil {
		return err
	}
	if b.live > 0 {
		watching, stop := context.WithCancel(ctx)
		wait, watchErr := g.watchLive(watching, b.live)
		defer func() {
			stop()
			if watchErr == nil {
				err = errors.Join(err, wait())
			}
		}()
		if watchErr != nil {
			return watchErr
		}
	}

	path := "/" + p.name + "/" + sample
	var targets []*target
	add := func(t *target, err error) error {
		targets = append(targets, t)
		return err
	}
	proxyHost, upstreamHost := strings.TrimPrefix(proxyURL, "http://"), strings.TrimPrefix(upstreamURL, "http://")
	if err := add(newTarget("reverse proxy", proxyHost, proxy, get(path, proxyHost), verifyPlain(p))); err != nil {
		return err
	}
	for _, e := range revisions {
		c := &wire.Client{Host: g.host, Revision: e, Token: g.token}
		if err := c.Connect(); err != nil {
			return err
		}
		if err := add(newTarget("gateway "+e, g.host, g.child, c.Call(p.name, sample, `{"id":`+sample+`}`), verifyTool(p, output == "off"))); err != nil {
			return err
		}
		targets[len(targets)-1].goal = goal
	}
	if b.direct {
		if err := add(newTarget("upstream itself", upstreamHost, upstream, get(path, upstreamHost), verifyPlain(p))); err != nil {
			return err
		}
	}
	for _, t := range targets {
		if _, err := drive(ctx, t, connections, b.warmup); err != nil {
			return err
		}
	}
	before, err := g.child.Usage()
	if err != nil {
		return err
	}
	s := report.scenario(title, targets)
	for round := range b.rounds {
		order := slices.Clone(targets)
		if round%2 == 1 {
			slices.Reverse(order) // so that no target is always measured on a warmer machine
		}
		for _, t := range order {
			r, err := drive(ctx, t, connections, b.duration)
			if err != nil {
				return err
			}
			s.add(t.name, r)
			b.progress("  round %d  %-20s %8.0f calls/s  p50 %6.2f  p99 %6.2f ms  %6.1f µs/call", round+1, t.name, r.Rate, ms(r.P50), ms(r.P99), r.CPUPerCall)
		}
	}
	after, err := g.child.Usage()
	if err != nil {
		return err
	}
	s.RSSBefore, s.RSSAfter, s.RSSPeak = before.RSS, after.RSS, after.PeakRSS
	return nil
}

// stopInto ends a child and adds what went wrong to the error of the caller.
func stopInto(err *error, c *process.Child) {
	*err = errors.Join(*err, c.Stop())
}

// Round is what one target did in one round.
type Round struct {
	Calls      int           `json:"calls"`
	Rate       float64       `json:"calls_per_second"`
	P50        time.Duration `json:"p50_ns"`
	P99        time.Duration `json:"p99_ns"`
	CPUPerCall float64       `json:"server_us_per_call"` // = milliseconds of processor time for 1,000 calls
	RSS        int64         `json:"rss_bytes"`
}

// drive keeps that many connections busy with one call after the other, for that long.
func drive(ctx context.Context, t *target, connections int, d time.Duration) (Round, error) {
	calls := make([]*call, connections)
	for i := range calls {
		c, err := t.newCall(i)
		if err != nil {
			return Round{}, fmt.Errorf("%s: %w", t.name, err)
		}
		defer c.conn.Close()
		if err := c.do(); err != nil { // the first call opens the way to the upstream; it isn't counted
			return Round{}, fmt.Errorf("%s: %w", t.name, err)
		}
		calls[i] = c
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	latencies := make([][]time.Duration, connections)
	failures := make([]error, connections)
	before, err := t.child.Usage()
	if err != nil {
		return Round{}, fmt.Errorf("%s: %w; its last words:\n%s", t.name, err, t.child.Log())
	}
	start := time.Now()
	var running sync.WaitGroup
	for i, c := range calls {
		running.Go(func() {
			for ctx.Err() == nil {
				began := time.Now()
				if err := c.do(); err != nil {
					failures[i] = err
					cancel()
					return
				}
				latencies[i] = append(latencies[i], time.Since(began))
			}
		})
	}
	running.Wait()
	took := time.Since(start)
	if err := errors.Join(failures...); err != nil {
		return Round{}, fmt.Errorf("%s: %w; its last words:\n%s", t.name, err, t.child.Log())
	}
	after, err := t.child.Usage()
	if err != nil {
		return Round{}, fmt.Errorf("%s: %w", t.name, err)
	}
	all := slices.Concat(latencies...)
	if len(all) == 0 {
		return Round{}, fmt.Errorf("%s: no call ended within %v", t.name, d)
	}
	slices.Sort(all)
	return Round{
		Calls:      len(all),
		Rate:       float64(len(all)) / took.Seconds(),
		P50:        all[len(all)/2],
		P99:        all[len(all)*99/100],
		CPUPerCall: float64((after.CPU() - before.CPU()).Microseconds()) / float64(len(all)),
		RSS:        after.RSS,
	}, nil
}

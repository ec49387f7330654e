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
)

// options are the flags.
type options struct {
	program string
	nginx   string
	rps     int
	calls   int
}

func main() {
	var o options
	flag.StringVar(&o.program, "gateway", "bin/drawbridge", "the gateway's program")
	flag.StringVar(&o.nginx, "nginx", "nginx", "nginx's program")
	flag.IntVar(&o.rps, "rps", 500, "calls a second")
	flag.IntVar(&o.calls, "calls", 10_000, "calls during the restarts, at least")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "failover:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (err error) {
	c, err := newCluster(ctx, o)
	defer func() { err = errors.Join(err, c.close()) }()
	if err != nil {
		return err
	}
	table := figures.NewTable(os.Stdout)
	for _, measure := range []func(context.Context) ([]figures.Figure, error){c.restartDuringOutage, c.startWithoutKeys, c.fillDisk} {
		measured, err := measure(ctx)
		table.Add(measured...)
		if err != nil {
			return err
		}
	}
	return table.Err()
}

// restartDuringOutage restarts one gateway after the other while the identity provider takes requests and does not answer.
func (c *cluster) restartDuringOutage(ctx context.Context) ([]figures.Figure, error) {
	c.outage(true)
	defer c.outage(false)
	l := c.load(ctx)
	began := time.Now()
	var slowest time.Duration
	for i := range c.replicas {
		if err := c.replicas[i].restart(ctx, c, true); err != nil {
			l.stop()
			return nil, err
		}
		slowest = max(slowest, c.replicas[i].started)
	}
	restarted := time.Since(began)
	for l.count() < c.calls && openload.Pause(ctx, 10*time.Millisecond) {
	}
	failed, made, why := l.stop().failures(began)
	return []figures.Figure{
		figures.New("restarts while the identity provider hangs: failed calls", fmt.Sprintf("0 of %d", c.calls), fmt.Sprintf("%d of %d%s", failed, made, why), failed == 0 && made >= c.calls),
		figures.New("restarts while the identity provider hangs: ready with keys", "", fmt.Sprintf("at most %s after the start, both in %s", round(slowest), round(restarted)), true),
	}, nil
}

// startWithoutKeys starts a gateway without server.state_dir while the identity provider is down.
func (c *cluster) startWithoutKeys(ctx context.Context) ([]figures.Figure, error) {
	c.outage(true)
	l := c.load(ctx)
	began := time.Now()
	err := c.replicas[1].restart(ctx, c, false)
	if err != nil {
		l.stop()
		return nil, err
	}
	openload.Pause(ctx, 3*time.Second)
	status, text := c.replicas[1].readiness(ctx)
	c.outage(false)
	recovering := time.Now()
	ready := c.replicas[1].await(ctx, 20*time.Second)
	took := time.Since(recovering)
	failed, made, why := l.stop().failures(began)
	return []figures.Figure{
		figures.New("a start without keys: readiness", "503", fmt.Sprintf("%d %.60s", status, text), status == 503),
		figures.New("a start without keys: failed calls", "0", fmt.Sprintf("%d of %d%s", failed, made, why), failed == 0 && made > 0),
		figures.New("a start without keys: ready after the outage", "<= 15 s", round(took).String(), ready == nil && took <= 15*time.Second),
	}, nil
}

// fillDisk fills the disk of one gateway's audit log, and makes room again.
func (c *cluster) fillDisk(ctx context.Context) ([]figures.Figure, error) {
	r := c.replicas[0]
	l := c.load(ctx)
	openload.Pause(ctx, time.Second)
	began := time.Now()
	if err := r.disk.Fill(); err != nil {
		l.stop()
		return nil, err
	}
	unready := r.awaitStatus(ctx, 503, 5*time.Second)
	noticed := time.Since(began)
	openload.Pause(ctx, 6*time.Second)
	status, text := r.readiness(ctx)
	if err := r.disk.Free(); err != nil {
		l.stop()
		return nil, err
	}
	freed := time.Now()
	ready := r.await(ctx, 10*time.Second)
	back := time.Since(freed)
	openload.Pause(ctx, 2*time.Second)
	calls := l.stop()
	first, _, whyFirst := calls.between(began, began.Add(time.Second))
	failed, made, why := calls.failures(began.Add(time.Second))
	if err := c.replicas[0].child.Stop(); err != nil { // writes what is pending
		return nil, err
	}
	lines, err := r.disk.Lines()
	if err != nil {
		return nil, err
	}
	sent := c.sentBy(0)
	return []figures.Figure{
		figures.New("audit disk of one gateway full ("+r.disk.Kind+"): readiness", "503", fmt.Sprintf("%d %.60s", status, text), unready == nil && status == 503),
		figures.New("audit disk of one gateway full: not ready after", "<= 5 s", round(noticed).String(), noticed <= 5*time.Second),
		figures.New("audit disk of one gateway full: failed calls in the first second", "", fmt.Sprintf("%d%s", first, whyFirst), true),
		figures.New("audit disk of one gateway full: failed calls after it", "0", fmt.Sprintf("%d of %d%s", failed, made, why), failed == 0 && made > 0),
		figures.New("audit disk with room again: ready after", "<= 5 s", round(back).String(), ready == nil && back <= 5*time.Second),
		figures.New("audit records of calls that were made", "each", fmt.Sprintf("%d of %d", lines, sent), lines == sent && sent > 0),
	}, nil
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Millisecond) }

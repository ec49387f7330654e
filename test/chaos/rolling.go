package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"drawbridge/test/openload"
	"drawbridge/test/process"
	"drawbridge/test/wire"
)

var rolling = figure{
	number: 2, name: "rolling restarts",
	conditions: [3]string{
		"3 replicas, 2 restarts of one behind HAProxy and 2 behind nginx (there with a connection for each call), 100 calls/s of 20 to 60 ms, open loop",
		"3 replicas, 20 restarts of one behind HAProxy and 20 behind nginx (there with a connection for each call), 500 calls/s of 20 to 60 ms, open loop",
		"3 replicas, 20 rolling restarts (60 of one) behind HAProxy and 20 behind nginx (there with a connection for each call), 500 calls/s of 20 to 60 ms, open loop, at least 300,000 calls each",
	},
	run: runRolling,
}

// balancer is a proxy before the replicas. out and in do what an operator does before a replica ends and after it is ready again.
type balancer interface {
	out(ctx context.Context, replica int) error
	in(ctx context.Context, replica int) error
	stop() error
}

// runRolling replaces one replica after the other while calls go on through a proxy. Each call has to be answered, with the
// answer to it.
func runRolling(ctx context.Context, s *suite) (rows []row, err error) {
	upstream, err := newService(func(w http.ResponseWriter, r *http.Request) {
		id := r.URL.Path[len("/things/"):]
		time.Sleep(20*time.Millisecond + time.Duration(len(id)*7+int(id[len(id)-1]))*997*time.Microsecond%(40*time.Millisecond))
		answerJSON(w, `{"id":"`+id+`"}`)
	})
	if err != nil {
		return nil, err
	}
	defer upstream.close()
	for _, front := range []struct {
		name  string
		start func(ctx context.Context, s *suite, front string, replicas []*gateway) (balancer, error)
		delay time.Duration
	}{
		{"HAProxy", startHAProxy, 2 * time.Second}, // it looks every second, and needs one look
		{"nginx", startNginx, 0},                   // it has been told before
	} {
		more, err := s.roll(ctx, upstream, front.name, front.start, front.delay)
		var absent *notRun
		if errors.As(err, &absent) {
			rows = append(rows, row{what: front.name, measured: err.Error(), verdict: notMeasured})
			continue
		}
		if err != nil {
			return rows, fmt.Errorf("%s: %w", front.name, err)
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

func (s *suite) roll(ctx context.Context, upstream *service, name string, start func(context.Context, *suite, string, []*gateway) (balancer, error), delay time.Duration) (rows []row, err error) {
	front, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	// What deploy/ has, with less time to wait.
	serve := func(addresses []string) (*gateway, error) {
		return s.serveThings(ctx, upstream.host, "", setup{
			addresses: addresses,
			server:    fmt.Sprintf(`, public_url: "http://%s", trusted_proxies: [127.0.0.1], seal_keys: ["${KEY:-the-same-key-for-all-of-the-replicas}"], shutdown_delay: %s, drain_timeout: 10s`, front, delay),
			more:      "auth: {anonymous: true}\n",
		})
	}
	replicas := make([]*gateway, 3)
	defer func() {
		for _, g := range replicas {
			if g != nil {
				g.stopInto(&err)
			}
		}
	}()
	for i := range replicas {
		if replicas[i], err = serve(nil); err != nil {
			return nil, err
		}
	}
	b, err := start(ctx, s, front, replicas)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.stop()) }()

	const workers = 100
	callers := make([]*caller, workers)
	for i := range callers {
		revision := []string{wire.Modern, "2025-11-25"}[i%2]
		c := &caller{client: &wire.Client{Host: front, Revision: revision}, from: net.IPv4(127, 0, 3, byte(1+i))}
		if err := c.client.Connect(); err != nil {
			return nil, err
		}
		if name == "nginx" {
			// A reload makes nginx close the connections of its clients that rest, perhaps as the next request is on its way. That
			// is not what is measured here.
			c.client.Header = "Connection: close\r\n"
		}
		callers[i] = c
	}
	defer func() {
		for _, c := range callers {
			c.close()
		}
	}()
	rate := by(s, [3]int{100, 500, 500})
	l := openLoad(ctx, rate, workers, func(worker, n int) error {
		text, err := callers[worker].call("get_thing", n, fmt.Sprintf(`{"id":"%d"}`, n))
		if want := fmt.Sprintf(`{"id":"%d"}`, n); err == nil && text != want {
			return fmt.Errorf("call %d got the answer %.100q", n, text)
		}
		return err
	})
	steady := time.Now().Add(time.Second) // after that all is warm
	calm := by(s, [3]time.Duration{time.Second, 6 * time.Second, 30 * time.Second})
	openload.Pause(ctx, time.Second+calm)
	began := time.Now()
	restarts := by(s, [3]int{2, 20, 60})
	err = func() error {
		for n := range restarts {
			i := n % len(replicas)
			old := replicas[i]
			if err := b.out(ctx, i); err != nil {
				return err
			}
			if err := old.child.Stop(); err != nil {
				return err
			}
			if replicas[i], err = serve([]string{old.host, old.admin}); err != nil {
				replicas[i] = nil
				return err
			}
			if err := b.in(ctx, i); err != nil {
				return err
			}
			if s.size == full { // so that all of them are 300,000 calls
				if rest := time.Duration(n+1)*10*time.Second - time.Since(began); rest > 0 {
					openload.Pause(ctx, rest)
				}
			}
		}
		return nil
	}()
	ended := time.Now()
	t := l.stop()
	if err != nil {
		return nil, err
	}
	return rolled(s, name, t, restarts, steady, began, ended), nil
}

// rolled judges the calls that were made while replicas were restarted, between two moments, and those from when all was warm until then.
func rolled(s *suite, name string, t *tally, restarts int, steady, began, ended time.Time) []row {
	before, meanwhile := quantile(t.within(steady, began), 0.99), quantile(t.within(began, ended), 0.99)
	made := pace(s, name+", calls made of those that were due", t)
	if s.size == full { // as the conditions say
		made.goal += ", 300,000 at least"
		made.verdict = verdictOf(made.verdict == ok && t.made >= 300_000)
	}
	return []row{
		{name + ", failed calls", "0", fmt.Sprintf("%d of %d, %d restarts in %s%s", t.failed, t.made, restarts, round(ended.Sub(began)), orNothing("; ", t.failures())), verdictOf(t.failed == 0 && t.made > 0)},
		made,
		{name + ", p99", "<= 2 × steady", fmt.Sprintf("%s (%s steady)", round(meanwhile), round(before)), s.timed(meanwhile <= 2*before)},
	}
}

// replaced puts other values into an example of deploy/, each of which it must have once.
func replaced(example string, values map[string]string) (string, error) {
	for was, is := range values {
		if strings.Count(example, was) != 1 {
			return "", fmt.Errorf("the example has no, or more than one, %q", was)
		}
		example = strings.Replace(example, was, is, 1)
	}
	return example, nil
}

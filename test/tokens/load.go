package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"drawbridge/test/figures"
	"drawbridge/test/openload"
	"drawbridge/test/wire"
)

// workers is how many calls may be under way at once.
const workers = 32

// load is calls with a good token at a fixed rate.
type load struct {
	rps     int
	token   atomic.Pointer[string] // which may be exchanged while it runs
	paced   *openload.Load
	callers [workers]caller

	mu     sync.Mutex
	counts outcomes
	marks  []mark
}

// mark is one call: when it was due, and how long from then on it took.
type mark struct {
	due  time.Time
	took time.Duration
}

// startLoad begins to call with a token.
func (w *world) startLoad(ctx context.Context) (*load, error) {
	l := &load{rps: w.rps, counts: outcomes{}}
	if err := l.renew(w); err != nil {
		return nil, err
	}
	l.paced = openload.Start(ctx, w.rps, workers, func(worker, _ int, due time.Time) {
		outcome := l.callers[worker].call(w.host, *l.token.Load())
		took := time.Since(due)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.counts[outcome]++
		l.marks = append(l.marks, mark{due, took})
	})
	return l, nil
}

// renew takes a token that is signed with the newest key.
func (l *load) renew(w *world) error {
	token, err := w.issue()
	if err != nil {
		return err
	}
	l.token.Store(&token)
	return nil
}

// stop ends the load, and tells of a part whether as many calls were made as there should have been, and whether all went well.
func (l *load) stop(part, what string) []figures.Figure {
	due := l.paced.Stop()
	for i := range l.callers {
		l.callers[i].hangUp()
	}
	failed, words := l.counts.besides("ok")
	return []figures.Figure{
		made(part+": calls made of those that were due", l.rps, l.counts.all(), due),
		figures.New(part+": "+what, "0", fmt.Sprintf("%d of %d%s", failed, l.counts.all(), words), failed == 0 && l.counts["ok"] > 0),
	}
}

// quantile of the calls that were due between two moments, when the load has stopped.
func (l *load) quantile(from, to time.Time, q float64) time.Duration {
	var times []time.Duration
	for _, m := range l.marks {
		if !m.due.Before(from) && m.due.Before(to) {
			times = append(times, m.took)
		}
	}
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[min(len(times)-1, int(float64(len(times))*q))]
}

// made tells whether as many calls were made as there should have been.
func made(name string, rate, calls, due int) figures.Figure {
	return figures.New(name, fmt.Sprintf(">= 95 %% of %d a second", rate), fmt.Sprintf("%.0f %% (%d of %d)", 100*float64(calls)/float64(max(1, due)), calls, due),
		calls > 0 && float64(calls) >= 0.95*float64(due))
}

// outcomes counts calls by what came of them.
type outcomes map[string]int

func (o outcomes) all() (n int) {
	for _, count := range o {
		n += count
	}
	return n
}

// besides counts what came to something else than these, and names it.
func (o outcomes) besides(expected ...string) (n int, words string) {
	for _, outcome := range o.names() {
		if !slices.Contains(expected, outcome) {
			n += o[outcome]
			words += fmt.Sprintf(" %s: %d", outcome, o[outcome])
		}
	}
	return n, words
}

func (o outcomes) names() (names []string) {
	for outcome := range o {
		names = append(names, outcome)
	}
	slices.Sort(names)
	return names
}

// caller makes one call after the other on a connection of its own.
type caller struct{ conn *wire.Conn }

// call calls the tool and returns "ok", or the status and, with Retry-After, "+retry". A token may be absent.
func (c *caller) call(host, token string) string {
	if c.conn == nil {
		conn, err := wire.Dial(host)
		if err != nil {
			return "no connection"
		}
		c.conn = conn
	}
	client := &wire.Client{Host: host, Revision: wire.Modern, Token: token}
	a, err := c.conn.Exchange([]byte(client.Call("look", "1", "{}")))
	if err != nil || a.Closing {
		c.hangUp()
	}
	return outcomeOf(a, err)
}

func outcomeOf(a wire.Answer, err error) string {
	switch body := string(a.Body); {
	case err != nil:
		return "no answer"
	case a.Status == 200 && strings.Contains(body, `{\"done\":true}`) && !strings.Contains(body, `"isError":true`):
		return "ok"
	case a.RetryAfter != "":
		return fmt.Sprintf("%d+retry", a.Status)
	}
	return fmt.Sprint(a.Status)
}

func (c *caller) hangUp() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

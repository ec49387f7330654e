package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"drawbridge/test/openload"
	"drawbridge/test/process"
	"drawbridge/test/wire"
)

var overload = figure{
	number: 12, name: "five times as many calls as there is room for",
	conditions: [3]string{
		scaled: "a service that takes 40 calls at a time, 200 ms and 64 KiB each, and max_in_flight: 40; 5 × its capacity for 15 s with GOMEMLIMIT=230MiB; then 100 callers of 4 MiB at once for 4 s; then 150 callers who send 900 KiB to a service that takes 2 s, for 6 s with GOMEMLIMIT=217MiB",
		full:   "a service that takes 40 calls at a time, 200 ms and 64 KiB each, and max_in_flight: 40; 5 × its capacity for 5 min with GOMEMLIMIT=230MiB; then 100 callers of 4 MiB at once for 5 min; then 150 callers who send 900 KiB to a service that takes 2 s, for 1 min with GOMEMLIMIT=217MiB",
	},
	run: func(ctx context.Context, s *suite) ([]row, error) {
		rows, err := runOverload(ctx, s)
		if err != nil {
			return nil, err
		}
		for _, run := range []func(context.Context, *suite) ([]row, error){runLarge, runShed} {
			more, err := run(ctx, s)
			if rows = append(rows, more...); err != nil {
				return rows, err
			}
		}
		return rows, nil
	},
}

// runOverload finds out how many calls a second a service can take, has five times as many come, and then few again.
func runOverload(ctx context.Context, s *suite) (rows []row, err error) {
	const slots, takes = 40, 200 * time.Millisecond
	body := `{"id":"a","rows":["` + strings.Repeat("x", 64<<10) + `"]}`
	var most, running atomic.Int64
	slot := make(chan struct{}, slots)
	upstream, err := newService(func(w http.ResponseWriter, r *http.Request) {
		now := running.Add(1)
		for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
		}
		defer running.Add(-1)
		select {
		case slot <- struct{}{}:
		case <-r.Context().Done():
			return
		}
		time.Sleep(takes)
		<-slot
		answerJSON(w, body)
	})
	if err != nil {
		return nil, err
	}
	defer upstream.close()
	g, err := s.serveThings(ctx, upstream.host, fmt.Sprintf(", max_in_flight: %d, max_queued: %d", slots, 2*slots), setup{
		environment: []string{"GOMEMLIMIT=230MiB"},
	})
	if err != nil {
		return nil, err
	}
	defer g.stopInto(&err)
	const crowd = 1500
	callers := make([]*caller, crowd+slots)
	for i := range callers {
		callers[i] = &caller{client: &wire.Client{Host: g.host, Revision: wire.Modern}, from: net.IPv4(127, 0, 6, byte(1+i%250))}
	}
	defer func() {
		for _, c := range callers {
			c.close()
		}
	}()
	calls := func(callers []*caller) func(worker, n int) error {
		return func(worker, n int) error {
			text, err := callers[worker].call("get_thing", n, `{"id":"a"}`)
			if err == nil && text != body {
				return errors.New("a call got another answer")
			}
			return invited(text, err)
		}
	}
	many, few := calls(callers[:crowd]), calls(callers[crowd:]) // both at once, for as long as the last of many take
	closedLoad(ctx, slots, slots, many).wait()                  // all is warm
	length := by(s, [3]time.Duration{0, 15 * time.Second, 5 * time.Minute})
	const aloneFor = 5 * time.Second
	l := closedLoad(ctx, slots, 0, many)
	openload.Pause(ctx, aloneFor)
	alone := l.stop()
	// Straight to the service, so that the gateway is not measured against itself.
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: slots}}
	defer client.CloseIdleConnections()
	l = closedLoad(ctx, slots, 0, func(int, int) error {
		text, err := straight(ctx, client, upstream.host)
		if err == nil && text != body {
			err = errors.New("the service itself gave another answer")
		}
		return err
	})
	openload.Pause(ctx, aloneFor)
	itself := l.stop()
	if len(alone.times) == 0 || itself.failed > 0 || len(itself.times) == 0 {
		return nil, fmt.Errorf("before the overload %d of %d calls went well, and %d of %d straight to the service: %s", len(alone.times), alone.made, len(itself.times), itself.made, alone.failures()+itself.failures())
	}
	capacity := itself.capacity(slots)
	most.Store(0)
	if err := process.ClearPeak(g.child.PID()); err != nil {
		return nil, err
	}
	before, err := g.child.Usage()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	l = openLoad(ctx, int(5*capacity), crowd, many)
	openload.Pause(ctx, length)
	l.cancel()
	ended := time.Now()
	usage, usageErr := g.child.Usage()
	calm := openLoad(ctx, max(1, int(capacity/4)), slots, few)
	t := l.wait()
	openload.Pause(ctx, time.Until(ended.Add(4*time.Second)))
	after := calm.stop()
	if err := errors.Join(usageErr, ctx.Err()); err != nil {
		return nil, err
	}
	return (&overloaded{
		slots: slots, capacity: capacity, alone: alone, during: t, after: after, began: began, ended: ended,
		most: most.Load(), cpu: usage.CPU() - before.CPU(), rss: float64(usage.PeakRSS) / (1 << 20),
	}).rows(s), nil
}

// overloaded is what was seen of an overload.
type overloaded struct {
	slots                int64   // how many calls the service takes at a time
	capacity             float64 // how many it takes a second
	alone, during, after *tally
	began, ended         time.Time
	most                 int64 // calls at the service at once
	cpu                  time.Duration
	rss                  float64 // MiB
}

func (o *overloaded) rows(s *suite) []row {
	took := o.ended.Sub(o.began).Seconds()
	// It has recovered when calls take no longer than twice what they took alone, for good.
	recovered, well := o.after.recovered(o.ended, 2*o.alone.quantile(0.5))
	goodput := float64(o.during.answered(o.ended)) / took
	told, unlike := o.during.words[errInvited.Error()], ""
	if told < o.during.failed {
		unlike = "; " + o.during.failures()
	}
	return []row{
		{"good answers", ">= 95 % of capacity", fmt.Sprintf("%.0f %% (%.0f of %.0f a second, %.0f offered)", 100*goodput/o.capacity, goodput, o.capacity, float64(o.during.made)/took), s.timed(goodput >= 0.95*o.capacity)},
		pace(s, "calls made of those that were due", o.during, o.after),
		{"processor time of the gateway", "", fmt.Sprintf("%.0f %% of a core", 100*o.cpu.Seconds()/took), shown},
		{"refused in words", "all others", fmt.Sprintf("%d of %d%s", told, o.during.failed, unlike), verdictOf(told == o.during.failed && told > 0)},
		{"calls at the service at once", fmt.Sprintf("<= %d", o.slots), fmt.Sprint(o.most), verdictOf(o.most <= o.slots)},
		{"resident memory at most", "<= 256 MiB", fmt.Sprintf("%.0f MiB", o.rss), verdictOf(o.rss <= 256)},
		{"as before again after", "< 2 s", fmt.Sprintf("%s, %d of %d calls failed", round(recovered), o.after.failed, o.after.made), recovery(s, recovered, well)},
	}
}

// recovery is the verdict on a gateway that was as before after that time. That it never was is no matter of how busy the machine is.
func recovery(s *suite, after time.Duration, well bool) verdict {
	if !well {
		return missed
	}
	return s.timed(after < 2*time.Second)
}

// errInvited is the error of a call that was told when to come again.
var errInvited = errors.New("told to come again")

// invited is errInvited for a call that was told so, by a status or in the text of its result; any other error stays as it is.
func invited(text string, err error) error {
	var r *refusal
	switch {
	case errors.As(err, &r) && r.after != "", errors.Is(err, errTool) && comeAgain.MatchString(text):
		return errInvited
	case errors.Is(err, errTool):
		return fmt.Errorf("%w: %.100s", err, text)
	}
	return err
}

var comeAgain = regexp.MustCompile(`Try again in \d+ seconds?\.`)

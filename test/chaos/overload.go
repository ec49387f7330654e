package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"drawbridge/test/process"
	"drawbridge/test/wire"
)

var overload = figure{
	number: 12, name: "five times as many calls as there is room for",
	conditions: [3]string{
		scaled: "a service that takes 40 calls at a time, 200 ms and 64 KiB each, and max_in_flight: 40; 5 × its capacity for 15 s with GOMEMLIMIT=230MiB",
		full:   "a service that takes 40 calls at a time, 200 ms and 64 KiB each, and max_in_flight: 40; 5 × its capacity for 5 min with GOMEMLIMIT=230MiB",
	},
	run: runOverload,
}

// runOverload finds out how many calls a second a service can take, has five times as many come, and then few again.
func runOverload(ctx context.Context, s *suite) (rows []row, err error) {
	const slots, takes = 40, 200 * time.Millisecond
	body := `{"id":"a","rows":["` + strings.Repeat("x", 64<<10) + `"]}`
	var most, running atomic.Int64
	slot := make(chan struct{}, slots)
	upstream, err := newService(func(w http.ResponseWriter, r *http.Request) {
		most.Store(max(most.Load(), running.Add(1)))
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
	callers := make([]*caller, crowd)
	for i := range callers {
		callers[i] = &caller{client: &wire.Client{Host: g.host, Revision: wire.Modern}, from: net.IPv4(127, 0, 6, byte(1+i%250))}
	}
	defer func() {
		for _, c := range callers {
			c.close()
		}
	}()
	var mu sync.Mutex
	refusals := map[string]int{}
	call := func(worker, n int) error {
		text, err := callers[worker].call("get_thing", n, `{"id":"a"}`)
		var r *refusal
		switch {
		case err == nil && text != body:
			return errors.New("a call got another answer")
		case err == nil:
			return nil
		case errors.Is(err, errTool) || errors.As(err, &r) && r.after != "":
			mu.Lock()
			defer mu.Unlock()
			refusals[fmt.Sprintf("%.60s", fmt.Sprint(err))]++ // it was told to come again
			return errTool
		}
		return err
	}
	for _, c := range callers[:slots] { // all is warm
		_, _ = c.call("get_thing", 1, `{"id":"a"}`)
	}
	length := by(s, [3]time.Duration{0, 15 * time.Second, 5 * time.Minute})
	measured := func(l *load, d time.Duration) *tally {
		pause(ctx, d)
		return l.stop()
	}
	alone := measured(closedLoad(ctx, slots, 0, call), 5*time.Second)
	capacity := float64(len(alone.times)) / 5
	if err := process.ClearPeak(g.child.PID()); err != nil {
		return nil, err
	}
	before, err := g.child.Usage()
	if err != nil {
		return nil, err
	}
	clear(refusals)
	began := time.Now()
	t := measured(openLoad(ctx, int(5*capacity), crowd, call), length)
	took := time.Since(began).Seconds()
	usage, err := g.child.Usage()
	if err != nil {
		return nil, err
	}
	ended := time.Now()
	after := measured(openLoad(ctx, max(1, int(capacity/4)), slots, call), 4*time.Second)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	// It has recovered when calls take no longer than twice what they took alone, for good.
	recovered := time.Duration(0)
	for _, m := range after.marks {
		if m.took > 2*alone.quantile(0.5) {
			recovered = max(recovered, m.due.Sub(ended))
		}
	}
	goodput := float64(len(t.times)) / took
	told := 0
	for _, n := range refusals {
		told += n
	}
	rss := float64(usage.PeakRSS) / (1 << 20)
	return []row{
		{"good answers", ">= 95 % of capacity", fmt.Sprintf("%.0f %% (%.0f of %.0f a second, %.0f offered)", 100*goodput/capacity, goodput, capacity, float64(t.made)/took), s.timed(goodput >= 0.95*capacity)},
		{"processor time of the gateway", "", fmt.Sprintf("%.0f %% of a core", 100*(usage.CPU()-before.CPU()).Seconds()/took), shown},
		{"refused in words", "all others", fmt.Sprintf("%d of %d", told-after.failed, t.failed), verdictOf(told-after.failed == t.failed)},
		{"calls at the service at once", fmt.Sprintf("<= %d", slots), fmt.Sprint(most.Load()), verdictOf(most.Load() <= slots)},
		{"resident memory at most", "<= 256 MiB", fmt.Sprintf("%.0f MiB", rss), verdictOf(rss <= 256)},
		{"as before again after", "< 2 s", fmt.Sprintf("%s, %d of %d calls failed", round(recovered), after.failed, after.made), s.timed(recovered < 2*time.Second)},
	}, nil
}

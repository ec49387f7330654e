package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"drawbridge/test/figures"
	"drawbridge/test/process"
)

// rounds is how many changes many streams are told of; the one in the middle counts.
const rounds = 5

// many opens many streams, and looks at what they cost, how soon all of them know of a change, and how they end when the gateway
// does.
func (w *world) many(ctx context.Context, protocol string, open opener) ([]figures.Figure, error) {
	warm, err := listen(ctx, w.host, 1, open)
	if err != nil {
		return nil, err
	}
	defer warm.close()
	before, err := w.memory(ctx)
	if err != nil {
		return nil, err
	}
	l, err := listen(ctx, w.host, w.streams, open)
	if err != nil {
		return nil, err
	}
	defer l.close()
	idle, err := w.memory(ctx)
	if err != nil {
		return nil, err
	}
	var times []time.Duration
	for n := range rounds {
		start := time.Now()
		if err := w.change(ctx); err != nil {
			return nil, err
		}
		if err := l.await(ctx, n+1); err != nil {
			return nil, err
		}
		times = append(times, time.Since(start))
	}
	after, err := w.memory(ctx)
	if err != nil {
		return nil, err
	}
	each := func(now, then float64) float64 { return (now - then) / float64(w.streams) / (1 << 10) }
	start := time.Now()
	if err := w.gateway.Stop(); err != nil {
		return nil, err
	}
	drained := time.Since(start)
	cut := l.cut()
	name := fmt.Sprintf("%s, %d streams: ", protocol, w.streams)
	live := max(each(idle.live, before.live), each(after.live, before.live))
	return []figures.Figure{
		figures.New(name+"heap and stacks of each", "<= 25 KiB", fmt.Sprintf("%.1f KiB", live), live <= 25),
		// How much of what is garbage is resident is for the collector, and for those who set its pace.
		figures.New(name+"resident memory of each", "", fmt.Sprintf("%.1f KiB", each(idle.resident, before.resident)), true),
		known(name, times, l.uneven(rounds)),
		figures.New(name+"cut at the end", "0", fmt.Sprintf("%d, in %s", cut, drained.Round(time.Millisecond)), cut == 0),
	}, nil
}

// known judges how soon all streams knew of a change. It was waited for as many notifications as there should be in all, so that the times hold only if
// each stream had its own.
func known(name string, times []time.Duration, uneven int) figures.Figure {
	slices.Sort(times)
	middle := times[len(times)/2]
	measured := fmt.Sprintf("%s (%s to %s)", middle.Round(time.Millisecond), times[0].Round(time.Millisecond), times[len(times)-1].Round(time.Millisecond))
	if uneven > 0 {
		measured += fmt.Sprintf(", %d streams were not told of each once", uneven)
	}
	return figures.New(name+"all know of a change", "< 1 s", measured, middle < time.Second && uneven == 0)
}

// manyChanges changes the tools many times while calls are made, each time when all streams know of the change before, and not before it is due.
func (w *world) manyChanges(ctx context.Context) ([]figures.Figure, error) {
	warm := w.startCalls(ctx)
	err := w.collected(ctx, 2)
	warm.stop()
	if err != nil {
		return nil, err
	}
	before, err := w.resting(ctx)
	if err != nil {
		return nil, err
	}
	calls := w.startCalls(ctx)
	defer calls.stop()
	l, err := listen(ctx, w.host, w.few, dialStream)
	if err != nil {
		return nil, err
	}
	defer l.close()
	start := time.Now()
	for n := range w.reloads {
		if err := w.change(ctx); err != nil {
			return nil, err
		}
		if err := l.await(ctx, n+1); err != nil {
			return nil, err
		}
		time.Sleep(time.Until(start.Add(time.Duration(n+1) * w.every)))
	}
	took := time.Since(start)
	time.Sleep(time.Second) // for what may come twice
	uneven := l.uneven(w.reloads)
	l.close()
	called := calls.stop()
	left, err := w.left(ctx, before)
	if err != nil {
		return nil, err
	}
	return append([]figures.Figure{
		figures.New(
			fmt.Sprintf("%d changes, %d streams: not told of each once", w.reloads, w.few), "0",
			fmt.Sprintf("%d streams, in %s", uneven, took.Round(time.Second)), uneven == 0,
		),
		figures.New("goroutines left when the streams have gone", "0", fmt.Sprintf("%.0f", left), left <= 0),
	}, called...), nil
}

// resting is how many goroutines the gateway has when no call is under way, without those of connections that it keeps to the service: the median
// of a second, since gathering the metrics takes up to four goroutines itself, of which now more and now less have ended when they are counted.
func (w *world) resting(ctx context.Context) (float64, error) {
	w.service.CloseClientConnections()
	var counts []float64
	for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		values, err := process.Metrics(ctx, w.admin)
		if err != nil {
			return 0, err
		}
		counts = append(counts, values["go_goroutines"])
	}
	slices.Sort(counts)
	return counts[len(counts)/2], nil
}

// collected changes the tools until the gateway's memory was collected some times, since the runtime starts goroutines of its own then, which
// it keeps.
func (w *world) collected(ctx context.Context, times float64) error {
	for from, n := -1.0, 0; n < 200; n++ {
		if err := w.change(ctx); err != nil {
			return err
		}
		values, err := process.Metrics(ctx, w.admin)
		if err != nil {
			return err
		}
		switch now := values["go_gc_duration_seconds_count"]; {
		case from < 0:
			from = now
		case now >= from+times:
			return nil
		}
	}
	return errors.New("200 changes, and memory was not collected")
}

// left is how many goroutines and streams the gateway has more than before, as soon as it has no more, or else after a while.
func (w *world) left(ctx context.Context, before float64) (float64, error) {
	for end := time.Now().Add(10 * time.Second); ; {
		now, err := w.resting(ctx)
		if err != nil {
			return 0, err
		}
		values, err := process.Metrics(ctx, w.admin)
		if err != nil {
			return 0, err
		}
		if more := max(0, now-before) + values["drawbridge_open_streams"]; more == 0 || time.Now().After(end) {
			return more, nil
		}
	}
}

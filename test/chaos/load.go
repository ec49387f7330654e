package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"drawbridge/test/openload"
)

// tally is what came of many calls.
type tally struct {
	due          int // of an open load: how many should have been made
	made, failed int
	words        map[string]int // the first words of what failed, and how often
	times        []time.Duration
	marks        []mark
}

// mark is one call: when it was due, how long its answer took, and whether it failed.
type mark struct {
	due    time.Time
	took   time.Duration
	failed bool
}

// load is calls that go on until it is stopped.
type load struct {
	cancel context.CancelFunc // returns at once: no more calls come, and those under way go on
	paced  *openload.Load     // of an open load
	ended  sync.WaitGroup     // of a closed one

	mu sync.Mutex
	tally
}

func (l *load) note(due time.Time, err error) {
	took := time.Since(due)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.made++
	l.marks = append(l.marks, mark{due, took, err != nil})
	if err != nil {
		l.failed++
		l.words[fmt.Sprintf("%.160s", err)]++
		return
	}
	l.times = append(l.times, took)
}

// openLoad makes rate calls a second, whatever becomes of those before, with so many workers at most. The time of a call
// counts from when it was due. call gets the number of its worker and of the call.
func openLoad(ctx context.Context, rate, workers int, call func(worker, n int) error) *load {
	l := &load{tally: tally{words: map[string]int{}}}
	l.paced = openload.Start(ctx, rate, workers, func(worker, n int, due time.Time) { l.note(due, call(worker, n)) })
	l.cancel = l.paced.Cancel
	return l
}

// closedLoad makes one call after the other with each of so many workers, until it is stopped or that many are made; 0: for ever.
func closedLoad(ctx context.Context, workers, calls int, call func(worker, n int) error) *load {
	ctx, cancel := context.WithCancel(ctx)
	l := &load{cancel: cancel, tally: tally{words: map[string]int{}}}
	for worker := range workers {
		l.ended.Go(func() {
			for n := worker; ctx.Err() == nil && (calls == 0 || n < calls); n += workers {
				start := time.Now()
				l.note(start, call(worker, n))
			}
		})
	}
	return l
}

// stop ends the load when the calls that run have ended.
func (l *load) stop() *tally {
	l.cancel()
	return l.wait()
}

// wait returns when all calls of a load that ends by itself, or was cancelled, are made.
func (l *load) wait() *tally {
	if l.paced != nil {
		l.due = l.paced.Stop()
	} else {
		l.ended.Wait()
		l.cancel()
	}
	slices.Sort(l.times)
	return &l.tally
}

// add puts the counts of other calls to these, and not their times.
func (t *tally) add(others *tally) {
	t.due, t.made, t.failed = t.due+others.due, t.made+others.made, t.failed+others.failed
	if t.words == nil {
		t.words = map[string]int{}
	}
	for word, n := range others.words {
		t.words[word] += n
	}
}

// pace tells whether the calls of open loads were made, of that which made the least of them: what was measured beside fewer says little.
func pace(s *suite, what string, loads ...*tally) row {
	share := func(t *tally) float64 { return float64(t.made) / float64(max(1, t.due)) }
	least := slices.MinFunc(loads, func(a, b *tally) int { return cmp.Compare(share(a), share(b)) })
	return row{what, ">= 95 %", fmt.Sprintf("%.0f %% (%d of %d)", 100*share(least), least.made, least.due), s.timed(share(least) >= 0.95)}
}

// quantile of the calls that went well.
func (t *tally) quantile(q float64) time.Duration { return quantile(t.times, q) }

// capacity is how many calls a second went well when each of so many workers made one after the other.
func (t *tally) capacity(workers int) float64 {
	var all time.Duration
	for _, took := range t.times {
		all += took
	}
	return float64(workers*len(t.times)) / max(time.Nanosecond, all).Seconds()
}

// within are the times of the calls that were due between two moments and went well, sorted.
func (t *tally) within(from, to time.Time) []time.Duration {
	var times []time.Duration
	for _, m := range t.marks {
		if !m.failed && !m.due.Before(from) && m.due.Before(to) {
			times = append(times, m.took)
		}
	}
	slices.Sort(times)
	return times
}

// answered is how many calls had gone well at a moment.
func (t *tally) answered(at time.Time) (n int) {
	for _, m := range t.marks {
		if !m.failed && !m.due.Add(m.took).After(at) {
			n++
		}
	}
	return n
}

// recovered is how long after a moment the last call was due that failed or was slow, and whether one went well after it.
func (t *tally) recovered(since time.Time, slow time.Duration) (after time.Duration, well bool) {
	for _, m := range t.marks {
		if m.failed || m.took > slow {
			after = max(after, m.due.Sub(since))
		}
	}
	for _, m := range t.marks {
		well = well || !m.failed && m.took <= slow && m.due.Sub(since) >= after
	}
	return after, well
}

// failures tells what failed, the most frequent first.
func (t *tally) failures() string {
	type word struct {
		text string
		n    int
	}
	var all []word
	for text, n := range t.words {
		all = append(all, word{text, n})
	}
	slices.SortFunc(all, func(a, b word) int { return b.n - a.n })
	var out []string
	for _, w := range all[:min(len(all), 3)] {
		out = append(out, fmt.Sprintf("%d × %s", w.n, w.text))
	}
	return strings.Join(out, "; ")
}

// quantile of sorted times.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(float64(len(sorted))*q))]
}

// round is a time as people read it.
func round(d time.Duration) string {
	switch {
	case d > 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d > 10*time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}

// median of values, with the least and the most.
func median(values []float64) (middle, least, most float64) {
	if len(values) == 0 {
		return 0, 0, 0
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return sorted[len(sorted)/2], sorted[0], sorted[len(sorted)-1]
}

// orNothing is the text behind what leads to it, or nothing if there is none.
func orNothing(lead, text string) string {
	if text == "" {
		return ""
	}
	return lead + text
}

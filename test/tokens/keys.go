package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"drawbridge/auth/authtest"
	"drawbridge/test/figures"
)

// unknownKeys floods the gateway with tokens that name keys nobody has, while good tokens are used.
func (w *world) unknownKeys(ctx context.Context) ([]figures.Figure, error) {
	before := w.issuer.Requests(authtest.KeySet)
	l, err := w.startLoad(ctx)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	f, err := w.startFlood(ctx, unknownKeys)
	if err != nil {
		return nil, err
	}
	if err := pause(ctx, 10*time.Second-time.Since(start)); err != nil {
		return nil, err
	}
	first := w.issuer.Requests(authtest.KeySet) - before
	if err := pause(ctx, w.phase-time.Since(start)); err != nil {
		return nil, err
	}
	r, err := f.stop()
	if err != nil {
		return nil, err
	}
	all := w.issuer.Requests(authtest.KeySet) - before
	// One in ten seconds, and of the six at the start those that fell just behind the first ten.
	most := 1 + int((time.Since(start)-10*time.Second)/(10*time.Second)) + max(0, 6-first)
	rounds, err := w.byTurns(ctx)
	if err != nil {
		return nil, err
	}
	good := l.stop("random key ids", "good tokens refused")
	for i := range rounds {
		rounds[i].read(l)
	}
	return slices.Concat(judgeFlood(r, w.others), []figures.Figure{
		figures.New("random key ids: fetches in the first 10 s", "at most 6", fmt.Sprint(first), first <= 6),
		figures.New("random key ids: fetches after that", fmt.Sprintf("at most %d (1 in 10 s)", most), fmt.Sprint(all-first), all-first <= most),
	}, good, []figures.Figure{judgeBeside(rounds, w.others)}, judgeTimes(rounds, w.others, w.compare)), nil
}

// judgeFlood tells whether the flood was one, and what strangers were told: that the token is no good, or to come again.
func judgeFlood(r floodReport, rate int) []figures.Figure {
	other, words := r.Counts.besides("401", "503+retry")
	return []figures.Figure{
		made("random key ids: tokens tried of those that were due", rate, r.Counts.all(), r.Due),
		figures.New(
			"random key ids: neither 401 nor 503 with Retry-After", "0",
			fmt.Sprintf("%d of 401: %d 503+retry: %d%s", other, r.Counts["401"], r.Counts["503+retry"], words), other == 0 && r.Counts.all() > 0,
		),
	}
}

// turns is how often each kind of window comes.
const turns = 9

// kinds are the windows of a turn: without others, beside a flood of unknown keys, and to compare, which takes as long again, beside a flood that has no
// tokens, and beside one that is another program's.
const (
	calm = iota
	flooded
	refused
	elsewhere
	kinds
)

// turn is the windows of one, and then the p99 of good tokens in each.
type turn struct {
	from, to [kinds]time.Time
	p99      [kinds]time.Duration
	beside   [kinds]floodReport
}

func (t *turn) read(l *load) {
	for kind := range kinds {
		t.p99[kind] = l.quantile(t.from[kind], t.to[kind], 0.99)
	}
}

// byTurns has windows of each kind, one after the other.
func (w *world) byTurns(ctx context.Context) ([]turn, error) {
	length := min(w.phase/10, 20*time.Second)
	all := make([]turn, turns)
	for n := range all {
		for kind, others := range [kinds]string{elsewhere: bystander, refused: noToken, flooded: unknownKeys} {
			if kind > flooded && !w.compare {
				continue
			}
			var f *flood
			if others != "" {
				var err error
				if f, err = w.startFlood(ctx, others); err != nil {
					return nil, err
				}
			}
			all[n].from[kind] = time.Now()
			if err := pause(ctx, length); err != nil {
				return nil, err
			}
			all[n].to[kind] = time.Now()
			if f == nil {
				continue
			}
			r, err := f.stop()
			if err == nil {
				err = r.stood(others)
			}
			if err != nil {
				return nil, err
			}
			all[n].beside[kind] = r
		}
	}
	return all, nil
}

// stood returns an error unless each request was refused as its kind is: what has found no connection or got no answer stood beside nothing.
func (r floodReport) stood(kind string) error {
	refusals := []string{"401"}
	if kind == unknownKeys {
		refusals = append(refusals, "503+retry")
	}
	switch other, words := r.Counts.besides(refusals...); {
	case other > 0:
		return fmt.Errorf("beside good tokens %d requests of %d were not refused:%s", other, r.Counts.all(), words)
	case r.Counts.all() == 0:
		return fmt.Errorf("beside good tokens 0 requests of %d were made", r.Due)
	}
	return nil
}

// judgeBeside tells whether as many requests stood beside good tokens as there should have been, in the window where the fewest did.
func judgeBeside(all []turn, rate int) figures.Figure {
	share := func(r floodReport) float64 { return float64(r.Counts.all()) / float64(r.Due) }
	var fewest floodReport
	for _, t := range all {
		for _, r := range t.beside {
			if r.Due > 0 && (fewest.Due == 0 || share(r) < share(fewest)) {
				fewest = r
			}
		}
	}
	return made("random key ids: requests beside good tokens, in the window with the fewest", rate, fewest.Counts.all(), fewest.Due)
}

// judgeTimes holds windows beside the flood against those without, and against those beside as many requests that are refused for want of a token, by the gateway or by another
// program: what any refusal takes of the processors is not for the keys, and what any program takes of them not for the gateway.
func judgeTimes(all []turn, rate int, compare bool) []figures.Figure {
	more := func(than int) (middle, least, most float64) {
		var ratios []float64
		for _, t := range all {
			ratios = append(ratios, 100*(float64(t.p99[flooded])/float64(max(1, t.p99[than]))-1))
		}
		slices.Sort(ratios)
		return ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1]
	}
	typical := func(kind int) time.Duration {
		var times []time.Duration
		for _, t := range all {
			times = append(times, t.p99[kind])
		}
		slices.Sort(times)
		return times[len(times)/2].Round(10 * time.Microsecond)
	}
	alone, least, most := more(calm)
	judged := []figures.Figure{figures.New("random key ids: p99 of good tokens", "< +10 %",
		fmt.Sprintf("%+.0f %% (%+.0f to %+.0f), %s, then %s beside %d others a second", alone, least, most, typical(calm), typical(flooded), rate),
		alone < 10 && typical(calm) > 0 && typical(flooded) > 0)}
	if !compare {
		return judged
	}
	for _, c := range []struct {
		kind int
		name string
	}{{refused, "random key ids: against as many without a token"}, {elsewhere, "random key ids: against as many that another program refuses"}} {
		middle, least, most := more(c.kind)
		judged = append(judged, figures.New(c.name, "", fmt.Sprintf("%+.0f %% (%+.0f to %+.0f), %s beside those", middle, least, most, typical(c.kind)), true))
	}
	return judged
}

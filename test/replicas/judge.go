package main

import (
	"fmt"
	"math"
	"slices"
	"time"

	"drawbridge/test/figures"
)

// part is a phase that was run.
type part struct {
	phase
	began, ended time.Time
	noticed      time.Duration // until all gateways knew of it
}

// within are the calls that were due between two times.
func within(all []made, from, to time.Time) (some []made) {
	for _, m := range all {
		if !m.at.Before(from) && m.at.Before(to) {
			some = append(some, m)
		}
	}
	return some
}

// share is how long a share of the calls took at most.
func share(all []made, of float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	times := make([]time.Duration, len(all))
	for i, m := range all {
		times[i] = m.took
	}
	slices.Sort(times)
	return times[min(int(of*float64(len(times))), len(times)-1)]
}

// judge holds what was measured against the goals.
func (c *cluster) judge(l *load, parts []part) []figures.Figure {
	failed, words := 0, ""
	for _, m := range slices.Concat(l.plain, l.limited) {
		failed += m.failed()
		if m.failed() > 0 {
			words = ", the last: " + m.outcome
		}
	}
	all := []figures.Figure{
		figures.New("failed calls, Redis killed and stopped under load", "0", fmt.Sprintf("%d of %d%s", failed, len(l.plain)+len(l.limited), words), failed == 0),
		c.offered(l, parts),
	}
	before := within(l.plain, parts[0].began, parts[0].ended)
	last := within(before, parts[0].ended.Add(-time.Second), parts[0].ended)
	late := share(before, .99) + most
	control := tenths(before, parts[0].began.Add(time.Second), late)
	for i, p := range parts {
		calls := within(l.plain, p.began, p.ended)
		first := within(l.plain, p.began, p.began.Add(time.Second))
		slow := share(first, 1) - share(last, 1)
		f := figures.New("slowest call in the first second of: "+p.name, "+20 ms at most", fmt.Sprintf("%+.1f ms (%.1f ms)", ms(slow), ms(share(first, 1))), len(first) > 0 && len(last) > 0 && slow <= most)
		if !p.up {
			all = append(all, f)
		}
		limited := within(l.limited, p.began, p.ended)
		allowed := 0
		for _, m := range limited {
			if m.outcome == served {
				allowed++
			}
		}
		times := float64(allowed) / (float64(c.limit) * (p.ended.Sub(p.began).Seconds() + 1)) // the burst is a second of it
		all = append(all,
			figures.New("calls of a limited API: "+p.name, "0.5 × to 2.0 ×", fmt.Sprintf("%.2f × (%d of %d tried)", times, allowed, len(limited)), times >= 0.5 && times <= 2),
			figures.New("99 of 100 calls: "+p.name, "+20 ms at most", fmt.Sprintf("%.1f ms (%d calls)", ms(share(calls, .99)), len(calls)), len(calls) > 0 && share(calls, .99) <= late))
		if i > 0 {
			all = append(all, spread(p, tenths(calls, p.began.Add(time.Second), late), control))
		}
		if p.begin != nil {
			all = append(all, figures.New("until all replicas have noticed: "+p.name, "2.5 s at most", fmt.Sprintf("%.2f s", p.noticed.Seconds()), p.noticed <= 2500*time.Millisecond))
		}
	}
	return all
}

// most is how much longer a call may take than before.
const most = 20 * time.Millisecond

// tenths counts the tenths of a second after a moment in which a call was due that took longer than that.
func tenths(all []made, after time.Time, late time.Duration) int {
	seen := map[time.Duration]bool{}
	for _, m := range all {
		if since := m.at.Sub(after); since >= 0 && m.took > late {
			seen[since/(100*time.Millisecond)] = true
		}
	}
	return len(seen)
}

// spread holds the tenths of a second with a late call in a phase, behind its first second, against those of the first phase, which is as long. What waits
// for Redis time and again comes in many of them; when the machine pauses many calls are late in one or two.
func spread(p part, late, control int) figures.Figure {
	of := int((p.ended.Sub(p.began) - time.Second) / (100 * time.Millisecond))
	more := max(2, of/100)
	return figures.New("tenths of a second with a call that is 20 ms late: "+p.name, fmt.Sprintf("%d more than before at most", more),
		fmt.Sprintf("%d of %d, %d before", late, of, control), late <= control+more)
}

// failed is 1 for a call that should have come to something else. That it is refused is right where the API has a limit.
func (m made) failed() int {
	if m.outcome == served || m.limited && m.outcome == refused {
		return 0
	}
	return 1
}

// offered tells whether as many calls were made as there should have been, in the phase that had the least: what is not tried fails not, and stays
// below every limit.
func (c *cluster) offered(l *load, parts []part) figures.Figure {
	least, words := math.Inf(1), ""
	for _, p := range parts {
		seconds := p.ended.Sub(p.began).Seconds()
		for _, k := range []struct {
			of  string
			all []made
			due float64
		}{{"calls", l.plain, float64(c.rps) * seconds}, {"calls of the limited API", l.limited, float64(tries*c.limit) * seconds}} {
			made := len(within(k.all, p.began, p.ended))
			if share := float64(made) / k.due; share < least {
				least, words = share, fmt.Sprintf("%.0f %% at least (%s: %d %s)", 100*share, p.name, made, k.of)
			}
		}
	}
	return figures.New("calls made of those that were due, in each phase", ">= 95 %", words, least >= 0.95)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

package main

import (
	"fmt"
	"time"
)

// lateness is the p99 of a window, and of each of its quarters of a second.
type lateness struct {
	window   time.Duration
	quarters []time.Duration
}

// quarter is how long it is.
const quarter = time.Second / 4

// latenessOf is that of the calls of a window. A quarter without a call had none that ended: its p99 is as long as itself.
func latenessOf(t *tally, began time.Time, length time.Duration) lateness {
	l := lateness{window: t.quantile(0.99)}
	for from := began; from.Before(began.Add(length)); from = from.Add(quarter) {
		p99 := quarter
		if times := t.within(from, from.Add(quarter)); len(times) > 0 {
			p99 = quantile(times, 0.99)
		}
		l.quarters = append(l.quarters, p99)
	}
	return l
}

// compared are these without a hole and with one, in ms, by turns.
type compared struct{ well, hurt, quartersWell, quartersHurt []float64 }

func (c *compared) add(calm, meanwhile lateness) {
	ms := func(d time.Duration) float64 { return float64(max(1, d)) / 1e6 }
	c.well, c.hurt = append(c.well, ms(calm.window)), append(c.hurt, ms(meanwhile.window))
	for i, d := range calm.quarters {
		c.quartersWell, c.quartersHurt = append(c.quartersWell, ms(d)), append(c.quartersHurt, ms(meanwhile.quarters[i]))
	}
}

// row judges whole windows, in full: of fewer and shorter ones decides what the machine does within them, by several times what is allowed.
func (c *compared) row(s *suite, what string) row {
	r := worse(s, what, c.well, c.hurt)
	if s.size != full {
		r.goal, r.verdict = r.goal+" in full", shown
	}
	return r
}

// quartersRow judges quarters, of which there are enough to tell 5 % in a minute. What comes less often than in every second one is seen in whole windows only.
func (c *compared) quartersRow(s *suite, what string) row {
	return worse(s, what, c.quartersWell, c.quartersHurt)
}

// worse judges by how much times are longer.
func worse(s *suite, what string, well, hurt []float64) row {
	ratio, least, most := ratios(hurt, well)
	calm, _, _ := median(well)
	meanwhile, _, _ := median(hurt)
	return row{what, "+<= 5 %", fmt.Sprintf("%+.0f %% (%+.0f to %+.0f), %.1f ms, then %.1f ms", 100*ratio-100, 100*least-100, 100*most-100, calm, meanwhile), s.timed(ratio <= 1.05)}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"drawbridge/test/faultnet"
	"drawbridge/test/openload"
	"drawbridge/test/wire"
)

var bulkhead = figure{
	number: 11, name: "one of ten APIs is a black hole",
	conditions: [3]string{
		"100 calls/s to 9 APIs and 100 to the tenth; a window of 2 s in which it answers, and one in which no byte comes",
		"300 calls/s to 9 APIs and 300 to the tenth; 5 windows of 3 s in which it answers, by turns with 5 in which no byte comes; the same with 64 callers of the nine that call as fast as they can",
		"300 calls/s to 9 APIs and 300 to the tenth; 30 windows of 10 s in which it answers, by turns with 30 in which no byte comes; the same with 64 callers of the nine that call as fast as they can",
	},
	run: runBulkhead,
}

// runBulkhead measures calls of nine APIs while the tenth gets as many calls as all of them, and is at times a hole. Room,
// queue and breaker are as they are by default.
func runBulkhead(ctx context.Context, s *suite) (rows []row, err error) {
	upstream, err := newService(func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(5 * time.Millisecond)
		answerJSON(w, `{"ok":true}`)
	})
	if err != nil {
		return nil, err
	}
	defer upstream.close()
	tenth, err := newService(upstream.server.Handler.ServeHTTP)
	if err != nil {
		return nil, err
	}
	defer tenth.close()
	var hole atomic.Bool
	var fallen atomic.Int64 // connections that went into it
	relay, err := faultnet.Listen(tenth.host, s.seed, func(int, *rand.Rand) faultnet.Script {
		if hole.Load() {
			fallen.Add(1)
			return faultnet.Script{Greeting: faultnet.BlackHole}
		}
		return faultnet.Script{}
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, relay.Close()) }()
	spec, err := s.write("things.json", things)
	if err != nil {
		return nil, err
	}
	apis := ""
	for n := range 9 {
		apis += fmt.Sprintf("{spec: %q, name: api%d, base_url: %q}, ", spec, n, "http://"+upstream.host)
	}
	apis += fmt.Sprintf("{spec: %q, name: api9, base_url: %q, timeout: 2s}", spec, "http://"+relay.Addr())
	g, err := s.serve(ctx, setup{apis: "[" + apis + "]"})
	if err != nil {
		return nil, err
	}
	defer g.stopInto(&err)

	rate := by(s, [3]int{100, 300, 300})
	length := by(s, [3]time.Duration{2 * time.Second, 3 * time.Second, 10 * time.Second})
	var all []*caller
	defer func() {
		for _, c := range all {
			c.close()
		}
	}()
	crew := func(workers int, address byte) []*caller {
		callers := make([]*caller, workers)
		for i := range callers {
			callers[i] = &caller{client: &wire.Client{Host: g.host, Revision: wire.Modern}, from: net.IPv4(127, 0, address, byte(1+i%250))}
		}
		all = append(all, callers...)
		return callers
	}
	others, toTenth := crew(64, 4), crew(800, 5)
	toNine := func(worker, n int) error {
		text, err := others[worker].call(fmt.Sprintf("api%d_get_thing", n%9), n, `{"id":"a"}`)
		if err != nil {
			return fmt.Errorf("%w: %.100s", err, text)
		}
		return nil
	}
	window := func(start func() *load) (nine, ten *tally) {
		first := openLoad(ctx, rate, len(toTenth), func(worker, n int) error {
			_, err := toTenth[worker].call("api9_get_thing", n, `{"id":"a"}`)
			return err
		})
		second := start()
		openload.Pause(ctx, length)
		return second.stop(), first.stop()
	}
	var without, with *sides
	// dig makes the tenth a hole or fills it in, unless it is so already.
	dig := func(deep bool) error {
		if hole.Swap(deep) == deep {
			return nil
		}
		if deep {
			with.swallowed = append(with.swallowed, 0)
			fallen.Store(0)
			return tenth.rest(ctx) // the connections that rest are no way around the hole
		}
		for range probes {
			if err := g.until(ctx, "api9_get_thing"); err != nil { // the breaker lets it in again
				return err
			}
		}
		return nil
	}
	byTurns := func(windows int, start func() *load) (p99 *compared, err error) {
		without, with, p99 = &sides{}, &sides{}, &compared{}
		for n := range windows {
			var calm, meanwhile time.Duration                                  // p99 of the nine
			for _, deep := range [][]bool{{false, true}, {true, false}}[n%2] { // each end of a hole takes as long as its breaker
				if err := dig(deep); err != nil {
					return nil, err
				}
				nine, ten := window(start)
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				seen, late := without, &calm
				if deep {
					seen, late = with, &meanwhile
					with.swallowed[len(with.swallowed)-1] = fallen.Load()
				}
				seen.nine.add(nine)
				seen.ten.add(ten)
				*late = nine.quantile(0.99)
			}
			p99.add(calm, meanwhile)
		}
		return p99, dig(false)
	}
	paced := func() *load { return openLoad(ctx, rate, len(others), toNine) }
	window(paced) // all is warm
	p99, err := byTurns(by(s, [3]int{1, 5, 30}), paced)
	if err != nil {
		return nil, err
	}
	rows = append(holed(s, without, with), p99.row(s, "p99 of the nine"))
	windows := by(s, [3]int{0, 5, 30})
	if windows == 0 {
		return rows, nil
	}
	if p99, err = byTurns(windows, func() *load { return closedLoad(ctx, len(others), 0, toNine) }); err != nil {
		return rows, err
	}
	nine := tally{}
	nine.add(&without.nine)
	nine.add(&with.nine)
	each := func(t *tally) float64 { return float64(t.made) / float64(windows) / length.Seconds() }
	return append(rows,
		row{"at saturation: calls of the nine that failed", "0", fmt.Sprintf("%d of %d, %.0f a second and %.0f in the hole%s", nine.failed, nine.made, each(&without.nine), each(&with.nine), orNothing("; ", nine.failures())),
			verdictOf(nine.failed == 0 && nine.made > 0)},
		row{"at saturation: calls of the tenth that failed in the hole", "all", fmt.Sprintf("%d of %d", with.ten.failed, with.ten.made), verdictOf(with.ten.made > 0 && with.ten.failed == with.ten.made)},
		p99.row(s, "at saturation: p99 of the nine")), nil
}

// compared are times without a hole and with one, in ms, by turns.
type compared struct{ well, hurt []float64 }

func (c *compared) add(calm, meanwhile time.Duration) {
	c.well, c.hurt = append(c.well, float64(max(1, calm))/1e6), append(c.hurt, float64(meanwhile)/1e6)
}

// row judges them.
func (c *compared) row(s *suite, what string) row {
	ratio, least, most := ratios(c.hurt, c.well)
	calm, _, _ := median(c.well)
	meanwhile, _, _ := median(c.hurt)
	return row{what, "+<= 5 %", fmt.Sprintf("%+.0f %% (%+.0f to %+.0f), %.1f ms, then %.1f ms", 100*ratio-100, 100*least-100, 100*most-100, calm, meanwhile), s.timed(ratio <= 1.05)}
}

// sides are the calls of the nine and those of the tenth, in all windows of a kind.
type sides struct {
	nine, ten tally
	swallowed []int64 // how many connections went into each hole
}

// probes is how many calls must go well before a breaker sends all again, by default.
const probes = 3

// holed judges what was counted without a hole and with it. Calls of the tenth that go well in the hole have gone around it; those that fail
// without it, or a hole that no connection went into, say that something else is amiss.
func holed(s *suite, without, with *sides) []row {
	var nine tally
	nine.add(&without.nine)
	nine.add(&with.nine)
	return []row{
		{"calls of the nine that failed", "0", fmt.Sprintf("%d of %d%s", nine.failed, nine.made, orNothing("; ", nine.failures())), verdictOf(nine.failed == 0 && nine.made > 0)},
		{"calls of the tenth that failed in the hole", "all", fmt.Sprintf("%d of %d", with.ten.failed, with.ten.made), verdictOf(with.ten.made > 0 && with.ten.failed == with.ten.made)},
		{"connections that went into each hole", ">= 1", strings.Trim(fmt.Sprint(with.swallowed), "[]"), verdictOf(len(with.swallowed) > 0 && slices.Min(with.swallowed) > 0)},
		{"calls of the tenth that failed when there was none", "0", fmt.Sprintf("%d of %d%s", without.ten.failed, without.ten.made, orNothing("; ", without.ten.failures())), verdictOf(without.ten.failed == 0 && without.ten.made > 0)},
		pace(s, "calls made of those that were due", &without.nine, &with.nine, &without.ten, &with.ten),
	}
}

// until waits until a call of a tool goes well.
func (g *gateway) until(ctx context.Context, tool string) error {
	c := &caller{client: &wire.Client{Host: g.host, Revision: wire.Modern}}
	defer c.close()
	var text string
	var err error
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); {
		if text, err = c.call(tool, 1, `{"id":"a"}`); err == nil {
			return nil
		}
		if !openload.Pause(ctx, 100*time.Millisecond) {
			return ctx.Err()
		}
	}
	return fmt.Errorf("%s goes on to fail: %w: %s", tool, err, text)
}

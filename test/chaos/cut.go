package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"drawbridge/test/faultnet"
	"drawbridge/test/wire"
)

var cuts = figure{
	number: 9, name: "answers cut mid-way",
	conditions: [3]string{
		"300 answers, cut by RST, FIN and FIN of one half at a random byte, with and without a length, in 5 revisions",
		"10,000 answers, cut by RST, FIN and FIN of one half at a random byte, with and without a length, in 5 revisions",
		"100,000 answers, cut by RST, FIN and FIN of one half at a random byte, with and without a length, in 5 revisions",
	},
	run: runCuts,
}

// runCuts lets a relay cut each answer somewhere between its first and its last byte. Calls are made one after the other, so
// that each cut belongs to one call.
func runCuts(ctx context.Context, s *suite) (rows []row, err error) {
	body := `{"id":"a","rows":["` + strings.Repeat("x", 2000) + `"]}`
	upstream, err := newService(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/chunks") {
			w.Header().Set("Content-Type", "application/json")
			for part := 0; part < len(body); part += 300 {
				_, _ = w.Write([]byte(body[part:min(len(body), part+300)]))
				w.(http.Flusher).Flush() //nolint:errcheck // net/http's own
			}
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		answerJSON(w, body)
	})
	if err != nil {
		return nil, err
	}
	defer upstream.close()
	var whole atomic.Bool // lets answers through, for the first ones
	whole.Store(true)
	var ended atomic.Int64 // when the last cut was, ns
	relay, err := faultnet.Listen(upstream.host, s.seed, func(n int, r *rand.Rand) faultnet.Script {
		if whole.Load() {
			return faultnet.Script{}
		}
		ends := []faultnet.End{faultnet.Reset, faultnet.Reset, faultnet.Close, faultnet.HalfClose}
		return faultnet.Script{Answers: faultnet.Way{
			End: ends[r.IntN(len(ends))], After: 1 + r.Int64N(int64(len(body))), // the head has some 130 bytes, so all ends are inside
			Ended: func(at time.Time) { ended.Store(at.UnixNano()) },
		}}
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, relay.Close()) }()
	g, err := s.serveThings(ctx, relay.Addr(), ", breaker: off", setup{})
	if err != nil {
		return nil, err
	}
	defer g.stopInto(&err)
	var callers []*caller
	for _, revision := range revisions {
		c, err := newCaller(g.host, revision, "")
		if err != nil {
			return nil, err
		}
		defer c.close()
		callers = append(callers, c)
		events := &caller{client: &wire.Client{Host: g.host, Revision: revision, Session: c.client.Session, Accept: "text/event-stream, application/json;q=0.5"}}
		defer events.close()
		callers = append(callers, events)
		for _, c := range []*caller{c, events} {
			if text, err := c.call("get_thing", 1, `{"id":"a"}`); err != nil || text != body {
				return nil, fmt.Errorf("a whole answer became %.200q, %w", text, err)
			}
		}
	}
	whole.Store(false)
	if err := upstream.rest(ctx); err != nil { // each call now needs a connection of its own
		return nil, err
	}
	calls, partial, other := by(s, [3]int{300, 10_000, 100_000}), 0, map[string]int{}
	var times []float64
	random := rand.New(rand.NewPCG(s.seed, 9))
	for n := range calls {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		ended.Store(0)
		id := []string{"length", "chunks"}[random.IntN(2)]
		text, err := callers[n%len(callers)].call("get_thing", 10+n, `{"id":"`+id+`"}`)
		took := float64(time.Now().UnixNano()-ended.Load()) / 1e6
		switch {
		case err == nil || strings.Contains(text, "xxx"):
			partial++
		case !errors.Is(err, errTool):
			other[fmt.Sprintf("%.100s", err)]++
		case ended.Load() == 0:
			other["isError without a cut: "+text]++
		default:
			times = append(times, took)
		}
	}
	middle, _, most := median(times)
	return []row{
		{"taken for whole, or shown in part", "0", fmt.Sprintf("%d of %d", partial, calls), verdictOf(partial == 0)},
		{"results with isError", "all", fmt.Sprintf("%d of %d%s", len(times), calls, words(other)), verdictOf(len(times) == calls)},
		{"from the cut to the result", "<= 50 ms", fmt.Sprintf("%.1f ms (median), %.1f ms (most)", middle, most), s.timed(most <= 50 && len(times) > 0)},
	}, nil
}

// words tells of outcomes that should not be, if there are any.
func words(counts map[string]int) string {
	text := ""
	for word, n := range counts {
		text += fmt.Sprintf("; %d × %s", n, word)
	}
	return text
}

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"drawbridge/test/faultnet"
	"drawbridge/test/wire"
)

// fault is one thing that the relay does to answers.
type fault struct {
	name string
	want fate
	gzip bool // the service packs its answer
	// script is what becomes of one connection; head and body are the lengths of the two parts of its answer.
	script func(r *rand.Rand, head, body int64) faultnet.Script
	calls  [3]int
}

// fate is what a call may come to. A wrong answer is never one.
type fate int

const (
	exact  fate = iota // the answer as it was sent
	failed             // an error
	either
)

// faultTimeout is the deadline of each call, and faultSlack what it may take more until the caller has its result.
const faultTimeout, faultSlack = time.Second, 250 * time.Millisecond

var faults = []fault{
	{name: "answers delayed by 10 to 40 ms a piece", want: exact, calls: [3]int{16, 200, 2000}, script: func(*rand.Rand, int64, int64) faultnet.Script {
		return faultnet.Script{Answers: faultnet.Way{Latency: 10 * time.Millisecond, Jitter: 30 * time.Millisecond}}
	}},
	{name: "answers byte by byte", want: exact, calls: [3]int{16, 200, 2000}, script: func(*rand.Rand, int64, int64) faultnet.Script {
		return faultnet.Script{Answers: faultnet.Way{Slice: 1}}
	}},
	{name: "answers at 20 KB a second", want: exact, calls: [3]int{16, 100, 1000}, script: func(*rand.Rand, int64, int64) faultnet.Script {
		return faultnet.Script{Answers: faultnet.Way{Rate: 20_000}}
	}},
	{name: "answers too slow for the deadline", want: failed, calls: [3]int{8, 24, 800}, script: func(*rand.Rand, int64, int64) faultnet.Script {
		return faultnet.Script{Answers: faultnet.Way{Slice: 1, Latency: 20 * time.Millisecond}}
	}},
	{name: "answers stalled at a random byte", want: failed, calls: [3]int{8, 24, 800}, script: func(r *rand.Rand, head, body int64) faultnet.Script {
		return faultnet.Script{Answers: faultnet.Way{End: faultnet.Stall, After: 1 + r.Int64N(head+body-1)}}
	}},
	// Behind the header of gzip, whose time and system (RFC 1952 section 2.3) no checksum covers and nobody needs.
	{name: "a bit flipped in a gzip body", want: failed, gzip: true, calls: [3]int{100, 2000, 50_000}, script: func(r *rand.Rand, head, body int64) faultnet.Script {
		return faultnet.Script{Answers: faultnet.Way{Corrupt: 1 + head + gzipHeader + r.Int64N(body-gzipHeader)}}
	}},
	{name: "a bit flipped in the header of gzip", want: either, gzip: true, calls: [3]int{20, 200, 2000}, script: func(r *rand.Rand, head, _ int64) faultnet.Script {
		return faultnet.Script{Answers: faultnet.Way{Corrupt: 1 + head + r.Int64N(gzipHeader)}}
	}},
	{name: "connections refused", want: failed, calls: [3]int{50, 500, 5000}, script: func(*rand.Rand, int64, int64) faultnet.Script {
		return faultnet.Script{Greeting: faultnet.Refuse}
	}},
}

const gzipHeader = 10

// runFaults lets a relay do one thing after the other to answers. Each comes on a connection of its own, so that each call meets the fault.
func runFaults(ctx context.Context, s *suite) (rows []row, err error) {
	random := rand.New(rand.NewPCG(s.seed, 99))
	var b strings.Builder
	for range 4000 { // which gzip makes half as long, so that most of it is data
		fmt.Fprintf(&b, "%x", random.IntN(16))
	}
	body := `{"id":"a","rows":["` + b.String() + `"]}`
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(body)); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	answer := func(encoding, body string) (head, whole string) {
		head = fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\nConnection: close\r\n\r\n", encoding, len(body))
		return head, head + body
	}
	var now atomic.Pointer[fault] // nil: all goes through
	upstream, err := newService(func(w http.ResponseWriter, _ *http.Request) {
		_, whole := answer("", body)
		if f := now.Load(); f != nil && f.gzip {
			_, whole = answer("Content-Encoding: gzip\r\n", packed.String())
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = conn.Write([]byte(whole)) // what does not come through is seen at the other end
		_ = conn.Close()
	})
	if err != nil {
		return nil, err
	}
	defer upstream.close()
	var met atomic.Int64
	relay, err := faultnet.Listen(upstream.host, s.seed, func(_ int, r *rand.Rand) faultnet.Script {
		f := now.Load()
		if f == nil {
			return faultnet.Script{}
		}
		met.Add(1)
		head, whole := answer("", body)
		if f.gzip {
			head, whole = answer("Content-Encoding: gzip\r\n", packed.String())
		}
		return f.script(r, int64(len(head)), int64(len(whole)-len(head)))
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, relay.Close()) }()
	g, err := s.serveThings(ctx, relay.Addr(), fmt.Sprintf(", breaker: off, retries: off, timeout: %s", faultTimeout), setup{})
	if err != nil {
		return nil, err
	}
	defer g.stopInto(&err)
	callers := make([]*caller, 8)
	for i := range callers {
		callers[i] = &caller{client: &wire.Client{Host: g.host, Revision: wire.Modern}, from: net.IPv4(127, 0, 9, byte(1+i))}
		defer callers[i].close()
		if text, err := callers[i].call("get_thing", i, `{"id":"a"}`); err != nil || text != body {
			return nil, fmt.Errorf("a whole answer became %.200q, %w", text, err)
		}
	}
	before, err := g.held(ctx, upstream.rest, nil)
	if err != nil {
		return nil, err
	}
	for _, f := range faults {
		met.Store(0)
		now.Store(&f)
		came := make([]outcomes, len(callers)) // each of one worker
		t := closedLoad(ctx, len(callers), by(s, f.calls), func(worker, n int) error {
			began := time.Now()
			text, err := callers[worker].call("get_thing", 100+n, `{"id":"a"}`)
			came[worker].note(body, text, err, time.Since(began))
			return nil
		}).wait()
		now.Store(nil)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var all outcomes
		for _, o := range came {
			all.add(o)
		}
		rows = append(rows, all.row(s, f, t.made, int(met.Load())))
	}
	after, err := g.held(ctx, upstream.rest, &before)
	if err != nil {
		return nil, err
	}
	return append(rows, row{"goroutines left by all of these", "+0", fmt.Sprintf("%+.0f (%.0f before)", after.goroutines-before.goroutines, before.goroutines), verdictOf(after.goroutines <= before.goroutines)}), nil
}

// outcomes are what calls came to whose answers met a fault.
type outcomes struct {
	exact, failed, wrong int
	most                 time.Duration
	seen                 string // the last that was wrong
}

// note takes in what a call gave instead of an answer. An error that shows a part of the answer is wrong, too, as is a call without any result.
func (o *outcomes) note(want, text string, err error, took time.Duration) {
	o.most = max(o.most, took)
	switch part := want[100:120]; {
	case err == nil && text == want:
		o.exact++
	case errors.Is(err, errTool) && !strings.Contains(text, part):
		o.failed++
	default:
		o.wrong++
		o.seen = fmt.Sprintf("%.80q, %v", text, err)
	}
}

func (o *outcomes) add(others outcomes) {
	o.exact, o.failed, o.wrong = o.exact+others.exact, o.failed+others.failed, o.wrong+others.wrong
	o.most = max(o.most, others.most)
	if others.seen != "" {
		o.seen = others.seen
	}
}

// row judges the calls that were made, of which so many connections met the fault: none says nothing.
func (o *outcomes) row(s *suite, f fault, made, met int) row {
	goal, well := "the exact answer", o.exact == made
	switch f.want {
	case failed:
		goal, well = "isError", o.failed == made
	case either:
		goal, well = "the exact answer or isError", o.exact+o.failed == made
	case exact:
	}
	well = well && o.wrong == 0 && made > 0 && met >= made
	intime := s.timed(o.most <= faultTimeout+faultSlack) != missed
	return row{f.name, fmt.Sprintf("%s within %s", goal, faultTimeout+faultSlack),
		fmt.Sprintf("%d exact, %d isError, %d else of %d, %s (most)%s", o.exact, o.failed, o.wrong, made, round(o.most), orNothing("; ", o.seen)), verdictOf(well && intime)}
}

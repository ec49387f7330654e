package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
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
		"300 answers, cut by RST, FIN and FIN of one half at a random byte, with and without a length, in 5 revisions; answers delayed, sliced, slow, stalled, corrupted and refused",
		"10,000 answers, cut by RST, FIN and FIN of one half at a random byte, with and without a length, in 5 revisions; answers delayed, sliced, slow, stalled, corrupted and refused",
		"100,000 answers, cut by RST, FIN and FIN of one half at a random byte, with and without a length, in 5 revisions; answers delayed, sliced, slow, stalled, corrupted and refused",
	},
	run: func(ctx context.Context, s *suite) ([]row, error) {
		rows, err := runCuts(ctx, s)
		if err != nil {
			return nil, err
		}
		more, err := runFaults(ctx, s)
		return append(rows, more...), err
	},
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
	lengths := map[string]int64{}
	for _, id := range []string{"length", "chunks"} {
		if lengths[id], err = answerLength(ctx, upstream.host, "/things/"+id); err != nil {
			return nil, err
		}
	}
	var length, ended, cut atomic.Int64 // of the call that runs: how many bytes its answer has, when one was cut last, ns, and how many were
	var late, textless atomic.Int64     // how many cuts fell into the last bytes, and how many of them behind the whole text
	relay, err := faultnet.Listen(upstream.host, s.seed, func(n int, r *rand.Rand) faultnet.Script {
		if whole.Load() {
			return faultnet.Script{}
		}
		ends := []faultnet.End{faultnet.Reset, faultnet.Reset, faultnet.Close, faultnet.HalfClose}
		all := length.Load()
		after := 1 + r.Int64N(all-1)
		if r.IntN(5) == 0 {
			after = all - 1 - r.Int64N(lastBytes)
		}
		return faultnet.Script{Answers: faultnet.Way{
			End: ends[r.IntN(len(ends))], After: after,
			Ended: func(at time.Time) {
				ended.Store(at.UnixNano())
				cut.Add(1)
				if after >= all-lastBytes {
					late.Add(1)
				}
				if all == lengths["chunks"] && after >= all-int64(len("\r\n0\r\n\r\n")) {
					textless.Add(1)
				}
			},
		}}
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, relay.Close()) }()
	spec, err := s.write("things.json", things)
	if err != nil {
		return nil, err
	}
	g, err := s.serve(ctx, setup{apis: fmt.Sprintf("[{spec: %q, name: once, base_url: %q, breaker: off, retries: off}, {spec: %q, name: again, base_url: %q, breaker: off}]",
		spec, "http://"+relay.Addr(), spec, "http://"+relay.Addr())})
	if err != nil {
		return nil, err
	}
	defer g.stopInto(&err)
	if err := g.child.Await(ctx, func(context.Context) error { return g.lists(4) }); err != nil { // it serves as soon as one of the two is read
		return nil, err
	}
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
			for _, api := range []string{"once", "again"} {
				if text, err := c.call(api+"_get_thing", 1, `{"id":"a"}`); err != nil || text != body {
					return nil, fmt.Errorf("a whole answer became %.200q, %w", text, err)
				}
			}
		}
	}
	whole.Store(false)
	if err := upstream.rest(ctx); err != nil { // each call now needs a connection of its own
		return nil, err
	}
	var once, again broken
	random := rand.New(rand.NewPCG(s.seed, 9))
	for n := range by(s, [3]int{300, 10_000, 100_000}) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		ended.Store(0)
		cut.Store(0)
		id, api, of := []string{"length", "chunks"}[random.IntN(2)], "once", &once
		if n/len(callers)%2 == 1 {
			api, of = "again", &again
		}
		length.Store(lengths[id])
		text, err := callers[n%len(callers)].call(api+"_get_thing", 10+n, `{"id":"`+id+`"}`)
		of.note(text, err, int(cut.Load()), time.Duration(time.Now().UnixNano()-ended.Load()))
	}
	return append(brokenRows(s, &once, &again), lateRow(late.Load(), textless.Load())), nil
}

// lastBytes is how many bytes of an answer a fifth of the cuts falls into: its last ones, with the end of the last chunk.
const lastBytes = 16

// lateRow tells of the cuts that are the hardest to notice: all of the text is there, and its end is not.
func lateRow(late, whole int64) row {
	return row{fmt.Sprintf("cut within the last %d bytes; of them behind the whole text, before the end of the last chunk", lastBytes), "some", fmt.Sprintf("%d; %d", late, whole), verdictOf(late > 0 && whole > 0)}
}

// answerLength is how many bytes the service's answer has on a connection that stays open.
func answerLength(ctx context.Context, host, path string) (int64, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", host)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	const closing = "Connection: close\r\n"
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", path, host, closing); err != nil {
		return 0, err
	}
	text, err := io.ReadAll(conn)
	if err != nil || strings.Count(string(text), closing) != 1 {
		return 0, fmt.Errorf("the service's own answer: %w: %.300q", err, text)
	}
	return int64(len(text) - len(closing)), nil
}

// broken is what came of calls of one API, each of whose answers was cut.
type broken struct {
	calls, repeated int // how many there were, and how many of them were sent more than once
	partial         int
	times           []float64 // ms from the last cut to the result with isError
	other           map[string]int
}

// note takes in what a call gave, so long after the last of so many cuts.
func (b *broken) note(text string, err error, cuts int, took time.Duration) {
	if b.other == nil {
		b.other = map[string]int{}
	}
	b.calls++
	if cuts > 1 {
		b.repeated++
	}
	switch {
	case err == nil || strings.Contains(text, "xxx"):
		b.partial++
	case !errors.Is(err, errTool):
		b.other[fmt.Sprintf("%.100s", err)]++
	case cuts == 0:
		b.other["isError without a cut: "+text]++
	default:
		b.times = append(b.times, float64(took)/1e6)
	}
}

// brokenRows judges calls of an API that asks once, and of one that asks again for what was cut.
func brokenRows(s *suite, once, again *broken) []row {
	calls, partial, refused := once.calls+again.calls, once.partial+again.partial, len(once.times)+len(again.times)
	middle, _, most := median(once.times)
	waited, _, longest := median(again.times)
	some := again.repeated > 0 || s.size == short // of 150 three or five are cut within the head, as chance has it
	return []row{
		{"taken for whole, or shown in part", "0", fmt.Sprintf("%d of %d", partial, calls), verdictOf(partial == 0 && once.calls > 0 && again.calls > 0)},
		{"results with isError", "all", fmt.Sprintf("%d of %d%s", refused, calls, words(once.other)+words(again.other)), verdictOf(refused == calls)},
		{"sent again", "some with retries, none without", fmt.Sprintf("%d of %d with, %d of %d without", again.repeated, again.calls, once.repeated, once.calls), verdictOf(some && once.repeated == 0)},
		{"from the cut to the result, without retries", "<= 50 ms", fmt.Sprintf("%.1f ms (median), %.1f ms (most)", middle, most), s.timed(most <= 50 && len(once.times) > 0)},
		{"from the last cut to the result, with retries", "<= 50 ms", fmt.Sprintf("%.1f ms (median), %.1f ms (most)", waited, longest), s.timed(longest <= 50 && len(again.times) > 0)},
	}
}

// words tells of outcomes that should not be, if there are any.
func words(counts map[string]int) string {
	text := ""
	for word, n := range counts {
		text += fmt.Sprintf("; %d × %s", n, word)
	}
	return text
}

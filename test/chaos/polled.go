package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"drawbridge/test/openload"
	"drawbridge/test/process"
)

// runPolled measures calls of an API, by turns alone and while another API has another bomb whenever the gateway looks by itself, once a
// second where the document allows it. Each window has a bad API of its own, that has not been read for long when the window begins.
func runPolled(ctx context.Context, s *suite, bombs [][]byte) (rows []row, err error) {
	windows, length := by(s, [3]int{0, 2, 4}), by(s, [3]time.Duration{0, 8 * time.Second, 150 * time.Second})
	if windows == 0 {
		return nil, nil
	}
	upstream, err := newService(func(w http.ResponseWriter, _ *http.Request) { answerJSON(w, `{"ok":true}`) })
	if err != nil {
		return nil, err
	}
	defer upstream.close()
	var lit, next atomic.Int64 // the number of the API that has bombs, from 1; how many were asked for
	documents, err := newService(func(w http.ResponseWriter, r *http.Request) {
		if strconv.FormatInt(lit.Load(), 10) != strings.TrimPrefix(r.URL.Path, "/") {
			answerJSON(w, things)
			return
		}
		n := int(next.Add(1)) - 1
		_, _ = w.Write(bombs[n%len(bombs)])
		_, _ = w.Write([]byte(strings.Repeat("\n", n/len(bombs)))) // another text than last time
	})
	if err != nil {
		return nil, err
	}
	defer documents.close()
	spec, err := s.write("good.json", things)
	if err != nil {
		return nil, err
	}
	apis := fmt.Sprintf("{spec: %q, name: good, base_url: %q}", spec, "http://"+upstream.host)
	for n := range windows {
		apis += fmt.Sprintf(", {spec: %q, name: bad%d, base_url: %q, refresh: 1s}", fmt.Sprintf("http://%s/%d", documents.host, n+1), n+1, "http://"+upstream.host)
	}
	g, err := s.serve(ctx, setup{apis: "[" + apis + "]", environment: []string{"GOMEMLIMIT=230MiB"}})
	if err != nil {
		return nil, err
	}
	defer g.stopInto(&err)
	if err := g.until(ctx, "good_get_thing"); err != nil {
		return nil, err
	}
	if _, _, err := goodCalls(ctx, g.host, upstream.host, 5*time.Second); err != nil { // all is warm
		return nil, err
	}
	if err := process.ClearPeak(g.child.PID()); err != nil {
		return nil, err
	}
	b := &besides{}
	for n := range windows {
		calm, calmStraight, err := goodCalls(ctx, g.host, upstream.host, length)
		if err != nil {
			return nil, err
		}
		before := next.Load()
		lit.Store(int64(n + 1))
		hurt, hurtStraight, err := goodCalls(ctx, g.host, upstream.host, length)
		lit.Store(0)
		if err := errors.Join(err, g.reload(ctx)); err != nil { // harmless documents again
			return nil, err
		}
		b.add(int(next.Load()-before), window{calm, calmStraight}, window{hurt, hurtStraight})
		openload.Pause(ctx, time.Second)
	}
	usage, err := g.child.Usage()
	if err != nil {
		return nil, err
	}
	return b.polledRows(s, len(bombs), float64(usage.PeakRSS)/(1<<20)), ctx.Err()
}

// leastDifferent is how many of the bombs must come in full when the gateway asks by itself: most take it so long to read that it asks for no other
// in the rest of the window.
const leastDifferent = 8

// different judges how many of the bombs came, in full: one after the other does, from window to window.
func (b *besides) different(s *suite, bombs, least int) row {
	n := 0
	for _, read := range b.read {
		n += read
	}
	n = min(n, bombs)
	r := row{"different ones of these", fmt.Sprintf(">= %d in full", least), fmt.Sprintf("%d of %d", n, bombs), shown}
	if s.size == full {
		r.goal, r.verdict = fmt.Sprintf(">= %d", least), verdictOf(n >= least)
	}
	return r
}

// polledRows judges them. Only in full are windows so long that what a document does to calls and its rest after that are both in them.
func (b *besides) polledRows(s *suite, bombs int, rss float64) []row {
	ratio, text := against(b.bombs[0], b.calm[0])
	_, straight := against(b.bombs[1], b.calm[1])
	judged := row{"p99 of another API, when the gateway asks for bombs by itself", "<= 1.05 ×", text, verdictOf(ratio <= 1.05)}
	if s.size != full {
		judged.goal, judged.verdict = "<= 1.05 × in full", shown
	}
	return []row{
		b.came("bombs that it asked for by itself, in each window"),
		b.different(s, bombs, leastDifferent),
		b.failed("calls of another API that failed meanwhile"),
		pace(s, "calls made of those that were due, meanwhile", &b.calls[0], &b.calls[1]),
		judged,
		{"p99 of calls straight to the service, meanwhile", "", straight, shown},
		{"resident memory meanwhile", "<= 256 MiB", fmt.Sprintf("%.0f MiB", rss), verdictOf(rss <= 256)},
	}
}

package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"drawbridge/test/process"
	"drawbridge/test/wire"
)

var aborts = figure{
	number: 16, name: "what calls leave behind",
	conditions: [3]string{
		"5,000 calls by 32 clients, one in ten goes away",
		"50,000 calls by 32 clients, one in ten goes away",
		"1,000,000 calls by 32 clients, one in ten goes away",
	},
	run: runAborts,
}

// runAborts makes calls of which some are left by their clients at a random moment, and looks at what the gateway holds before
// and after.
func runAborts(ctx context.Context, s *suite) (rows []row, err error) {
	upstream, err := newService(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "7") {
			select { // some answers are slow, so that clients go at every point
			case <-r.Context().Done():
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
		answerJSON(w, `{"id":"`+r.URL.Path[len("/things/"):]+`"}`)
	})
	if err != nil {
		return nil, err
	}
	defer upstream.close()
	g, err := s.serveThings(ctx, upstream.host, "", setup{})
	if err != nil {
		return nil, err
	}
	defer g.stopInto(&err)
	const clients = 32
	callers := make([]*caller, clients)
	for i := range callers {
		if callers[i], err = newCaller(g.host, revisions[i%len(revisions)], ""); err != nil {
			return nil, err
		}
	}
	left := make([]int, clients)
	call := func(worker, n int) error {
		c := callers[worker]
		if n%10 == 9 {
			left[worker]++
			return c.leave(n)
		}
		text, err := c.call("get_thing", n, fmt.Sprintf(`{"id":"%d"}`, n))
		if want := fmt.Sprintf(`{"id":"%d"}`, n); err == nil && text != want {
			return fmt.Errorf("call %d got the answer %.100q", n, text)
		}
		return err
	}
	calls := by(s, [3]int{5000, 50_000, 1_000_000})
	closedLoad(ctx, clients, calls/5, call).wait() // all is warm, and as large as it becomes by itself
	rest := func(before *held) (held, error) {
		for _, c := range callers {
			c.close()
		}
		return g.held(ctx, upstream.rest, before)
	}
	before, err := rest(nil)
	if err != nil {
		return nil, err
	}
	clear(left)
	t := closedLoad(ctx, clients, calls, call).wait()
	gone := 0
	for _, n := range left {
		gone += n
	}
	after, err := rest(&before)
	if err != nil {
		return nil, err
	}
	heap := (after.heap - before.heap) / (1 << 20)
	return []row{
		{"calls that failed", "0", fmt.Sprintf("%d of %d%s", t.failed, t.made-gone, orNothing("; ", t.failures())), verdictOf(t.failed == 0 && t.made == calls)},
		{"goroutines", "+0", fmt.Sprintf("%+.0f (%.0f before), %d calls were left", after.goroutines-before.goroutines, before.goroutines, gone), verdictOf(after.goroutines <= before.goroutines)},
		{"descriptors", "+0", fmt.Sprintf("%+d (%d before)", after.descriptors-before.descriptors, before.descriptors), verdictOf(after.descriptors <= before.descriptors)},
		{"heap", "< +5 MiB", fmt.Sprintf("%+.2f MiB (%.1f before)", heap, before.heap/(1<<20)), verdictOf(heap < 5)},
	}, nil
}

// held is what a gateway holds when nobody calls.
type held struct {
	goroutines  float64
	descriptors int
	heap        float64 // bytes
}

// held looks at it until there has been no less for two seconds: what ends takes its time. rest ends the connections that
// services keep. What is more than before gets ten seconds more. Reloads that change nothing make the gateway collect what is garbage.
func (g *gateway) held(ctx context.Context, rest func(), before *held) (least held, err error) {
	began := time.Now()
	more := func() bool {
		return before != nil && time.Since(began) < 10*time.Second && (least.goroutines > before.goroutines || least.descriptors > before.descriptors)
	}
	for last := time.Now(); time.Since(last) < 2*time.Second || more(); {
		rest()
		if err := g.reload(ctx); err != nil {
			return least, err
		}
		if !pause(ctx, 100*time.Millisecond) {
			return least, ctx.Err()
		}
		values, err := process.Metrics(ctx, g.admin)
		if err != nil {
			return least, err
		}
		now := held{goroutines: values["go_goroutines"], heap: values["go_memstats_heap_alloc_bytes"]}
		if now.descriptors, err = process.Descriptors(g.child.PID()); err != nil {
			return least, err
		}
		if least.goroutines == 0 || now.goroutines < least.goroutines || now.descriptors < least.descriptors || now.heap < least.heap-(1<<18) {
			last = time.Now()
		}
		if least.goroutines == 0 {
			least = now
		}
		least = held{min(least.goroutines, now.goroutines), min(least.descriptors, now.descriptors), min(least.heap, now.heap)}
	}
	return least, nil
}

// leave makes a call and goes away, sometimes before the request is sent as a whole.
func (c *caller) leave(n int) error {
	conn, err := c.dial()
	if err != nil {
		return err
	}
	request := c.client.Call("get_thing", strconv.Itoa(n), fmt.Sprintf(`{"id":"%d7"}`, n))
	if n%40 == 39 {
		request = request[:len(request)-n%200-1]
	}
	w := wire.New(conn)
	defer w.Close()
	if err := w.Send([]byte(request)); err != nil {
		return err
	}
	time.Sleep(time.Duration(n%4) * time.Millisecond)
	return nil
}

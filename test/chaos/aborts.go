package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"drawbridge/test/faultnet"
	"drawbridge/test/openload"
	"drawbridge/test/process"
	"drawbridge/test/wire"
)

var aborts = figure{
	number: 16, name: "what calls leave behind",
	conditions: [3]string{
		"5,000 calls by 32 clients, one in ten goes away within 8 ms; half of their answers come late, half are 300 KiB in parts",
		"50,000 calls by 32 clients, one in ten goes away within 8 ms; half of their answers come late, half are 300 KiB in parts",
		"1,000,000 calls by 32 clients, one in ten goes away within 8 ms; half of their answers come late, half are 300 KiB in parts",
	},
	run: runAborts,
}

// runAborts makes calls of which some are left by their clients at a random moment, and looks at what the gateway holds before
// and after.
func runAborts(ctx context.Context, s *suite) (rows []row, err error) {
	var unanswered atomic.Int64
	upstream, err := newService(func(w http.ResponseWriter, r *http.Request) {
		id := r.URL.Path[len("/things/"):]
		answer := answerOf(id)
		w.Header()["Content-Type"] = []string{"application/json"}
		if strings.HasPrefix(id, "late") && !openload.Pause(r.Context(), 5*time.Millisecond) {
			unanswered.Add(1)
			return
		}
		for len(answer) > 0 {
			part := answer[:min(len(answer), 30<<10)]
			if _, err := w.Write([]byte(part)); err != nil {
				unanswered.Add(1)
				return
			}
			if answer = answer[len(part):]; len(answer) > 0 {
				_ = http.NewResponseController(w).Flush() // the next Write tells
				if !openload.Pause(r.Context(), 500*time.Microsecond) {
					unanswered.Add(1)
					return
				}
			}
		}
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
			random := rand.New(rand.NewPCG(s.seed, uint64(n)))
			return c.leave(random, n, fmt.Sprintf("%s-%d", []string{"late", "large"}[random.IntN(2)], n))
		}
		id := fmt.Sprintf("small-%d", n)
		if n%100 == 0 {
			id = fmt.Sprintf("large-%d", n)
		}
		text, err := c.call("get_thing", n, fmt.Sprintf(`{"id":%q}`, id))
		if err == nil && text != answerOf(id) {
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
		// The gateway looks at a connection that rests when it wants to use it, and every now and then: those that are closed would count.
		if err := errors.Join(upstream.rest(ctx), g.until(ctx, "get_thing")); err != nil {
			return held{}, err
		}
		return g.held(ctx, upstream.rest, before)
	}
	before, err := rest(nil)
	if err != nil {
		return nil, err
	}
	clear(left)
	unanswered.Store(0)
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
		{"calls that were left", "one in ten before the service has answered", fmt.Sprintf("%d, %d before", gone, unanswered.Load()), verdictOf(gone > 0 && 10*unanswered.Load() >= int64(gone))},
		{"goroutines", "+0", fmt.Sprintf("%+.0f (%.0f before)", after.goroutines-before.goroutines, before.goroutines), verdictOf(after.goroutines <= before.goroutines)},
		{"descriptors", "+0", fmt.Sprintf("%+.0f (%.0f before)", after.descriptors-before.descriptors, before.descriptors), verdictOf(after.descriptors <= before.descriptors)},
		{"heap", "< +5 MiB", fmt.Sprintf("%+.2f MiB (%.1f before)", heap, before.heap/(1<<20)), verdictOf(heap < 5)},
	}, nil
}

// held is what a gateway holds when nobody calls.
type held struct {
	goroutines, descriptors float64
	heap                    float64 // bytes
}

// held looks at it ten times a second, until no reading of two seconds was less than all before: what ends takes its time. It returns
// what the last second's readings agree in, since a single one may find a goroutine that comes and goes, or miss one that is just
// replaced; and the least heap, since what is not collected yet comes on top of it. What is more than before gets twenty seconds,
// in which the gateway has looked at all that rests. rest ends the connections that services keep. Reloads that change nothing make
// the gateway collect what is garbage.
func (g *gateway) held(ctx context.Context, rest func(context.Context) error, before *held) (held, error) {
	const second = 10 // readings
	var goroutines, descriptors, heap []float64
	for {
		if err := rest(ctx); err != nil {
			return held{}, err
		}
		if err := g.reload(ctx); err != nil {
			return held{}, err
		}
		if !openload.Pause(ctx, 100*time.Millisecond) {
			return held{}, ctx.Err()
		}
		values, err := process.Metrics(ctx, g.admin)
		if err != nil {
			return held{}, err
		}
		open, err := process.Descriptors(g.child.PID())
		if err != nil {
			return held{}, err
		}
		goroutines, descriptors = append(goroutines, values["go_goroutines"]), append(descriptors, float64(open))
		heap = append(heap, values["go_memstats_heap_alloc_bytes"])
		n := len(heap)
		if n < 3*second {
			continue
		}
		var now held
		now.goroutines, _, _ = median(goroutines[n-second:])
		now.descriptors, _, _ = median(descriptors[n-second:])
		now.heap = slices.Min(heap)
		falls := func(readings []float64, by float64) bool {
			return slices.Min(readings[n-2*second:]) < slices.Min(readings[:n-2*second])-by
		}
		more := before != nil && (now.goroutines > before.goroutines || now.descriptors > before.descriptors || now.heap > before.heap+(1<<20))
		if n >= 20*second || !more && !falls(goroutines, 0) && !falls(descriptors, 0) && !falls(heap, 1<<18) {
			return now, nil
		}
	}
}

// answerOf is what the service answers: 300 KiB if the id begins so, and else a few bytes.
func answerOf(id string) string {
	pad := ""
	if strings.HasPrefix(id, "large") {
		pad = strings.Repeat("x", 300<<10)
	}
	return fmt.Sprintf(`{"id":%q,"pad":%q}`, id, pad)
}

// leave makes a call and goes away at some moment, one in four times before the request is sent as a whole. Little of an answer has room on
// the way, so that the gateway may be writing it.
func (c *caller) leave(random *rand.Rand, n int, id string) error {
	d := net.Dialer{Timeout: 10 * time.Second, Control: faultnet.Narrow}
	conn, err := d.Dial("tcp", c.client.Host)
	if err != nil {
		return err
	}
	w := wire.New(conn)
	defer w.Close()
	request := c.client.Call("get_thing", strconv.Itoa(n), fmt.Sprintf(`{"id":%q}`, id))
	if random.IntN(4) == 0 {
		request = request[:random.IntN(len(request))]
	}
	if err := w.Send([]byte(request)); err != nil {
		return err
	}
	time.Sleep(time.Duration(random.Int64N(int64(8 * time.Millisecond))))
	return nil
}

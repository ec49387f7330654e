package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"drawbridge/test/wire"
)

var cancelled = figure{
	number: 15, name: "clients that go away",
	conditions: [3]string{
		"10 calls of each of 5 revisions by a closed connection, 10 of each of 4 by a notification",
		"40 calls of each of 5 revisions by a closed connection, 40 of each of 4 by a notification",
		"400 calls of each of 5 revisions by a closed connection, 400 of each of 4 by a notification",
	},
	run: runCancelled,
}

// waiting is a service whose answers don't come, and that knows when it is asked and when nobody wants the answer any more.
type waiting struct {
	mu    sync.Mutex
	calls map[string]*waited
}

type waited struct {
	come, gone chan time.Time // with one place each
}

func (w *waiting) call(id string) *waited {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.calls == nil {
		w.calls = map[string]*waited{}
	}
	if w.calls[id] == nil {
		w.calls[id] = &waited{make(chan time.Time, 1), make(chan time.Time, 1)}
	}
	return w.calls[id]
}

func (w *waiting) serve(rw http.ResponseWriter, r *http.Request) {
	c := w.call(r.URL.Path[len("/things/"):])
	c.come <- time.Now()
	select {
	case <-r.Context().Done():
		c.gone <- time.Now()
	case <-time.After(20 * time.Second):
		answerJSON(rw, `{}`)
	}
}

// runCancelled makes calls that wait for the service, goes away, and looks when the service is told.
func runCancelled(ctx context.Context, s *suite) (rows []row, err error) {
	var w waiting
	upstream, err := newService(w.serve)
	if err != nil {
		return nil, err
	}
	defer upstream.close()
	g, err := s.serveThings(ctx, upstream.host, "", setup{})
	if err != nil {
		return nil, err
	}
	defer g.stopInto(&err)
	// The short size has a machine that does other things too.
	limit := by(s, [3]time.Duration{time.Second, 50 * time.Millisecond, 50 * time.Millisecond})
	const stay = 200 * time.Millisecond
	calls, id := by(s, [3]int{10, 40, 400}), 100
	last := 0 // calls that nobody left, and that went on
	for _, revision := range revisions {
		id++
		stays, err := lasts(ctx, g.host, revision, id, w.call(strconv.Itoa(id)), stay)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", revision, err)
		}
		if stays {
			last++
		}
		for _, way := range []string{"closed", "notified"} {
			if way == "notified" && revision == wire.Modern {
				continue // it has no such notification over HTTP: closing is how it cancels
			}
			var times []float64
			for range calls {
				id++
				took, err := abandon(ctx, g.host, revision, way, id, w.call(strconv.Itoa(id)))
				if err != nil {
					return nil, fmt.Errorf("%s, %s: %w", revision, way, err)
				}
				if took >= 0 {
					times = append(times, float64(took)/1e6)
				}
			}
			middle, _, most := median(times)
			in := 0
			for _, t := range times {
				if t <= float64(limit)/1e6 {
					in++
				}
			}
			rows = append(rows, row{revision + ", " + way, fmt.Sprintf("%d of %d within %s", calls, calls, limit),
				fmt.Sprintf("%d of %d, %.1f ms (median), %.1f ms (most)", in, calls, middle, most), verdictOf(in == calls)})
		}
	}
	return append(rows, row{"calls that nobody leaves go on", fmt.Sprintf("%d of %d after %s", len(revisions), len(revisions), stay), fmt.Sprintf("%d of %d", last, len(revisions)), verdictOf(last == len(revisions))}), nil
}

// abandon makes a call and goes away when the service has got it. The result is how long after that the service was told; it is
// negative if it was not within two seconds, or was told before, and so of something else.
func abandon(ctx context.Context, host, revision, way string, id int, w *waited) (time.Duration, error) {
	c, conn, err := begin(ctx, host, revision, id, w)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	var left time.Time
	if way == "closed" {
		left = time.Now()
		conn.Close()
	} else {
		other, err := wire.Dial(host)
		if err != nil {
			return 0, err
		}
		defer other.Close()
		left = time.Now()
		if a, err := other.Exchange([]byte(c.Cancel(strconv.Itoa(id)))); err != nil || a.Status != http.StatusAccepted {
			return 0, fmt.Errorf("the notification got %d, %w", a.Status, err)
		}
	}
	select {
	case at := <-w.gone:
		return at.Sub(left), nil
	case <-time.After(2 * time.Second):
		return -1, nil
	}
}

// lasts makes a call that nobody leaves, and tells whether the service still works for it so long after it has got it.
func lasts(ctx context.Context, host, revision string, id int, w *waited, stay time.Duration) (bool, error) {
	_, conn, err := begin(ctx, host, revision, id, w)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	select {
	case <-w.gone:
		return false, nil
	case <-time.After(stay):
		return true, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// begin makes a call, and returns when the service has got it.
func begin(ctx context.Context, host, revision string, id int, w *waited) (*wire.Client, *wire.Conn, error) {
	c := &wire.Client{Host: host, Revision: revision}
	if err := c.Connect(); err != nil {
		return nil, nil, err
	}
	conn, err := wire.Dial(host)
	if err != nil {
		return nil, nil, err
	}
	if err := conn.Send([]byte(c.Call("get_thing", strconv.Itoa(id), fmt.Sprintf(`{"id":"%d"}`, id)))); err != nil {
		conn.Close()
		return nil, nil, err
	}
	select {
	case <-w.come:
		return c, conn, nil
	case <-time.After(10 * time.Second):
		err = fmt.Errorf("call %d has not come to the service", id)
	case <-ctx.Done():
		err = ctx.Err()
	}
	conn.Close()
	return nil, nil, err
}

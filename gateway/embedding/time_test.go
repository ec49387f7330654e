package embedding

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/gateway/finder"
)

// transport answers requests without a network, so that tests can use a fake clock.
type transport struct {
	server  server
	sent    atomic.Int64
	slow    atomic.Bool // it does not answer
	failing atomic.Bool

	mu sync.Mutex
	at []time.Time // times of requests
}

// Close implements [sender].
func (*transport) Close() {}

// Do implements [sender].
func (c *transport) Do(req *http.Request) (*http.Response, error) {
	c.sent.Add(1)
	c.mu.Lock()
	c.at = append(c.at, time.Now())
	c.mu.Unlock()
	if c.slow.Load() {
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	if c.failing.Load() {
		return nil, errors.New("connection refused")
	}
	w := httptest.NewRecorder()
	c.server.ServeHTTP(w, req)
	return w.Result(), nil
}

// within returns a finder with vectors whose requests use the transport.
func (c *transport) within(t *testing.T, e *fixture) *Finder {
	t.Helper()
	e.o.QueryTimeout = QueryTimeout
	f := e.NewFinder(settings(t, "http://embeddings.test", ""), tools(shop...))
	f.model.client.http = c
	if err := e.Fill(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	c.sent.Store(0)
	return f
}

// TestSlow checks that a query waits for its vector 150 ms, and that none waits after several failures, until one
// succeeds again.
func TestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, e := &transport{}, newFixture(t, "")
		f := c.within(t, e)
		find := func(want time.Duration, sent int64) {
			t.Helper()
			c.sent.Store(0)
			began, q := time.Now(), finder.Query{Text: "an order", Limit: 3}
			if got := f.Find(t.Context(), q).Hits; len(got) == 0 {
				t.Error("nothing is found")
			}
			if took := time.Since(began); took != want || c.sent.Load() != sent {
				t.Errorf("%v and %d requests, want %v and %d", took, c.sent.Load(), want, sent)
			}
		}
		find(0, 1)
		c.slow.Store(true)
		for range failuresToPause {
			find(QueryTimeout, 1)
		}
		find(0, 0)
		time.Sleep(pauseLength)
		find(QueryTimeout, 1) // one query probes the server
		find(0, 0)
		c.slow.Store(false)
		time.Sleep(pauseLength - time.Millisecond)
		find(0, 0)
		time.Sleep(time.Millisecond)
		find(0, 1)
		find(0, 1)
		if e.count("queries", "timeout") != failuresToPause+1 || e.count("queries", "paused") != 3 {
			t.Error("the outcomes are not counted")
		}
	})
}

// TestBusy checks that no more than maxQueries wait at a time, and that a single probe is sent after a pause.
func TestBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, e := &transport{}, newFixture(t, "")
		f := c.within(t, e)
		c.slow.Store(true)
		many := func() (at [2]int64) {
			c.sent.Store(0)
			var wg sync.WaitGroup
			for range 3 * maxQueries {
				wg.Go(func() { f.Find(t.Context(), query("an order", 3)) })
			}
			wg.Wait()
			return [2]int64{c.sent.Load(), int64(e.count("queries", "busy"))}
		}
		if got := many(); got != [2]int64{maxQueries, 2 * maxQueries} {
			t.Errorf("%v were sent and refused", got)
		}
		time.Sleep(pauseLength)
		if got := many(); got[0] != 1 {
			t.Errorf("%v were sent as a probe", got[0])
		}
	})
}

// TestRun checks that failed vectors are retried with growing delays, and those of a new finder at once.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, e := &transport{}, newFixture(t, t.TempDir())
		c.failing.Store(true)
		ctx, cancel := context.WithCancel(t.Context())
		f := e.NewFinder(settings(t, "http://embeddings.test", ""), tools(shop...))
		f.model.client.http = c
		var wg sync.WaitGroup
		wg.Go(func() { e.Run(ctx) })
		began := time.Now()
		time.Sleep(25 * time.Minute)
		synctest.Wait()
		var at []int
		for _, one := range c.at {
			at = append(at, int(one.Sub(began).Seconds()))
		}
		if want := "[0 10 30 70 150 310 630 1230]"; fmt.Sprint(at) != want {
			t.Errorf("tried at %v s, want %s", at, want)
		}
		c.failing.Store(false)
		f = e.NewFinder(settings(t, "http://embeddings.test", ""), tools(shop...))
		if synctest.Wait(); f.Embedded() != 4 {
			t.Errorf("%d vectors", f.Embedded())
		}
		before := c.sent.Load()
		time.Sleep(time.Hour)
		if synctest.Wait(); c.sent.Load() != before {
			t.Error("vectors that are there are made again")
		}
		cancel()
		wg.Wait()
	})
}

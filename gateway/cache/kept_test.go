package cache

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/test/timebox"
)

// TestStallPanics: a panic at the timer of an answer that nobody reads is told, and ends nothing.
func TestStallPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := 0
		c := New(1<<20, nil, func(string, any) { told++ })
		c.keep(nil, nil, &http.Response{Body: http.NoBody}, &Rule{}, &entry{}) // without a flight that could be ended
		time.Sleep(2 * stallTime)
		synctest.Wait()
		if told != 1 {
			t.Errorf("told of %d panics, want 1", told)
		}
	})
}

// TestPanicInTheStore: a panic while the store is changed or looked at is that of one call alone: the next ones are answered, and those that wait
// for the same answer too.
func TestPanicInTheStore(t *testing.T) {
	var at atomic.Int64 // which look at the clock panics, counted down
	c := New(1<<20, func() time.Time {
		if at.Add(-1) == 0 {
			panic("clock")
		}
		return time.Unix(1, 0)
	}, nil)
	s := &service{answer: func(int64, *http.Request) (int, string, string) { return 200, "Cache-Control: no-store", "ok" }}
	for n := int64(1); n <= 8; n++ {
		at.Store(n)
		done := make(chan string, 1)
		go func() {
			defer func() { done <- fmt.Sprint(recover()) }()
			get(t, c, s, Name{Group: "g"}, &Rule{MaxBytes: 100}, http.MethodGet, "/a")
		}()
		first := timebox.Receive(t, done)
		at.Store(0)
		go func() {
			done <- get(t, c, s, Name{Group: "g"}, &Rule{MaxBytes: 100}, http.MethodGet, fmt.Sprintf("/%d", n))
		}()
		select {
		case got := <-done:
			if !strings.HasSuffix(got, " 200 ok") {
				t.Errorf("after a panic at look %d (%s): %s", n, first, got)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("after a panic at look %d nobody is answered", n)
		}
		if len(c.flights) > 0 || len(c.inFlight) > 0 {
			t.Errorf("after a panic at look %d there are %d flights", n, len(c.flights))
		}
	}
}

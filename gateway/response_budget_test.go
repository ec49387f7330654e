package gateway

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/semaphore"

	"drawbridge/test/timebox"
)

// stuck is a client that does not read its answer for a while.
type stuck struct {
	*httptest.ResponseRecorder
	once          sync.Once
	writes, reads chan struct{}
}

func newStuck() *stuck {
	return &stuck{ResponseRecorder: httptest.NewRecorder(), writes: make(chan struct{}), reads: make(chan struct{})}
}

func (s *stuck) Write(p []byte) (int, error) {
	s.once.Do(func() { close(s.writes) })
	<-s.reads
	return s.ResponseRecorder.Write(p)
}

// stuckTo serves h, and requests with a header Stuck answer to w.
func stuckTo(h http.Handler, w http.ResponseWriter) http.Handler {
	return http.HandlerFunc(func(first http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Stuck") != "" {
			first = w
		}
		h.ServeHTTP(first, r)
	})
}

// largeService answers /large/N with N KiB, and everything else with little.
func largeService(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		var n int
		if _, err := fmt.Sscanf(r.URL.Path, "/large%d", &n); err == nil {
			_, _ = io.WriteString(w, `{"text":"`+strings.Repeat("x", n<<10)+`"}`)
			return
		}
		_, _ = io.WriteString(w, `{"done":true}`)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// withRoom gives a gateway room for large answers.
func withRoom(g *Gateway, capacity int64) {
	g.room.capacity = capacity
	g.room.answers = semaphore.NewWeighted(capacity)
}

// TestSlowReaderHoldsNoPlace: who does not read its answer holds neither the room of the API nor one of max_calls, and of the room for large answers
// no more than is in memory.
func TestSlowReaderHoldsNoPlace(t *testing.T) {
	g := start(t, document("Shop", "list", "large600"), "apis: [{name: shop, spec: $SPEC, base_url: $BASE, max_in_flight: 1, max_queued: 0}]\nlimits: {max_calls: 1}\n", largeService(t))
	withRoom(g, 16<<20)
	w := newStuck()
	slow := newClient(t, stuckTo(g.Handler(), w), "2026-07-28", "")
	slow.header.Set("Stuck", "1")
	done := make(chan struct{})
	go func() {
		defer close(done)
		slow.call("large600")
	}()
	timebox.Wait(t, w.writes)
	for range 2 {
		if w := newClient(t, g.Handler(), "2026-07-28", "").call("list"); !succeeded(w) {
			t.Errorf("a call beside it: %d %s", w.Code, w.Body)
		}
	}
	const most = 3 * (600 << 10) // the answer, and it once more as it goes out
	if !g.room.answers.TryAcquire(g.room.capacity - most) {
		t.Error("it holds more room than it needs")
	} else {
		g.room.answers.Release(g.room.capacity - most)
	}
	if g.room.answers.TryAcquire(g.room.capacity - 600<<10) {
		t.Error("it holds no room")
	}
	close(w.reads)
	timebox.Wait(t, done)
	if !strings.Contains(w.Body.String(), strings.Repeat("x", 600<<10)) {
		t.Errorf("the answer: %d, %d bytes", w.Code, w.Body.Len())
	}
	if !g.room.answers.TryAcquire(g.room.capacity) {
		t.Error("room was not given back")
	}
	if n := g.room.calls.Load(); n != 0 {
		t.Errorf("%d calls still run", n)
	}
}

// TestBatchOfLargeAnswers: together they are no larger than one may be, and hold their place until they are out.
func TestBatchOfLargeAnswers(t *testing.T) {
	g := start(t, document("Shop", "list", "large600", "large700"), "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nlimits: {max_answer: 2MiB}\n", largeService(t))
	withRoom(g, 2<<20)
	w := newStuck()
	c := newClient(t, stuckTo(g.Handler(), w), "2025-03-26", "")
	c.send("ping", "", "")
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}, "Mcp-Session-Id": {c.session}, "Stuck": {"1"}}
	batch := func(tools ...string) string {
		var messages []string
		for n, tool := range tools {
			messages = append(messages, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, n, tool))
		}
		return "[" + strings.Join(messages, ",") + "]"
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		post(c.h, header, batch("large600", "list", "large700"))
	}()
	timebox.Wait(t, w.writes)
	if g.room.answers.TryAcquire(g.room.capacity - 1300<<10) {
		t.Error("a batch that is not out holds no room")
	}
	close(w.reads)
	timebox.Wait(t, done)
	if body := w.Body.String(); strings.Contains(body, `"isError"`) || !strings.Contains(body, strings.Repeat("x", 700<<10)) || !strings.Contains(body, `{\"done\":true}`) {
		t.Errorf("%d, %d bytes", w.Code, len(body))
	}
	if !g.room.answers.TryAcquire(g.room.capacity) {
		t.Fatal("room was not given back")
	}
	g.room.answers.Release(g.room.capacity)

	header.Del("Stuck")
	body := post(g.Handler(), header, batch("large700", "large700", "list", "large700", "large700")).Body.String()
	const want = `"text":"The answers to the calls of this request are too large together. The call may have taken effect: if it only reads data, make it by itself, or ask for less."}],"isError":true`
	if large, refused := strings.Count(body, strings.Repeat("x", 700<<10)), strings.Count(body, want); refused == 0 || large+refused != 4 || !strings.Contains(body, `{\"done\":true}`) {
		t.Errorf("%d large answers, %d refused, %d bytes", large, refused, len(body))
	}
	if !g.room.answers.TryAcquire(g.room.capacity) {
		t.Error("room was not given back after a refusal")
	}
}

// TestHalfForEachCaller: the large answers of one caller leave the other half of the room to others; who waits longer than its call may take is told.
func TestHalfForEachCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &room{capacity: 8, answers: semaphore.NewWeighted(8), shares: map[sharer]*share{}}
		one, two := sharer{principal: "one"}, sharer{principal: "two"}
		take := func(of sharer, n int64) error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			return r.takePlace(ctx, of, n)
		}
		for _, of := range []sharer{one, two} {
			if err := take(of, 4); err != nil {
				t.Fatal(err)
			}
		}
		r.shrinkPlace(two, 4, 0)
		err := take(one, 1)
		if err == nil {
			t.Fatal("more than a half")
		}
		if f := noPlace(err).(*failure); f.outcome != "overloaded" || !strings.HasPrefix(f.text, "The gateway has no room for an answer of this size now") { //nolint:errorlint // it makes nothing else
			t.Error(f.outcome, f.text)
		}
		if f := noPlace(context.Canceled).(*failure); f.outcome != "canceled" { //nolint:errorlint // the same
			t.Error(f.outcome)
		}
		waited := make(chan error)
		go func() { waited <- take(one, 1) }()
		synctest.Wait()
		r.shrinkPlace(one, 4, 3)
		if err := <-waited; err != nil {
			t.Error(err)
		}
		if r.tryPlace(one, 1, 2) || !r.tryPlace(sharer{}, 0, 4) || r.tryPlace(sharer{}, 4, 5) {
			t.Error("more than is there, or less")
		}
		r.shrinkPlace(sharer{}, 4, 0)
		r.shrinkPlace(one, 3, 0)
		r.shrinkPlace(one, 1, 0)
		if len(r.shares) != 0 || !r.answers.TryAcquire(8) {
			t.Errorf("something is left: %v", r.shares)
		}
	})
}

package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"drawbridge/gateway"
	"drawbridge/gateway/admission"
	"drawbridge/test/gatewaytest"
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
func withRoom(g *gateway.Gateway, capacity int64) {
	b := admission.NewResponseBudget(capacity)
	g.SetResponses(b)
}

// tryReserve reserves n bytes of the room for large answers if they are free now.
func tryReserve(t *testing.T, g *gateway.Gateway, n int64) (release func(), ok bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second) // a reservation waits for its first byte only, if there is none
	defer cancel()
	r := g.Responses().NewReservation(admission.Caller{})
	if r.Begin(ctx, 1, 0) != nil || r.Begin(ctx, n, 0) != nil {
		r.End()
		return nil, false
	}
	return r.End, true
}

// TestSlowReaderHoldsNoPlace: who does not read its answer holds neither the room of the API nor one of max_calls, and of the room for large answers
// no more than is in memory.
func TestSlowReaderHoldsNoPlace(t *testing.T) {
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "large600"), "apis: [{name: shop, spec: $SPEC, base_url: $BASE, max_in_flight: 1, max_queued: 0}]\nlimits: {max_calls: 1, max_result_tokens: 0}\n", largeService(t))
	withRoom(g, 16<<20)
	w := newStuck()
	slow := gatewaytest.NewClient(t, stuckTo(g.Handler(), w), "2026-07-28", "")
	slow.Header.Set("Stuck", "1")
	done := make(chan struct{})
	go func() {
		defer close(done)
		slow.Call("large600")
	}()
	timebox.Wait(t, w.writes)
	for range 2 {
		if w := gatewaytest.NewClient(t, g.Handler(), "2026-07-28", "").Call("list"); !gatewaytest.Succeeded(w) {
			t.Errorf("a call beside it: %d %s", w.Code, w.Body)
		}
	}
	const most = 3 * (600 << 10) // the answer, and it once more as it goes out
	if free, ok := tryReserve(t, g, g.Responses().Capacity()-most); !ok {
		t.Error("it holds more room than it needs")
	} else {
		free()
	}
	if _, ok := tryReserve(t, g, g.Responses().Capacity()-600<<10); ok {
		t.Error("it holds no room")
	}
	close(w.reads)
	timebox.Wait(t, done)
	if !strings.Contains(w.Body.String(), strings.Repeat("x", 600<<10)) {
		t.Errorf("the answer: %d, %d bytes", w.Code, w.Body.Len())
	}
	holdAll(t, g)()
	if n := g.Overload().InFlight(); n != 0 {
		t.Errorf("%d calls still run", n)
	}
}

// TestBatchOfLargeAnswers: together they are no larger than one may be, and hold their place until they are out.
func TestBatchOfLargeAnswers(t *testing.T) {
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "large600", "large700"), "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nlimits: {max_answer: 2MiB, max_result_tokens: 0}\n", largeService(t))
	withRoom(g, 2<<20)
	w := newStuck()
	c := gatewaytest.NewClient(t, stuckTo(g.Handler(), w), "2025-03-26", "")
	c.Send("ping", "", "")
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}, "Mcp-Session-Id": {c.Session}, "Stuck": {"1"}}
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
		gatewaytest.Post(c.H, header, batch("large600", "list", "large700"))
	}()
	timebox.Wait(t, w.writes)
	if _, ok := tryReserve(t, g, g.Responses().Capacity()-1300<<10); ok {
		t.Error("a batch that is not out holds no room")
	}
	close(w.reads)
	timebox.Wait(t, done)
	if body := w.Body.String(); strings.Contains(body, `"isError"`) || !strings.Contains(body, strings.Repeat("x", 700<<10)) || !strings.Contains(body, `{\"done\":true}`) {
		t.Errorf("%d, %d bytes", w.Code, len(body))
	}
	holdAll(t, g)()

	header.Del("Stuck")
	body := gatewaytest.Post(g.Handler(), header, batch("large700", "large700", "list", "large700", "large700")).Body.String()
	const want = `"text":"The answers to the calls of this request are too large together. The call changed nothing: make it by itself, or ask for less."}],"isError":true`
	if large, refused := strings.Count(body, strings.Repeat("x", 700<<10)), strings.Count(body, want); refused == 0 || large+refused != 4 || !strings.Contains(body, `{\"done\":true}`) {
		t.Errorf("%d large answers, %d refused, %d bytes", large, refused, len(body))
	}
	holdAll(t, g)
}

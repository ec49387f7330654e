package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/gateway"
	"drawbridge/gateway/telemetry"
	"drawbridge/test/gatewaytest"
)

const libraryDocument = `openapi: 3.1.0
info: {title: Library, version: "1"}
paths:
  /books/{id}:
    get:
      operationId: book
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {"200": {description: ok}}
`

// libraryService has a book for each id; those of the host slow.test take as long as they are waited for.
type libraryService struct {
	mu    sync.Mutex
	asked map[string]int // by host
}

func (s *libraryService) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.asked[r.URL.Host]++
	s.mu.Unlock()
	if r.URL.Host == "slow.test" {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/plain"}}, Body: http.NoBody, Request: r}, nil
}

func (s *libraryService) of(host string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[host]
}

// listenTo listens to resources for a while, and returns the acknowledgement.
func listenTo(t *testing.T, g *gateway.Gateway, leave, scheme string, from, to int) string {
	var uris []string
	for n := from; n < to; n++ {
		uris = append(uris, fmt.Sprintf("%q", fmt.Sprint(scheme, ":", n)))
	}
	status, messages := gatewaytest.CallJob(t, g, gatewaytest.JobCall{Method: "subscriptions/listen", Leave: leave,
		Params: fmt.Sprintf(`"notifications":{"resourceSubscriptions":[%s]}`, strings.Join(uris, ","))}, "")
	if status != http.StatusOK || len(messages) == 0 {
		t.Errorf("listening = %d with %d messages", status, len(messages))
		return ""
	}
	return string(messages[0])
}

// TestWatchesCount: who begins to listen to what nobody listens to has it read at once, and that counts as a call. Otherwise nobody could ask for more
// in a second than by beginning to listen again and again.
func TestWatchesCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &libraryService{asked: map[string]int{}}
		g := gatewaytest.StartJobs(t, libraryDocument, `apis: [{name: library, spec: $SPEC, base_url: $BASE, rate: {rate: 1/h, burst: 2}}]
rules: [{match: {operation: book}, set: {resource: {uri: "book:{id}", poll: 1m}}}]
`, service)
		acknowledged := 0
		for range 3 {
			acknowledged += strings.Count(listenTo(t, g, "1s", "book", 0, 10), "book:")
		}
		if n := service.of("jobs.test"); n != 2 || acknowledged != 2 {
			t.Errorf("%d requests for %d subscriptions", n, acknowledged)
		}
		status, answer := gatewaytest.CallJob(t, g, gatewaytest.JobCall{Method: "resources/subscribe", Revision: "2025-11-25", Params: `"uri":"book:1"`}, "")
		if status != http.StatusTooManyRequests || !strings.Contains(string(answer[0]), `too many calls of the API \"library\"`) {
			t.Errorf("a client of before = %d %s", status, answer)
		}
		if got := counted(t, g.Counters().Refused[telemetry.RefusedAPIRate]); got != 29 {
			t.Errorf("%v refusals were counted", got)
		}
		g.Subscriptions().End()
	})
}

// TestSlowWatches: looks at a slow API leave room for its calls, and hold up the looks at no other.
func TestSlowWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &libraryService{asked: map[string]int{}}
		g := gatewaytest.StartJobs(t, libraryDocument, `apis:
  - {name: slow, spec: $SPEC, base_url: "http://slow.test/v1"}
  - {name: quick, spec: $SPEC, base_url: $BASE}
rules:
  - {match: {api: slow}, set: {resource: {uri: "slow:{id}"}}}
  - {match: {api: quick}, set: {resource: {uri: "quick:{id}"}}}
`, service)
		var all sync.WaitGroup
		all.Go(func() { listenTo(t, g, "20s", "slow", 0, 200) })
		time.Sleep(time.Second)
		listenTo(t, g, "1s", "quick", 0, 1)
		if slow, quick := service.of("slow.test"), service.of("jobs.test"); quick != 1 || slow != 16 {
			t.Errorf("%d looks at the slow API, and %d at the other", slow, quick)
		}
		all.Wait()
		g.Subscriptions().End()
	})
}

package call_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"drawbridge/test/gatewaytest"
	"drawbridge/test/race"
	"drawbridge/test/timebox"
)

var keptCalls = flag.Int("kept-calls", 20_000, "calls of TestKeptAnswersStayApart; a quarter of them with the race detector")

// TestKeptAnswersStayApart makes interleaved calls of two users, in both eras, of tools and of resources, with the cache on and answers
// that become stale all the time: nobody ever sees an answer that was made for the other (P8, P9; figure 18). Each answer of the service
// has a number of its own, so it is enough that no number is seen by both; where the service is told of the caller, the answer names
// them, too. With -args -kept-calls=1000000 it is the whole figure.
func TestKeptAnswersStayApart(t *testing.T) {
	calls := race.Fewer(*keptCalls, *keptCalls/4)
	var n atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		number := n.Add(1)
		w.Header().Set("Content-Type", "application/json")
		switch number % 5 {
		case 0:
			w.Header().Set("Cache-Control", "max-age=1")
		case 1:
			w.Header().Set("Cache-Control", "no-cache")
			w.Header().Set("ETag", `"`+strconv.FormatInt(number, 10)+`"`)
		}
		if tag := r.Header.Get("If-None-Match"); tag != "" && number%3 == 0 {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = fmt.Fprintf(w, `{"answer":%d,"who":%q}`, number, r.Header.Get("X-Who"))
	}))
	defer service.Close()
	i := gatewaytest.NewIDP(t)
	g := gatewaytest.Start(t, gatewaytest.KeeperDocument, fmt.Sprintf(`server: {public_url: https://mcp.example.com}
auth: {issuers: [%s], default_scopes: [mcp:tools]}
apis:
  - {name: plain, spec: $SPEC, base_url: $BASE}
  - {name: told, spec: $SPEC, base_url: $BASE, pass_headers: [X-Who]}
rules: [{match: {method: GET}, set: {cache: {ttl: 2s, max_bytes: 4KiB}, resource: true}}]
limits: {cache: 256KiB, principal_rate: off}
`, gatewaytest.Issuers(i)), service.URL)
	users := []string{"alice", "bob"}
	tokens := map[string]string{}
	for _, user := range users {
		tokens[user] = i.Token(t, map[string]any{"sub": user, "exp": time.Now().Add(24 * time.Hour).Unix()})
	}
	var mu sync.Mutex
	seenBy := map[int]string{}
	var left atomic.Int64
	left.Store(int64(calls))
	var callers sync.WaitGroup
	for worker := range 8 {
		callers.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(worker)))
			user := users[worker%2]
			c := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[worker/2%2], tokens[user])
			c.Header.Set("X-Who", user)
			for left.Add(-1) >= 0 && !t.Failed() {
				api := []string{"plain", "told"}[random.IntN(2)]
				id := random.IntN(5)
				var w *httptest.ResponseRecorder
				switch random.IntN(20) {
				case 0:
					w = c.Send("tools/call", api+"_place", "{}")
				case 1:
					c.Send("tools/call", api+"_remove", fmt.Sprintf(`{"id":%d}`, id))
					continue
				case 2, 3, 4, 5, 6:
					w = c.Read(fmt.Sprintf("drawbridge://%s/orders/%d", api, id))
				case 7, 8, 9, 10:
					w = c.Send("tools/call", api+"_list", fmt.Sprintf(`{"page":%d}`, id))
				default:
					w = c.Send("tools/call", api+"_order", fmt.Sprintf(`{"id":%d}`, id))
				}
				m := gatewaytest.SoakAnswer.FindStringSubmatch(w.Body.String())
				if m == nil {
					t.Errorf("%d %s", w.Code, w.Body)
					return
				}
				if m[2] != "" && m[2] != user {
					t.Errorf("%s got the answer of %s", user, m[2])
				}
				number, _ := strconv.Atoi(m[1])
				mu.Lock()
				if by := seenBy[number]; by != "" && by != user {
					t.Errorf("%s got an answer that was made for %s", user, by)
				}
				seenBy[number] = user
				mu.Unlock()
			}
		})
	}
	timebox.Done(t, callers.Wait)
	hits := 0
	for _, line := range gatewaytest.MetricLines(g, "drawbridge_cache_total{", `outcome="hit"`) {
		n, _ := strconv.Atoi(line[strings.LastIndexByte(line, ' ')+1:])
		hits += n
	}
	if hits < calls/10 {
		t.Errorf("%d hits of %d calls show nothing", hits, calls)
	}
	t.Logf("%d calls, %d requests, %d hits", calls, n.Load(), hits)
}

package gateway_test

import (
	"context"
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

	"github.com/alicebob/miniredis/v2"

	"drawbridge/gateway"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/race"
	"drawbridge/test/timebox"
)

// replicas are gateways with one configuration, and one Redis.
func replicas(t *testing.T, m *miniredis.Miniredis, n int, api, cfg, base string) []*gateway.Gateway {
	t.Helper()
	c := gatewaytest.Configure(t, t.TempDir(), api, strings.ReplaceAll(cfg, "$REDIS", "redis://"+m.Addr()), base)
	var all []*gateway.Gateway
	for range n {
		g, err := gateway.New(gateway.Options{Config: c, Version: "1.0.0"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = g.Shared().Run(ctx)
		}()
		t.Cleanup(func() { cancel(); timebox.Wait(t, done) })
		all = append(all, g)
	}
	for _, g := range all {
		for end := time.Now().Add(10 * time.Second); !g.Shared().Status().Up; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("Redis is not reached")
			}
		}
	}
	return all
}

const sharedAnswers = `server: {public_url: https://mcp.example.com, seal_keys: ["${KEY:-the-key-of-all-replicas-0123456789}"]}
auth: {issuers: [%s], default_scopes: [mcp:tools]}
apis:
  - {name: plain, spec: $SPEC, base_url: $BASE}
  - {name: told, spec: $SPEC, base_url: $BASE, pass_headers: [X-Who]}
rules: [{match: {method: GET}, set: {cache: {ttl: %s, max_bytes: 4KiB}, resource: true}}]
limits: {cache: 256KiB, principal_rate: off, address_rate: off}
state: {redis: {url: "$REDIS", answers: true, timeout: 1s}}
`

// TestAnswersOfReplicas: what one replica keeps another gives out, to the same caller alone, until something there is changed at either.
func TestAnswersOfReplicas(t *testing.T) {
	i, service, m := gatewaytest.NewIDP(t), gatewaytest.NewCounting(t), miniredis.RunT(t)
	all := replicas(t, m, 2, gatewaytest.KeeperDocument, fmt.Sprintf(sharedAnswers, gatewaytest.Issuers(i), "1h"), service.URL)
	client := func(n int, user string) *gatewaytest.Client {
		return gatewaytest.NewClient(t, all[n].Handler(), gatewaytest.Eras[1], i.Token(t, map[string]any{"sub": user}))
	}
	order := func(n int, user string) string {
		return gatewaytest.AnswerOf(t, client(n, user).Send("tools/call", "plain_order", `{"id":7}`))
	}
	kept := func(prefix string, n int) {
		t.Helper()
		for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
			count := strings.Count(strings.Join(m.Keys(), "\n"), prefix)
			if count >= n {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%d keys %s, want %d", count, prefix, n)
			}
		}
	}
	first := order(0, "alice")
	kept("drawbridge:answer:", 1)
	if got := order(1, "alice"); got != first {
		t.Errorf("answer %s at another replica, want %s", got, first)
	}
	if got := order(1, "bob"); got == first {
		t.Error("bob got the answer of alice")
	}
	lines := strings.Join(gatewaytest.MetricLines(all[1], `api="plain"`), "\n")
	for _, want := range []string{`drawbridge_cache_total{api="plain",outcome="shared"} 1`, `outcome="miss"} 1`} {
		if !strings.Contains(lines, want) {
			t.Errorf("no %s in\n%s", want, lines)
		}
	}
	for end := time.Now().Add(10 * time.Second); order(0, "alice") == first; time.Sleep(20 * time.Millisecond) {
		client(1, "bob").Send("tools/call", "plain_remove", `{"id":7}`) // again: who has just begun may not listen yet
		if time.Now().After(end) {
			t.Fatal("a change at another replica is not heard of")
		}
	}
	m.Close()
	if a, b := order(0, "carol"), order(0, "carol"); a != b {
		t.Errorf("without Redis: answers %s, %s", a, b)
	}
}

// TestSharedAnswersStayApart makes interleaved calls of two users at two replicas that share answers, in both eras, while somebody moves
// values in Redis from name to name: nobody ever sees an answer that was made for the other.
func TestSharedAnswersStayApart(t *testing.T) {
	var n atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		number := n.Add(1)
		w.Header().Set("Content-Type", "application/json")
		if number%5 == 0 {
			w.Header().Set("Cache-Control", "max-age=1")
		}
		_, _ = fmt.Fprintf(w, `{"answer":%d,"who":%q}`, number, r.Header.Get("X-Who"))
	}))
	defer service.Close()
	i, m := gatewaytest.NewIDP(t), miniredis.RunT(t)
	all := replicas(t, m, 2, gatewaytest.KeeperDocument, fmt.Sprintf(sharedAnswers, gatewaytest.Issuers(i), "2s"), service.URL)
	var mu sync.Mutex
	seenBy := map[int]string{}
	var left atomic.Int64
	left.Store(int64(race.Fewer(4000, 1500)))
	stop, lying := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(lying)
		random := rand.New(rand.NewPCG(3, 3))
		for {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
			}
			var names []string
			for _, name := range m.Keys() {
				if strings.HasPrefix(name, "drawbridge:answer:") {
					names = append(names, name)
				}
			}
			if len(names) > 1 {
				a, b := names[random.IntN(len(names))], names[random.IntN(len(names))]
				x, _ := m.Get(a)
				_ = m.Set(b, x)
				m.SetTTL(b, time.Minute)
			}
		}
	}()
	users := []string{"alice", "bob"}
	var callers sync.WaitGroup
	for worker := range 8 {
		user := users[worker%2]
		token := i.Token(t, map[string]any{"sub": user, "exp": time.Now().Add(24 * time.Hour).Unix()})
		callers.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(worker)))
			clients := []*gatewaytest.Client{gatewaytest.NewClient(t, all[0].Handler(), gatewaytest.Eras[worker/2%2], token), gatewaytest.NewClient(t, all[1].Handler(), gatewaytest.Eras[worker/2%2], token)}
			for left.Add(-1) >= 0 && !t.Failed() {
				c := clients[random.IntN(2)]
				c.Header.Set("X-Who", user)
				tool, arguments := []string{"plain_order", "told_order", "plain_list"}[random.IntN(3)], fmt.Sprintf(`{"id":%d}`, random.IntN(8))
				if tool == "plain_list" {
					arguments = strings.Replace(arguments, "id", "page", 1)
				}
				if random.IntN(40) == 0 {
					c.Send("tools/call", "plain_remove", fmt.Sprintf(`{"id":%d}`, random.IntN(8)))
					continue
				}
				w := c.Send("tools/call", tool, arguments)
				found := gatewaytest.SoakAnswer.FindStringSubmatch(w.Body.String())
				if found == nil {
					t.Errorf("%d %s", w.Code, w.Body)
					return
				}
				number, _ := strconv.Atoi(found[1])
				mu.Lock()
				if by := seenBy[number]; by != "" && by != user || found[2] != "" && found[2] != user {
					t.Errorf("%s got an answer that was made for %s%s", user, by, found[2])
				}
				seenBy[number] = user
				mu.Unlock()
			}
		})
	}
	timebox.Done(t, callers.Wait)
	close(stop)
	timebox.Wait(t, lying)
	shared := 0
	for _, g := range all {
		for _, line := range gatewaytest.MetricLines(g, "drawbridge_cache_total{", `outcome="shared"`) {
			n, _ := strconv.Atoi(line[strings.LastIndexByte(line, ' ')+1:])
			shared += n
		}
	}
	if shared < race.Fewer(20, 5) {
		t.Errorf("%d answers of another replica show nothing", shared)
	}
	t.Logf("%d requests, %d answers of another replica", n.Load(), shared)
}

package gateway_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/gateway/state"
	"drawbridge/gateway/telemetry"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// TestMaxCalls is L4: a call for which there is no room is told to come again, whatever revision it speaks and however it is made; lists are
// served, and when there is room again, it is.
func TestMaxCalls(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			entered <- struct{}{}
			<-leave
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"done":true}`)
	}))
	defer service.Close()
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "slow"), "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nlimits: {max_calls: 1, principal_rate: off}\n"+
		"rules: [{match: {operation: list}, set: {resource: {uri: \"shop://list\"}}}]\n", service.URL)
	h := g.Handler()
	done := make(chan *httptest.ResponseRecorder)
	go func() { done <- gatewaytest.NewClient(t, h, "2026-07-28", "").Call("slow") }()
	timebox.Wait(t, entered)
	for _, revision := range gatewaytest.Eras {
		c := gatewaytest.NewClient(t, h, revision, "")
		if w := c.Send("tools/list", "", ""); w.Code != 200 {
			t.Errorf("%s: tools/list = %d %s", revision, w.Code, w.Body)
		}
		w := c.Call("list")
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" || len(w.Header().Get("X-Request-Id")) != 16 ||
			!strings.Contains(w.Body.String(), `"message":"too many calls run: come again in 1 second; lists are served"`) {
			t.Errorf("%s: %d %v %s", revision, w.Code, w.Header(), w.Body)
		}
		if status, body := gatewaytest.Ask(t, h, revision, "resources/read", "", `"uri":"shop://list"`); revision < "2026" && (status != http.StatusServiceUnavailable || !strings.Contains(string(body), "too many calls run")) {
			t.Errorf("%s: resources/read = %d %s", revision, status, body)
		}
	}
	if n := counted(t, g.Counters().Refused[telemetry.RefusedOverload]); n < float64(len(gatewaytest.Eras)) {
		t.Errorf("%v refusals counted", n)
	}
	close(leave)
	if w := timebox.Receive(t, done); !gatewaytest.Succeeded(w) {
		t.Errorf("the call that ran: %d %s", w.Code, w.Body)
	}
	if w := gatewaytest.NewClient(t, h, "2026-07-28", "").Call("list"); !gatewaytest.Succeeded(w) {
		t.Errorf("when there is room again: %d %s", w.Code, w.Body)
	}
	if n := g.Overload().InFlight(); n != 0 {
		t.Errorf("%d calls still run", n)
	}
}

// heldRates has whoever counts a call wait.
type heldRates struct {
	state.RateCounters
	waiting atomic.Int64
	leave   chan struct{}
}

func (r *heldRates) Take(ctx context.Context, key string, l state.Limit, n int) (state.Decision, error) {
	r.waiting.Add(1)
	<-r.leave
	return r.RateCounters.Take(ctx, key, l, n)
}

// TestMaxCallsAtOnce: however many calls have found room, and then waited for something else, no more than limits.max_calls go on.
func TestMaxCallsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &slowService{JobService: gatewaytest.NewJobService("204"), delay: time.Second}
		g := gatewaytest.StartJobs(t, gatewaytest.Document("Shop", "list"), "apis: [{name: shop, spec: $SPEC, base_url: $BASE, rate: {rate: 100/s, burst: 100}}]\n"+
			"limits: {max_calls: 2, principal_rate: off, address_rate: off}\n", service)
		rates := &heldRates{RateCounters: g.Shared().Rates, leave: make(chan struct{})}
		g.SetRates(rates)
		var all sync.WaitGroup
		var mu sync.Mutex
		got := map[int]int{}
		for range 10 {
			all.Go(func() {
				status, _ := gatewaytest.CallJob(t, g, gatewaytest.JobCall{Name: "list"}, "")
				mu.Lock()
				defer mu.Unlock()
				got[status]++
			})
		}
		synctest.Wait()
		if n := rates.waiting.Load(); n != 10 {
			t.Fatalf("%d calls wait", n)
		}
		close(rates.leave)
		all.Wait()
		if n := strings.Count(service.List(), "\n"); n != 2 || got[200] != 2 || got[503] != 8 {
			t.Errorf("%d requests, answers %v", n, got)
		}
		if n := counted(t, g.Counters().Refused[telemetry.RefusedOverload]); n != 8 {
			t.Errorf("%v refusals counted", n)
		}
		if n := g.Overload().InFlight(); n != 0 {
			t.Errorf("%d calls still run", n)
		}
	})
}

// TestLargeAnswersWait: large answers that find no room wait for each other, small ones don't, and none is lost.
func TestLargeAnswersWait(t *testing.T) {
	large := `{"text":"` + strings.Repeat("x", 600<<10) + `"}`
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/large" {
			_, _ = io.WriteString(w, large)
			return
		}
		_, _ = io.WriteString(w, `{"done":true}`)
	}))
	defer service.Close()
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "large"), "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nlimits: {max_result_tokens: 0}\n", service.URL)
	withRoom(g, 1<<20)
	free, ok := tryReserve(t, g, 1)
	if !ok {
		t.Fatal("no room at all")
	}
	done := make(chan *httptest.ResponseRecorder, 2)
	for range 2 {
		go func() { done <- gatewaytest.NewClient(t, g.Handler(), "2026-07-28", "").Call("large") }()
	}
	for range 3 {
		if w := gatewaytest.NewClient(t, g.Handler(), "2026-07-28", "").Call("list"); !gatewaytest.Succeeded(w) {
			t.Errorf("a small answer: %d %s", w.Code, w.Body)
		}
	}
	select {
	case w := <-done:
		t.Errorf("a large answer did not wait: %d", w.Code)
	case <-time.After(50 * time.Millisecond):
	}
	free()
	for range 2 {
		if w := timebox.Receive(t, done); w.Code != 200 || !strings.Contains(w.Body.String(), strings.Repeat("x", 600<<10)) {
			t.Errorf("a large answer: %d, %d bytes", w.Code, w.Body.Len())
		}
	}
	holdAll(t, g)
}

// TestConnections is H8: connections are bounded in all and for each address, but for peers on loopback and proxies; what is too many is
// closed, and what was closed makes room.
func TestConnections(t *testing.T) {
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), "server: {trusted_proxies: [10.0.0.1]}\nauth: {anonymous: true}\napis: [{name: shop, spec: $SPEC}]\n"+
		"limits: {max_connections: 8, max_connections_per_address: 2}\n", "")
	inner := &gatewaytest.Accepted{Conns: make(chan net.Conn, 20)}
	l := g.Listener(inner)
	var open []net.Conn
	come := func(address string, want bool) {
		t.Helper()
		server, client := net.Pipe()
		inner.Conns <- gatewaytest.Remote{Conn: server, Address: address}
		inner.Conns <- nil
		conn, err := l.Accept()
		if (err == nil) != want {
			t.Fatalf("%s: %v, want %v", address, err, want)
		}
		if err == nil {
			open = append(open, conn)
			timebox.Wait(t, inner.Conns)
			return
		}
		if _, err := client.Read(make([]byte, 1)); err != io.EOF { //nolint:errorlint // net.Pipe returns it so
			t.Errorf("%s: not closed: %v", address, err)
		}
	}
	come("192.0.2.1:1", true)
	come("192.0.2.1:2", true)
	come("192.0.2.1:3", false)
	come("[2001:db8::1]:1", true)
	come("[2001:db8::2]:1", true)
	come("[2001:db8::3]:1", false)
	for range 3 {
		come("10.0.0.1:1", true)
	}
	come("127.0.0.1:1", true)
	come("127.0.0.1:1", false) // eight in all
	if err := open[0].Close(); err != nil {
		t.Fatal(err)
	}
	_ = open[0].Close() // which counts once
	come("192.0.2.1:4", true)
	come("192.0.2.1:5", false)
	for because, want := range map[telemetry.RefusalReason]float64{telemetry.RefusedAddressConnections: 3, telemetry.RefusedConnections: 1} {
		if n := counted(t, g.Counters().Refused[because]); n != want {
			t.Errorf("%v refusals counted for %s, want %v", n, because, want)
		}
	}
	for _, c := range open {
		_ = c.Close()
	}
	if _, total := g.Connections().Held(netip.Prefix{}); total != 0 {
		t.Errorf("%d are open", total)
	}
}

// TestAnonymousStreams: without tokens the address is who has too many streams, and others are served.
func TestAnonymousStreams(t *testing.T) {
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), "auth: {anonymous: true}\napis: [{name: shop, spec: $SPEC}]\nlimits: {max_streams_per_caller: 2}\n", "")
	var address atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.RemoteAddr = address.Load().(string)
		g.Handler().ServeHTTP(w, r)
	}))
	defer server.Close()
	defer func() {
		if err := g.EndStreams(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	refused := func() bool {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/mcp", strings.NewReader(listenBody))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"text/event-stream"}, "Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"subscriptions/listen"}}
		resp, err := server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		return resp.StatusCode == http.StatusTooManyRequests
	}
	address.Store("192.0.2.1:1")
	gatewaytest.Listen(t, server, "/mcp", "2026-07-28", "")
	first := gatewaytest.Listen(t, server, "/mcp", "2025-11-25", "")
	if !refused() {
		t.Error("a third stream of one address was opened")
	}
	address.Store("192.0.2.2:1")
	gatewaytest.Listen(t, server, "/mcp", "2026-07-28", "")
	address.Store("127.0.0.1:1")
	for range 4 {
		gatewaytest.Listen(t, server, "/mcp", "2026-07-28", "")
	}
	first.Cancel()
	first.Want("end")
	address.Store("192.0.2.1:1")
	for range 100 {
		if !refused() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("a stream that has ended makes no room")
}

package state

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"drawbridge/gateway/mcp"
	"drawbridge/test/timebox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// logged is a log that tests read.
type logged struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// newShared makes one that has not begun.
func newShared(t testing.TB, address string, log io.Writer, registry prometheus.Registerer) *Shared {
	t.Helper()
	seal, err := mcp.NewSealer([][]byte{[]byte("common")}, "test")
	if err != nil {
		t.Fatal(err)
	}
	if log == nil {
		log = io.Discard
	}
	// A test's machine is busy: what is held against the time that a call waits is measured elsewhere.
	return NewShared(SharedOptions{Network: "tcp", Address: address, Prefix: "gate", Timeout: time.Second, Seal: seal, Key: []byte("names"),
		Logger: slog.New(slog.NewTextHandler(log, nil)), Metrics: registry})
}

// begin runs it until the end of the test, and waits until it has reached Redis.
func begin(t testing.TB, s *Shared) *Shared {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		timebox.Wait(t, done)
	})
	return s
}

// eventually waits for what other goroutines do.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 10 s: %s", what)
		}
	}
}

// pair is two replicas with one Redis, both of which hear each other once they have something to hear.
func pair(t testing.TB, m *miniredis.Miniredis, prepare func(a, b *Shared)) (a, b *Shared) {
	t.Helper()
	a, b = newShared(t, m.Addr(), nil, nil), newShared(t, m.Addr(), nil, nil)
	if prepare != nil {
		prepare(a, b)
	}
	for _, s := range []*Shared{a, b} {
		begin(t, s)
		eventually(t, "Redis is reached", func() bool {
			_, listens := s.bus.subscription()
			return s.Status().Up && (listens || len(s.bus.handlers) == 0)
		})
	}
	return a, b
}

// TestBreaker: a Redis that is away is tried by one call, and by probes; the log says once that it went and once that it came.
func TestBreaker(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	log, registry := &logged{}, prometheus.NewRegistry()
	s := newShared(t, m.Addr(), log, registry)
	once := s.Once(NewLocalOnce(nil), true)
	if first, err := once.Spend(t.Context(), "alice", "before", time.Now().Add(time.Minute)); !first || err != nil {
		t.Errorf("before it has begun: %v %v", first, err)
	}
	begin(t, s)
	eventually(t, "it is reached", func() bool { return s.Status().Up })
	m.Close()
	until := time.Now().Add(time.Minute)
	for i, id := range []string{"a", "b", "c"} {
		if _, err := once.Spend(t.Context(), "alice", id, until); !errors.Is(err, ErrAway) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if n := testutil.ToFloat64(s.failures[useOnce]); n != 3 {
		t.Errorf("%v errors are counted", n)
	}
	if st := s.Status(); st.Up || st.Reason == "" || st.Replicas != 1 {
		t.Errorf("status %+v", st)
	}
	if err := m.Restart(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is reached again", func() bool { return s.Status().Up })
	if first, err := once.Spend(t.Context(), "alice", "d", until); !first || err != nil {
		t.Errorf("again: %v %v", first, err)
	}
	// The status changes before the line is written.
	eventually(t, "the log says so", func() bool { return strings.Count(log.String(), "connected to the shared state") >= 2 })
	if gone, came := strings.Count(log.String(), "is unreachable"), strings.Count(log.String(), "connected to the shared state"); gone != 1 || came != 2 {
		t.Errorf("the log tells %d times that it went and %d times that it came:\n%s", gone, came, log)
	}
	if n, err := testutil.GatherAndCount(registry); n != 2+len(uses) || err != nil {
		t.Errorf("%d metrics, %v", n, err)
	}
}

// TestSlowRedis: one that takes a connection and never answers costs the calls that meet it their time once, and the others nothing.
func TestSlowRedis(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	hole := newHole(t, m.Addr())
	seal, _ := mcp.NewSealer([][]byte{[]byte("common")}, "test")
	s := begin(t, NewShared(SharedOptions{Network: "tcp", Address: hole.address(), Prefix: "gate", Timeout: 200 * time.Millisecond, Seal: seal}))
	rates := s.RateCounters(NewLocalRateCounters(0, nil), false)
	take := func() time.Duration {
		t.Helper()
		began := time.Now()
		if d, err := rates.Take(t.Context(), "k", Limit{time.Second, 1000}, 1); !d.Allowed || err != nil {
			t.Errorf("%+v %v", d, err)
		}
		return time.Since(began)
	}
	eventually(t, "it is reached", func() bool { return s.Status().Up })
	take()
	hole.swallow(true)
	if waited := take(); waited < 150*time.Millisecond {
		t.Skipf("something else has noticed it before, after %v", waited)
	}
	for range 100 {
		if waited := take(); waited > 100*time.Millisecond {
			t.Errorf("a call behind it has waited for %v", waited)
		}
	}
	hole.swallow(false)
	eventually(t, "it is reached again", func() bool { return s.Status().Up })
}

// TestOneSlowUse: a command that is late pauses the use that it is for, and no other; the log tells once, and the use comes back.
func TestOneSlowUse(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	hole, log := newHole(t, m.Addr()), &logged{}
	seal, _ := mcp.NewSealer([][]byte{[]byte("common")}, "test")
	s := begin(t, NewShared(SharedOptions{Network: "tcp", Address: hole.address(), Prefix: "gate", Timeout: 300 * time.Millisecond, Seal: seal,
		Logger: slog.New(slog.NewTextHandler(log, nil))}))
	eventually(t, "it is reached", func() bool { return s.Status().Up })
	rates := s.RateCounters(NewLocalRateCounters(0, nil), true) // closed: what Redis is not asked is refused
	counted := func() bool {
		d, _ := rates.Take(t.Context(), "k", Limit{time.Millisecond, 1_000_000}, 1)
		return d.Allowed
	}
	lost := func() float64 { return testutil.ToFloat64(s.failures[useMessages]) }
	hole.delay("publish")
	waited, published := 0, 0
	for began := time.Now(); time.Since(began) < 1500*time.Millisecond; time.Sleep(10 * time.Millisecond) {
		before := time.Now()
		s.Bus().Publish(t.Context(), "topic", []byte("message"))
		if published++; time.Since(before) > 250*time.Millisecond {
			waited++
		}
		if !counted() || !s.Status().Up {
			t.Fatal("a slow command has taken another use with it")
		}
	}
	if waited > 5 || published < 2*waited || lost() != float64(published) {
		t.Errorf("%d of %d messages have waited, %v are counted", waited, published, lost())
	}
	if n := strings.Count(log.String(), "too slow for an operation"); n != 1 || !strings.Contains(log.String(), "use=messages") {
		t.Errorf("the log tells %d times:\n%s", n, log)
	}
	hole.delay("")
	eventually(t, "messages go again", func() bool {
		before := lost()
		s.Bus().Publish(t.Context(), "topic", []byte("message"))
		return lost() == before
	})
}

// TestJudge: after a pause one operation tries, the pause grows to a second, and one in time ends it.
func TestJudge(t *testing.T) {
	t.Parallel()
	j, now := &useBreaker{}, time.Unix(1_800_000_000, 0)
	lets := func(after time.Duration, want bool) {
		t.Helper()
		now = now.Add(after)
		if got := j.allow(now); got != want {
			t.Errorf("lets %v, want %v", got, want)
		}
	}
	lets(0, true)
	lets(0, true) // many at a time
	if !j.timedOut(now) || j.timedOut(now) {
		t.Error("the log is told once")
	}
	for _, pause := range []time.Duration{50, 100, 200, 400, 800, 1000, 1000} {
		lets(pause*time.Millisecond-1, false)
		lets(1, true)
		lets(time.Hour, false) // one tries already
		now = now.Add(-time.Hour)
		j.timedOut(now)
	}
	lets(time.Second, true)
	j.abandoned() // nobody knows: another tries
	lets(0, true)
	j.succeeded()
	lets(0, true)
	lets(0, true)
}

// hole is a proxy that can stop passing anything on, or one command.
type hole struct {
	l    net.Listener
	mu   sync.Mutex
	cond *sync.Cond
	shut bool
	slow string // the command, as the client writes it
	over bool
	open []net.Conn
}

func newHole(t *testing.T, to string) *hole {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &hole{l: l}
	h.cond = sync.NewCond(&h.mu)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			up, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", to)
			if err != nil {
				_ = c.Close()
				continue
			}
			h.mu.Lock()
			h.open = append(h.open, c, up)
			h.mu.Unlock()
			for _, way := range [][2]net.Conn{{c, up}, {up, c}} {
				wg.Go(func() {
					defer way[1].Close()
					b := make([]byte, 4096)
					for {
						n, err := way[0].Read(b)
						if err != nil {
							return
						}
						h.mu.Lock()
						for (h.shut || h.slow != "" && bytes.Contains(b[:n], []byte("\r\n"+h.slow+"\r\n"))) && !h.over {
							h.cond.Wait()
						}
						h.mu.Unlock()
						if _, err := way[1].Write(b[:n]); err != nil {
							return
						}
					}
				})
			}
		}
	})
	t.Cleanup(func() {
		h.mu.Lock()
		h.over = true
		h.cond.Broadcast()
		h.mu.Unlock()
		_ = l.Close()
		timebox.Done(t, wg.Wait)
	})
	return h
}

// cut breaks all connections that are there.
func (h *hole) cut() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.open {
		_ = c.Close()
	}
	h.open = nil
}

func (h *hole) address() string { return h.l.Addr().String() }

func (h *hole) swallow(shut bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.shut = shut
	h.cond.Broadcast()
}

func (h *hole) delay(command string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.slow = command
	h.cond.Broadcast()
}

// TestReplicasAreCounted: each replica knows how many there are, and fewer are believed only after a while.
func TestReplicasAreCounted(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	a, b := pair(t, m, nil)
	eventually(t, "there are two", func() bool { return a.Status().Replicas == 2 && b.Status().Replicas == 2 })
}

// TestFewerReplicas: fewer are believed when they were seen to be fewer for a while, over a Redis that was there all the time.
func TestFewerReplicas(t *testing.T) {
	t.Parallel()
	const left = -1 // Redis was
	now := time.Unix(1_800_000_000, 0)
	c := &replicaCount{}
	for i, step := range []struct {
		after   time.Duration
		n, want int64
	}{
		{0, 3, 3},
		{time.Minute, 1, 3}, // Redis was away, or this process stood still
		{2*replicaLife - 1, 2, 3},
		{1, 2, 2},
		{0, 5, 5},
		{0, 1 << 40, maxReplicas},
		{time.Second, 0, maxReplicas},
		{replicaLife, maxReplicas, maxReplicas}, // it was not for long
		{replicaLife, 0, maxReplicas},
		{2 * replicaLife, 0, 1},
		{0, 3, 3},
		{0, 2, 3},
		{replicaLife, left, 3},
		{time.Second, 1, 3}, // it came back empty
		{2*replicaLife - 1, 1, 3},
		{1, 1, 1},
	} {
		if now = now.Add(step.after); step.n == left {
			c.reset()
		} else {
			c.observe(step.n, now)
		}
		if c.n.Load() != step.want {
			t.Errorf("%d: %d, want %d", i, c.n.Load(), step.want)
		}
	}
}

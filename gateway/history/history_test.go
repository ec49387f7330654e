package history

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"
	"unsafe"

	"go.uber.org/goleak"

	"drawbridge/test/timebox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newRecorder() *Recorder {
	return New(Options{On: func() bool { return true }, Bodies: func() bool { return false }, Now: time.Now})
}

// near reports whether a latency is within the error that latencies states.
func near(got, want time.Duration) bool { return math.Abs(float64(got-want)) <= 0.091*float64(want) }

// TestPercentiles holds that percentiles are within the stated error of the true ones.
func TestPercentiles(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var l latencies
		all := make([]time.Duration, 1+random.IntN(500))
		for i := range all {
			all[i] = time.Duration(float64(100*time.Microsecond) * math.Exp2(random.Float64()*20))
			l.add(all[i])
		}
		slices.Sort(all)
		for _, p := range []float64{0.01, 0.5, 0.9, 0.99, 1} {
			want := all[int(math.Ceil(p*float64(len(all))))-1]
			if got := l.percentile(p); !near(got, want) {
				t.Fatalf("percentile %g of %d latencies: %s, want %s", p, len(all), got, want)
			}
		}
	}
	var l latencies
	if l.percentile(0.5) != 0 {
		t.Error("there is a percentile of no latencies")
	}
	l.add(time.Hour)
	l.add(0)
	if got := l.percentile(1); got < 60*time.Second {
		t.Errorf("the longest: %s", got)
	}
}

func TestMinutesPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder()
		r.Add(&Call{API: "a", OK: true, Duration: time.Millisecond, Result: 10})
		r.Add(&Call{API: "a", Duration: time.Second, Result: 10})
		time.Sleep(30 * time.Minute)
		r.Add(&Call{API: "b", OK: true, Duration: time.Millisecond, Result: 5})
		minutes, total := r.Recent(Minutes)
		if len(minutes) != Minutes || total.Calls != 3 || total.Failed != 1 || total.Result != 25 {
			t.Errorf("%d minutes, total %+v", len(minutes), total)
		}
		if last := minutes[Minutes-1]; last.Calls != 1 || last.Failed != 0 {
			t.Errorf("this minute: %+v", last)
		}
		a, b := r.APIs()["a"], r.APIs()["b"]
		if a.Calls != 2 || a.Failed != 1 || a.Result != 20 || b.Calls != 1 || b.Failed != 0 || b.Result != 5 {
			t.Errorf("by API: %+v, %+v", a, b)
		}
		if !near(a.P50, time.Millisecond) || !near(a.P99, time.Second) || !near(b.P99, time.Millisecond) {
			t.Errorf("by API: %+v, %+v", a, b)
		}
		time.Sleep(45 * time.Minute)
		if _, total := r.Recent(Minutes); total.Calls != 1 {
			t.Errorf("after 75 minutes: %+v", total)
		}
		if apis := r.APIs(); len(apis) != 1 {
			t.Errorf("after 75 minutes: %v", apis)
		}
	})
}

func TestLast(t *testing.T) {
	r := newRecorder()
	for i := range 3 * MaxCalls {
		r.Add(&Call{Tool: string(rune('a' + i%2)), Status: i})
	}
	if calls := r.Last(10, func(*Call) bool { return true }); len(calls) != 10 || calls[0].Status != 3*MaxCalls-1 || calls[9].Status != 3*MaxCalls-10 {
		t.Errorf("%d calls: %+v", len(calls), calls)
	}
	if calls := r.Last(2*MaxCalls, func(c *Call) bool { return c.Tool == "a" }); len(calls) != MaxCalls/2 {
		t.Errorf("%d calls of a tool", len(calls))
	}
	if calls := newRecorder().Last(1, func(*Call) bool { return true }); len(calls) != 0 {
		t.Errorf("calls without any: %+v", calls)
	}
}

// TestConcurrent is for the race detector.
func TestConcurrent(t *testing.T) {
	r := newRecorder()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 1000 {
				r.Add(&Call{API: string(rune('a' + i%20)), OK: true, Tool: "tool", Caller: "tool", Arguments: []byte("tool")})
			}
		})
		all.Go(func() {
			for range 100 {
				_, _ = r.Recent(Minutes)
				_ = r.APIs()
				for _, c := range r.Last(100, func(*Call) bool { return true }) {
					if c.Tool != "tool" || c.Caller != "tool" || string(c.Arguments) != "tool" || c.Client != "" {
						t.Errorf("half a call: %+v", c)
					}
				}
			}
		})
	}
	timebox.Done(t, all.Wait)
	if _, total := r.Recent(Minutes); total.Calls != 4000 {
		t.Errorf("%d calls", total.Calls)
	}
}

// TestTexts holds that texts are kept apart and cut, and that a call is not part of what clients and the gateway change later.
func TestTexts(t *testing.T) {
	r := newRecorder()
	long := strings.Repeat("é", 1<<20)
	body := bytes.Repeat([]byte{'x'}, MaxBody+1)
	r.Add(&Call{RPC: "tools/call", Tool: long, API: "shop", Caller: "anna", Client: long, Request: "R", Outcome: "ok", Arguments: body, Answer: []byte("yes")})
	body[0] = 'y'
	c := r.Last(1, func(*Call) bool { return true })[0]
	if c.RPC != "tools/call" || c.API != "shop" || c.Caller != "anna" || c.Request != "R" || c.Outcome != "ok" || string(c.Answer) != "yes" || c.Number != 1 {
		t.Errorf("%+v", c)
	}
	if len(c.Arguments) != MaxBody || c.Arguments[0] != 'x' {
		t.Errorf("%d bytes of arguments: %.10q", len(c.Arguments), c.Arguments)
	}
	for _, text := range []string{c.Tool, c.Client} {
		if len(text) > 128 || len(text) < 90 || !utf8.ValidString(text) || !strings.HasSuffix(text, "é…") {
			t.Errorf("cut: %q", text)
		}
	}
	r.Add(&Call{Tool: "b"})
	if c := r.Last(1, func(*Call) bool { return true })[0]; c.Tool != "b" || c.Caller != "" || len(c.Arguments)+len(c.Answer) > 0 {
		t.Errorf("%+v", c)
	}
}

// TestMemory holds the bounds that the package states.
func TestMemory(t *testing.T) {
	const kib = 1 << 10
	if n := int(unsafe.Sizeof(Recorder{})) + MaxCalls*int(unsafe.Sizeof(slot{})); n > 460*kib {
		t.Errorf("%d KiB", n/kib)
	}
	if n := 2 * MaxBody * MaxCalls; n > 2000*kib {
		t.Errorf("%d KiB of bodies", n/kib)
	}
	if n := int(unsafe.Sizeof(apiHour{})); n > 4*kib {
		t.Errorf("%d bytes for an API", n)
	}
	sum := 0
	for _, n := range maxTexts {
		sum += n
	}
	if sum != maxText {
		t.Errorf("maxText is %d, want %d", maxText, sum)
	}
}

// TestManyAPIs holds that APIs beyond the limit are counted with all, and have room once others were not called for an hour.
func TestManyAPIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder()
		for i := range 2 * MaxAPIs {
			r.Add(&Call{API: strconv.Itoa(i)})
		}
		if _, total := r.Recent(Minutes); len(r.APIs()) != MaxAPIs || total.Calls != 2*MaxAPIs {
			t.Errorf("%d APIs, %d calls", len(r.APIs()), total.Calls)
		}
		time.Sleep(30 * time.Minute)
		r.Add(&Call{API: "0"})
		time.Sleep(31 * time.Minute)
		r.Add(&Call{API: "new"})
		if apis := r.APIs(); len(apis) != 2 || len(r.apis) != 2 || apis["new"].Calls != 1 || apis["0"].Calls != 1 {
			t.Errorf("%d kept, %v", len(r.apis), apis)
		}
	})
}

// TestAddAllocatesNothing holds that only the first call of an API does.
func TestAddAllocatesNothing(t *testing.T) {
	r := newRecorder()
	c := Call{API: "a", Tool: "t", Outcome: "ok", Caller: strings.Repeat("c", 1000), Duration: time.Millisecond}
	for range MaxCalls {
		r.Add(&c)
	}
	if n := testing.AllocsPerRun(1000, func() { r.Add(&c) }); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

func TestNil(t *testing.T) {
	var r *Recorder
	if minutes, _ := r.Recent(Minutes); r.On() || r.Bodies() || minutes != nil || len(r.APIs()) > 0 || r.Newest() != 0 || r.Last(1, nil) != nil {
		t.Error("a nil recorder records")
	}
}

func BenchmarkAdd(b *testing.B) {
	r := newRecorder()
	c := Call{API: "a", Tool: "t", Outcome: "ok", Duration: time.Millisecond}
	b.ReportAllocs()
	for b.Loop() {
		r.Add(&c)
	}
}

func BenchmarkAddParallel(b *testing.B) {
	r := newRecorder()
	b.ReportAllocs()
	b.RunParallel(func(b *testing.PB) {
		c := Call{API: "a", Tool: "t", Outcome: "ok", Duration: time.Millisecond}
		for b.Next() {
			r.Add(&c)
		}
	})
}

package history

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newRecorder() *Recorder {
	return New(Options{On: func() bool { return true }, Bodies: func() bool { return false }, Now: time.Now})
}

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
			if got := l.percentile(p); math.Abs(float64(got-want)) > 0.0951*float64(want) {
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
		minutes, total := r.Hour()
		if len(minutes) != Minutes || total.Calls != 3 || total.Failed != 1 || total.Result != 25 {
			t.Errorf("%d minutes, total %+v", len(minutes), total)
		}
		if last := minutes[Minutes-1]; last.Calls != 1 || last.Failed != 0 {
			t.Errorf("this minute: %+v", last)
		}
		if apis := r.APIs(); apis["a"] != (Sum{2, 1}) || apis["b"] != (Sum{1, 0}) {
			t.Errorf("by API: %v", apis)
		}
		time.Sleep(45 * time.Minute)
		if _, total := r.Hour(); total.Calls != 1 {
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
				r.Add(&Call{API: string(rune('a' + i%20)), OK: true})
			}
		})
		all.Go(func() {
			for range 100 {
				_, _ = r.Hour()
				_ = r.APIs()
				_ = r.Last(100, func(*Call) bool { return true })
			}
		})
	}
	all.Wait()
	if _, total := r.Hour(); total.Calls != 4000 {
		t.Errorf("%d calls", total.Calls)
	}
}

// TestAddAllocatesNothing holds that only the first call of an API does.
func TestAddAllocatesNothing(t *testing.T) {
	r := newRecorder()
	c := Call{API: "a", Tool: "t", Outcome: "ok", Duration: time.Millisecond}
	r.Add(&c)
	if n := testing.AllocsPerRun(1000, func() { r.Add(&c) }); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

func TestNil(t *testing.T) {
	var r *Recorder
	if minutes, _ := r.Hour(); r.On() || r.Bodies() || minutes != nil || len(r.APIs()) > 0 {
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

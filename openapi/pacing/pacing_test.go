package pacing

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rest is that of a Pace on the available processors.
var rest = New(nil, nil).rest

func TestRest(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for processors, want := range map[int]time.Duration{1: 1800 * time.Microsecond, 2: 1800 * time.Microsecond, 4: 600 * time.Microsecond, 10: 200 * time.Microsecond} {
		runtime.GOMAXPROCS(processors)
		if got := New(nil, nil).rest; got != want {
			t.Errorf("%d processors: rest of %v, want %v", processors, got, want)
		}
	}
}

func TestStep(t *testing.T) {
	for _, tt := range []struct {
		name            string
		serving, waited bool
		work            time.Duration // before each of ten steps
		want            time.Duration // total rest
	}{
		{name: "nothing is served yet", waited: true, work: stretch},
		{name: "nobody waits", serving: true, work: stretch, want: 10 * pollRest},
		{name: "somebody waits", serving: true, waited: true, work: stretch, want: 10 * (pollRest + rest)},
		{name: "short steps", serving: true, waited: true, work: stretch / 5, want: 2 * (pollRest + rest)},
		{name: "long after the last step", serving: true, waited: true, work: resumeAfter},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := New(func() bool { return tt.serving }, func() bool { return tt.waited })
				begin := time.Now()
				for range 10 {
					time.Sleep(tt.work) // the work
					p.Step()
				}
				if got := time.Since(begin) - 10*tt.work; got != tt.want {
					t.Errorf("rested %v, want %v", got, tt.want)
				}
			})
		})
	}
}

// TestBusy has requests wait at only one of the moments at which a step checks.
func TestBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looked := 0
		p := New(func() bool { return true }, func() bool { looked++; return looked == 3 })
		var rests []time.Duration
		for range 30 {
			time.Sleep(stretch)
			begin := time.Now()
			p.Step()
			rests = append(rests, time.Since(begin)-pollRest)
		}
		for i, got := range rests {
			want := time.Duration(0)
			if i >= 2 && i < 2+int(busy/(stretch+pollRest+rest))+1 {
				want = rest
			}
			if got != want {
				t.Errorf("step %d rested %v, want %v", i, got, want)
			}
		}
	})
}

func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(func() bool { return true }, func() bool { return false })
		for range turns {
			if err := p.Take(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.Take(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a third turn: %v, want %v", err, context.DeadlineExceeded)
		}
		p.Give()
		if err := p.Take(t.Context()); err != nil {
			t.Errorf("a turn that was given back: %v", err)
		}
		time.Sleep(time.Minute)
		for range turns {
			if !p.Working(0) {
				t.Error("nobody works in a turn that is taken")
			}
			p.Give()
		}
		for _, within := range []time.Duration{0, time.Second, 2 * time.Second} {
			time.Sleep(500 * time.Millisecond)
			if got, want := p.Working(within), within == 2*time.Second; got != want {
				t.Errorf("work within %v: %v, want %v", within, got, want)
			}
		}
	})
}

func TestWorkers(t *testing.T) {
	serving := false
	p := New(func() bool { return serving }, nil)
	if got, want := p.Workers(), runtime.GOMAXPROCS(0); got != want {
		t.Errorf("%d workers before anything is served, want %d", got, want)
	}
	if serving = true; p.Workers() != 1 {
		t.Errorf("%d workers beside calls, want 1", p.Workers())
	}
}

func TestNil(t *testing.T) {
	var p *Pace
	p.Step()
	if err := p.Take(t.Context()); err != nil {
		t.Error(err)
	}
	p.Give()
	if p.Working(time.Hour) {
		t.Error("nobody works")
	}
	if p.Workers() != runtime.GOMAXPROCS(0) {
		t.Error("no pace takes some of the processors only")
	}
}

func BenchmarkStep(b *testing.B) {
	p := New(func() bool { return false }, nil)
	b.ReportAllocs()
	for b.Loop() {
		p.Step()
	}
}

// TestPart checks that each part measures its own turns, with its rests and without the time between turns.
func TestPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(func() bool { return true }, func() bool { return true })
		parts := []*Pace{p.Part(), p.Part(), p.Part()}
		take := func(part *Pace) {
			if err := part.Take(t.Context()); err != nil {
				t.Error(err)
			}
		}
		take(parts[0])
		take(parts[1])
		go func() {
			take(parts[2])
			time.Sleep(time.Second)
			parts[2].Give()
		}()
		time.Sleep(2 * time.Second)
		parts[0].Give()
		time.Sleep(3 * time.Second)
		parts[1].Give()
		take(parts[0])
		time.Sleep(4 * time.Second)
		if got, want := parts[0].Worked(), 2*time.Second; got != want {
			t.Errorf("in a turn: %v, want %v", got, want)
		}
		parts[0].Give()
		for i, want := range []time.Duration{6 * time.Second, 5 * time.Second, time.Second} {
			if got := parts[i].Worked(); got != want {
				t.Errorf("part %d: %v, want %v", i, got, want)
			}
		}
		if p.Working(0) || !parts[1].Working(4*time.Second+1) {
			t.Error("the parts don't have their turns in common")
		}
		if none := (*Pace)(nil).Part(); none != nil || none.Worked() != 0 {
			t.Error(none)
		}
	})
}

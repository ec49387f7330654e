package pacing

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// ended returns the reason why the work ended.
func ended(work func()) (err error) {
	defer func() { err = Cause(recover()) }()
	work()
	return nil
}

func TestBudget(t *testing.T) {
	for name, p := range map[string]*Pace{"alone": nil, "with others": New(func() bool { return false }, func() bool { return false }).Part()} {
		t.Run(name, func(t *testing.T) {
			b := p.Bound(Budget{Steps: 1000, Bytes: 2})
			b.Allow(500)
			for range 1250 {
				b.Work(1)
			}
			if got, want := b.Used(), (Used{Steps: 1250, Bytes: 500, Allowed: 1250}); got != want {
				t.Errorf("used %+v, want %+v", got, want)
			}
			err := ended(func() { b.Work(1) })
			const want = "reading the document takes more than 1250 steps, the limit for a document of 500 bytes; split the document, or simplify its schemas: compositions, references and discriminators that lead to each other take the most steps"
			if e := (*Exceeded)(nil); !errors.As(err, &e) || err.Error() != want {
				t.Errorf("got %v\nwant %s", err, want)
			}
			if ended(func() { b.Work(1) }) == nil {
				t.Error("the work goes on after its budget was used up")
			}
			next := p.Bound(Budget{Steps: 1000, Bytes: 2})
			next.Resume(Used{Steps: 1250, Bytes: 500})
			if ended(func() { next.Work(1) }) == nil {
				t.Error("the budget of a document is that of one part of the work on it")
			}
		})
	}
}

func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, p := range map[string]*Pace{"alone": nil, "with others": New(func() bool { return false }, func() bool { return false }).Part()} {
			b := p.Bound(Budget{Steps: 1 << 40, Time: time.Minute})
			if err := b.Take(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			if err := ended(b.Step); err != nil {
				t.Errorf("%s: after a minute: %v", name, err)
			}
			time.Sleep(time.Nanosecond)
			const want = "reading the document takes more than 1m0s; split the document, or simplify its schemas: compositions, references and discriminators that lead to each other take the most steps"
			if err := ended(b.Step); err == nil || err.Error() != want {
				t.Errorf("%s: got %v\nwant %s", name, err, want)
			}
			b.Give()
		}
	})
}

// TestOtherPanics checks that a bug of the program is not reported as a fault of the document.
func TestOtherPanics(t *testing.T) {
	for _, v := range []any{nil, "fault", errors.New("fault")} {
		if err := Cause(v); err != nil {
			t.Errorf("%v: %v", v, err)
		}
	}
}

package state

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"drawbridge/test/logbuffer"
)

// flapping is a heartbeat whose results the test has.
type flapping struct {
	heartbeat
	log     *logbuffer.Buffer
	changes int
}

func newFlapping() *flapping {
	log := &logbuffer.Buffer{}
	s := NewShared(SharedOptions{Logger: slog.New(slog.NewTextHandler(log, nil))})
	s.phase.Store(int32(away))
	return &flapping{heartbeat: heartbeat{s: s, pause: firstProbe}, log: log}
}

// beats records results, and returns whether Redis counts as available.
func (f *flapping) beats(results ...error) bool {
	for _, err := range results {
		before := f.s.phase.Load()
		f.record(err)
		if f.s.phase.Load() != before {
			f.changes++
		}
	}
	return phase(f.s.phase.Load()) == up
}

var errSlow = context.DeadlineExceeded

// TestSlowHeartbeats: one slow answer is no outage, three in a row are; a connection that fails is one at once.
func TestSlowHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlapping()
		for _, step := range []struct {
			results []error
			up      bool
		}{
			{[]error{nil}, true},
			{[]error{errSlow}, true},
			{[]error{errSlow, nil, errSlow, errSlow, nil, errSlow}, true},
			{[]error{nil, errSlow, errSlow, errSlow}, false},
			{[]error{nil}, true}, // the first outage ends with the first answer
			{[]error{errors.New("connection refused")}, false},
			{[]error{nil}, true}, // as does one of another kind
			{[]error{errSlow, errSlow, errSlow}, false},
			{[]error{nil}, false}, // again too slow, and soon: it has to last
		} {
			time.Sleep(time.Second)
			if got := f.beats(step.results...); got != step.up {
				t.Fatalf("%v: up %v, want %v", step.results, got, step.up)
			}
		}
		time.Sleep(firstHold - time.Second)
		if f.beats(nil) || f.beats(errSlow) {
			t.Fatal("up before the answers have come in time for long enough")
		}
		f.beats(nil)
		time.Sleep(firstHold)
		if !f.beats(nil) {
			t.Fatal("not up although the answers come in time")
		}
		time.Sleep(2 * steadyAfter)
		f.beats(errSlow, errSlow, errSlow)
		if !f.beats(nil) {
			t.Fatal("an outage after a steady time has to end with the first answer")
		}
	})
}

// TestFlappingIsDamped: a Redis whose answers take around 20 ms under load, now less and now more, changes the state and writes to the
// log a few times, however long that goes on.
func TestFlappingIsDamped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlapping()
		f.beats(nil)
		begin := time.Now()
		for n := 0; time.Since(begin) < 10*time.Minute; n++ {
			f.beats(errSlow, errSlow, errSlow)
			for range n % 5 { // in time for up to four seconds
				time.Sleep(time.Second)
				f.beats(nil)
			}
			time.Sleep(50 * time.Millisecond)
		}
		if f.changes > 10 {
			t.Errorf("%d changes of the state", f.changes)
		}
		if n := strings.Count(f.log.String(), "\n"); n > 10 {
			t.Errorf("%d records:\n%s", n, f.log)
		}
		for range 2 * int(lastHold/time.Second) {
			time.Sleep(time.Second)
			f.beats(nil)
		}
		if phase(f.s.phase.Load()) != up {
			t.Error("not up although the answers come in time again")
		}
	})
}

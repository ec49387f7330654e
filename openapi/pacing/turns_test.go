package pacing

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestLongTurn checks that long work passes its turn to waiting users with less time so far, and continues in its next
// turn.
func TestLongTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(func() bool { return false }, func() bool { return false })
		var mu sync.Mutex
		var ended []string
		var group sync.WaitGroup
		work := func(name string, lasts time.Duration) {
			group.Go(func() {
				own := p.Part().Bound(Budget{Steps: 1 << 40})
				if err := own.Take(t.Context()); err != nil {
					t.Error(err)
				}
				for range lasts / time.Millisecond {
					time.Sleep(time.Millisecond) // the work
					own.Step()
				}
				own.Give()
				mu.Lock()
				ended = append(ended, name)
				mu.Unlock()
			})
			synctest.Wait()
		}
		work("a minute", time.Minute)
		work("another minute", time.Minute)
		for range 20 {
			work("a while", 3*time.Second)
		}
		time.Sleep(2 * time.Second) // each had several turns
		begin := time.Now()
		work("a moment", 10*time.Millisecond)
		first := ""
		for first == "" {
			time.Sleep(time.Millisecond)
			mu.Lock()
			if len(ended) > 0 {
				first = ended[0]
			}
			mu.Unlock()
		}
		if took := time.Since(begin); first != "a moment" || took > 2*slice {
			t.Errorf("%q ended first, after %v", first, took)
		}
		group.Wait()
		if got := ended[len(ended)-2:]; !slices.Contains(got, "a minute") || !slices.Contains(got, "another minute") {
			t.Errorf("%q ended last", got)
		}
		if p.Working(0) {
			t.Error("a turn was not given back")
		}
	})
}

// TestEndWhileOthersHaveTheirTurn checks that work whose context ends during the turns of others ends, and takes
// nothing from them.
func TestEndWhileOthersHaveTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(func() bool { return false }, func() bool { return false })
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan error)
		for range turns {
			go func() {
				own := p.Part().Bound(Budget{Steps: 1 << 40})
				err := own.Take(ctx)
				defer func() {
					own.Give()
					done <- errors.Join(err, Cause(recover()))
				}()
				for range 100 {
					time.Sleep(time.Millisecond)
					own.Step()
				}
			}()
		}
		synctest.Wait()
		for range turns { // new users get the next turns and keep them
			go func() {
				other := p.Part()
				err := other.Take(t.Context())
				time.Sleep(time.Hour)
				other.Give()
				done <- err
			}()
		}
		time.Sleep(time.Minute)
		cancel()
		for range turns {
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want %v", err, context.Canceled)
			}
		}
		for range turns {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if p.Working(0) {
			t.Error("a turn was not given back")
		}
	})
}

// TestSeveralGoroutines checks that goroutines that work in one turn wait together during the turns of others.
func TestSeveralGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(func() bool { return false }, func() bool { return false })
		var group sync.WaitGroup
		for range 5 {
			group.Go(func() {
				own := p.Part().Bound(Budget{Steps: 1 << 40})
				if err := own.Take(t.Context()); err != nil {
					t.Error(err)
				}
				defer own.Give()
				var workers sync.WaitGroup
				for range 3 {
					workers.Go(func() {
						for range 1000 {
							time.Sleep(time.Millisecond)
							own.Step()
						}
					})
				}
				workers.Wait()
			})
		}
		begin := time.Now()
		group.Wait()
		if took, want := time.Since(begin), 5*time.Second/turns; took < want {
			t.Errorf("took %v: somebody worked without a turn", took)
		}
	})
}

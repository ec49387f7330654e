// Package timebox has the waits of tests: each ends after a while, and the test fails with the stacks of all goroutines. The one rule: a
// test that hangs must name its wait, and must not take those after it along, so no test waits for a channel or a group in another way;
// TestWaitsAreBounded of test/fence looks. In a bubble of testing/synctest, which notices a deadlock by itself, nobody needs it.
package timebox

import (
	"runtime"
	"testing"
	"time"
)

// limit is how long a wait takes at the most: far longer than anything takes on a machine that is busy, far shorter than go test -timeout.
const limit = 2 * time.Minute

// Receive returns the next value of a channel, the zero value if it is closed.
func Receive[T any](t testing.TB, from <-chan T) T {
	t.Helper()
	value, _ := ReceiveOrEnd(t, from)
	return value
}

// ReceiveOrEnd returns the next value of a channel; ok is false if it is closed.
func ReceiveOrEnd[T any](t testing.TB, from <-chan T) (value T, ok bool) {
	t.Helper()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case value, ok = <-from:
	case <-timer.C:
		fail(t, "nothing arrived")
	}
	return value, ok
}

// Wait returns when something has arrived on a channel or it is closed.
func Wait[T any](t testing.TB, from <-chan T) {
	t.Helper()
	ReceiveOrEnd(t, from)
}

// Send returns when a value is taken from a channel, or lies in it.
func Send[T any](t testing.TB, to chan<- T, value T) {
	t.Helper()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case to <- value:
	case <-timer.C:
		fail(t, "nobody took what was sent")
	}
}

// Done returns when wait does, the method of a [sync.WaitGroup], say.
func Done(t testing.TB, wait func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		wait()
	}()
	Wait(t, done)
}

// Result returns what wait returns, the method of an errgroup or of a command, say.
func Result[T any](t testing.TB, wait func() T) T {
	t.Helper()
	result := make(chan T, 1)
	go func() { result <- wait() }()
	return Receive(t, result)
}

func fail(t testing.TB, what string) {
	t.Helper()
	stacks := make([]byte, 1<<20)
	t.Fatalf("%s within %v; the goroutines:\n%s", what, limit, stacks[:runtime.Stack(stacks, true)])
}

// attempts is how often a computation that took too long is tried again.
const attempts = 5

// Fastest runs a computation until it takes no more than most, five times at the most, and returns the least time that it took. A busy
// machine makes one run slow; a slow algorithm makes all of them slow.
func Fastest(most time.Duration, compute func()) (least time.Duration) {
	for i := range attempts {
		begin := time.Now()
		compute()
		if took := time.Since(begin); i == 0 || took < least {
			least = took
		}
		if least <= most {
			break
		}
	}
	return least
}

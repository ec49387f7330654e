//go:build unix

package timebox

import (
	"syscall"
	"testing"
	"time"

	"drawbridge/test/race"
)

// Processor runs f and fails the test if the process uses more processor time meanwhile. Unlike time on the clock it does not depend on
// what else runs. With the race detector any time will do.
func Processor(t testing.TB, limit time.Duration, f func()) {
	t.Helper()
	if used := ProcessorTime(t, f); used > limit && !race.Enabled {
		t.Errorf("took %v of processor time, at most %v are right", used, limit)
	}
}

// ProcessorTime runs f and returns the processor time of the process meanwhile.
func ProcessorTime(t testing.TB, f func()) time.Duration {
	t.Helper()
	start := processorTime(t)
	f()
	return processorTime(t) - start
}

func processorTime(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

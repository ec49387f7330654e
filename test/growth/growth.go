// Package growth holds that the work on a text grows with its length and no faster: for parsers that read what strangers write.
//
// The rule that must not be broken: only processor time is compared, with wide margins, so that a busy machine fails no test.
package growth

import (
	"testing"
	"time"

	"drawbridge/test/race"
	"drawbridge/test/timebox"
)

const (
	// floor is below what a measurement says anything about the growth.
	floor = 20 * time.Millisecond
	// factor is how much longer ten times the text may take.
	factor = 40
)

// Linear measures parse on texts of the sizes n, 3n and 10n, and fails the test if ten times the size takes more than forty times as
// long, or more than most. Quadratic work takes a hundred times as long.
func Linear(t testing.TB, n int, most time.Duration, text func(n int) string, parse func(text string)) {
	t.Helper()
	if race.Enabled { // it is slow, and what it does to times says nothing; make whole runs the test without it
		parse(text(n / 10))
		return
	}
	var took [3]time.Duration
	for i, times := range []int{1, 3, 10} {
		s := text(n * times)
		took[i] = timebox.ProcessorTime(t, func() { parse(s) })
	}
	if took[2] > most || took[2] > factor*max(took[0], floor) {
		t.Errorf("%d, %d and %d elements took %v of processor time, at most %v are right", n, 3*n, 10*n, took, most)
	}
}

package upstream

import "testing"

// BenchmarkBreaker is what a call pays for it while it is closed.
func BenchmarkBreaker(b *testing.B) {
	breaker := newBreaker(usual, nil)
	b.ReportAllocs()
	for b.Loop() {
		generation, _, _ := breaker.allow()
		breaker.report(generation, success)
	}
}

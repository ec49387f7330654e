package redact

import (
	"testing"
	"time"

	"drawbridge/test/growth"
)

// TestGrowth: the work on a hostile error text grows with its length.
func TestGrowth(t *testing.T) {
	for _, around := range [][2]string{{"", ""}, {`{"error":"`, `"}`}, {`["`, `"]`}} {
		growth.Hostile(t, 20_000, 2*time.Second, around[0], around[1], func(s string) { Error(s) })
	}
}

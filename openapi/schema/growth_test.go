package schema

import (
	"testing"
	"time"

	"drawbridge/test/growth"
)

// TestGrowth: the work on a hostile description grows with its length.
func TestGrowth(t *testing.T) {
	for name, parse := range map[string]func(string){
		"prose": func(s string) { Prose(s, 0); Prose(s, 1000) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, before := range []string{"", "<p>", "`"} {
				growth.Hostile(t, 60_000, 500*time.Millisecond, before, "", parse)
			}
		})
	}
}

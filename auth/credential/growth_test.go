package credential

import (
	"strings"
	"testing"
	"time"

	"drawbridge/test/growth"
)

// TestGrowth: the work on a hostile challenge grows with its length.
func TestGrowth(t *testing.T) {
	for name, parse := range map[string]func(string){
		"challenges": func(s string) { parseChallenges([]string{s}); parseChallenges(strings.SplitAfter(s, ",")) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, before := range []string{"", "Bearer realm=\""} {
				growth.Hostile(t, 60_000, time.Second, before, "", parse)
			}
		})
	}
}

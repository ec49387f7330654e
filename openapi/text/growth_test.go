package text

import (
	"testing"
	"time"

	"drawbridge/test/growth"
)

// TestGrowth checks that the time for a hostile text is proportional to its length.
func TestGrowth(t *testing.T) {
	for name, parse := range map[string]func(string){
		"text": func(s string) { Latin(s); _ = NeedsLatin(s) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, before := range []string{""} {
				growth.Hostile(t, 60_000, time.Second, before, "", parse)
			}
		})
	}
}

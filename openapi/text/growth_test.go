package text

import (
	"testing"
	"time"

	"drawbridge/test/growth"
)

// TestGrowth: the work on a hostile text grows with its length.
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

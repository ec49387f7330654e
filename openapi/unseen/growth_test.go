package unseen

import (
	"testing"
	"time"

	"drawbridge/test/growth"
)

// TestGrowth checks that the time for a hostile text is proportional to its length.
func TestGrowth(t *testing.T) {
	for name, parse := range map[string]func(string){
		"clean": func(s string) { Clean(s); Bytes([]byte(s)) },
		"JSON":  func(s string) { JSON([]byte(s)); Suspect([]byte(s)) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, before := range []string{"", "\U0001f468\u200d"} {
				growth.Hostile(t, 60_000, time.Second, before, "", parse)
			}
		})
	}
}

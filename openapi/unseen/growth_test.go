package unseen

import (
	"testing"
	"time"

	"drawbridge/test/growth"
)

// TestGrowth: the work on a hostile text grows with its length.
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

package mediatype

import (
	"testing"
	"time"

	"drawbridge/test/growth"
)

// TestGrowth checks that the time for a hostile media type is proportional to its length.
func TestGrowth(t *testing.T) {
	for name, parse := range map[string]func(string){
		"essence": func(s string) { Essence(s); Charset(s) },
		"kinds":   func(s string) { _, _, _, _ = IsJSON(s), IsBinary(s), IsText(s), IsSequential(s) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, before := range []string{"", "text/plain;"} {
				growth.Hostile(t, 60_000, time.Second, before, "", parse)
			}
		})
	}
}

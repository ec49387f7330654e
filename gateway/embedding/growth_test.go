package embedding

import (
	"testing"
	"time"

	"drawbridge/test/growth"
)

// TestGrowth: the work on a hostile answer grows with its length.
func TestGrowth(t *testing.T) {
	for name, parse := range map[string]func(string){
		"answer": func(s string) { _, _ = parse([]byte(s), 2, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, before := range []string{"", "{\"data\":[{\"embedding\":["} {
				growth.Hostile(t, 60_000, time.Second, before, "", parse)
			}
		})
	}
}

package embedding

import (
	"testing"
	"time"

	"drawbridge/test/growth"
)

// TestGrowth checks that the time for a hostile response is proportional to its length.
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

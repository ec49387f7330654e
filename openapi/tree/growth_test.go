package tree

import (
	"testing"
	"time"

	"drawbridge/test/growth"
)

// TestGrowth checks that the time for a hostile document is proportional to its length.
func TestGrowth(t *testing.T) {
	for name, parse := range map[string]func(string){
		"JSON": func(s string) { _, _ = Parse("a.json", []byte(s), Limits{}) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, before := range []string{"", "openapi: 3.1.0\nx:\n  a: ", "a: ["} {
				growth.Hostile(t, 60_000, time.Second, before, "", parse)
			}
		})
	}
}

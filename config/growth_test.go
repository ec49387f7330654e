package config

import (
	"testing"
	"time"

	"drawbridge/test/growth"
)

// TestGrowth: the work on a hostile extension of a document grows with its length.
func TestGrowth(t *testing.T) {
	for name, parse := range map[string]func(string){
		"extension": func(s string) {
			for _, name := range Extensions() {
				ParseExtension(name, []byte(s))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, before := range []string{"", "{\"schema\":"} {
				growth.Hostile(t, 6_000, time.Second, before, "", parse)
			}
		})
	}
}

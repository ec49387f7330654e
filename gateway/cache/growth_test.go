package cache

import (
	"net/http"
	"testing"
	"time"

	"drawbridge/test/growth"
)

// TestGrowth: the work on hostile headers grows with their length.
func TestGrowth(t *testing.T) {
	for name, parse := range map[string]func(string){
		"Cache-Control": func(s string) { parseControl(http.Header{"Cache-Control": {s}}) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, before := range []string{"", "a=\""} {
				growth.Hostile(t, 60_000, time.Second, before, "", parse)
			}
		})
	}
}

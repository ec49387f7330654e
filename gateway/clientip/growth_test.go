package clientip

import (
	"testing"
	"time"

	"drawbridge/test/growth"
)

// TestGrowth: the work on hostile headers grows with their length.
func TestGrowth(t *testing.T) {
	for name, parse := range map[string]func(string){
		"X-Forwarded-For": func(s string) {
			for more := true; more; {
				s, _, more = lastItem(s)
			}
		},
		"Forwarded": func(s string) {
			for more := true; more; {
				var element string
				s, element, more = lastElement(s)
				parseNode(forwardedFor(element))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, before := range []string{"", "for=\""} {
				growth.Hostile(t, 60_000, time.Second, before, "", parse)
			}
		})
	}
}

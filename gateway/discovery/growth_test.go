package discovery

import (
	"strings"
	"testing"
	"time"

	"drawbridge/test/growth"
)

// TestGrowth: the work on hostile links grows with their length.
func TestGrowth(t *testing.T) {
	for name, parse := range map[string]func(string){
		"Link": func(s string) {
			linksTo([]string{s}, "service-desc")
			linksTo(strings.SplitAfter(s, ","), "service-desc")
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, before := range []string{"", "<a>;rel=\"", "<a>;"} {
				growth.Hostile(t, 60_000, time.Second, before, "", parse)
			}
		})
	}
}

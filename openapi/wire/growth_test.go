package wire

import (
	"testing"
	"time"

	"drawbridge/test/growth"
)

// TestGrowth checks that the time for a hostile template or path is proportional to its length.
func TestGrowth(t *testing.T) {
	four, err := ParseTemplate("/{a}{b}{c}{d}x/{+e}y")
	if err != nil {
		t.Fatal(err)
	}
	for name, parse := range map[string]func(string){
		"template": func(s string) { _, _ = ParseTemplate(s) },
		"path":     func(s string) { four.Match(s) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, before := range []string{"", "/", "/a{"} {
				growth.Hostile(t, 60_000, time.Second, before, "", parse)
			}
		})
	}
}

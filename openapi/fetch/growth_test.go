package fetch

import (
	"testing"
	"time"

	"drawbridge/test/growth"
)

// TestGrowth checks that the time to search a hostile page or script for a document is proportional to its length.
func TestGrowth(t *testing.T) {
	for name, parse := range map[string]func(string){
		"page":     func(s string) { new(candidates).page([]byte(s)) },
		"script":   func(s string) { new(candidates).script(s) },
		"embedded": func(s string) { embedded([]byte(s), nil) },
		"charset":  func(s string) { _, _ = decode([]byte(s), "") },
		"markup":   func(s string) { isMarkup([]byte(s)) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, before := range []string{"", "<script>SwaggerUIBundle({ url: "} {
				growth.Hostile(t, 60_000, 500*time.Millisecond, before, "", parse)
			}
		})
	}
}

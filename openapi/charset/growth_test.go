package charset

import (
	"testing"
	"time"

	"drawbridge/test/growth"
)

// TestGrowth checks that the time for a hostile text is proportional to its length.
func TestGrowth(t *testing.T) {
	for name, parse := range map[string]func(string){
		"declared": func(s string) { Declared("text/html", []byte(s)); Declared("application/xml", []byte(s)) },
		"decoded": func(s string) {
			ToUTF8([]byte(s), "shift_jis")
			ToUTF8([]byte(s), "iso-2022-jp")
			ToUTF8([]byte(s), "gb18030")
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, before := range []string{"", "<?xml "} {
				growth.Hostile(t, 60_000, time.Second, before, "", parse)
			}
		})
	}
}

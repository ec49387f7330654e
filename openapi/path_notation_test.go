package openapi

import (
	"strings"
	"testing"
	"time"

	"drawbridge/test/race"
	"drawbridge/test/timebox"
)

// TestPathNotationBombs reads the longest permitted paths, of brackets without a partner and of notations that resemble
// others up to their end, for the maximum number of operations of a document.
func TestPathNotationBombs(t *testing.T) {
	if race.Enabled {
		t.Skip("measures time")
	}
	for _, piece := range []string{"{", "{a", "(?P<a>", "/:a(", "<", "<a", "<a:", "/[a", "%7Ba", ":a", "/*a", "{{a}", "<a>", "/:a"} {
		path := "/" + strings.Repeat(piece, maxPath/len(piece))
		took := timebox.Fastest(5*time.Second, func() {
			for range 100 {
				r := pathReader{text: path, declared: func(string) bool { return false }}
				for r.at < len(r.text) {
					r.step()
				}
			}
		})
		if took > 5*time.Second {
			t.Errorf("100 paths of %q took %v", piece, took)
		} else {
			t.Log(piece, took)
		}
	}
}

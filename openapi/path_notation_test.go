package openapi

import (
	"strings"
	"testing"
	"time"

	"drawbridge/test/race"
	"drawbridge/test/timebox"
)

// TestPathNotationBombs reads the longest paths that are allowed, of brackets that have no partner and of notations that look
// like others to their end, as often as a document may have operations.
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

package source

import (
	"slices"
	"testing"
)

// TestLostOperations checks which losses quarantine a document. An operation whose path variable was renamed is not
// lost (O2).
func TestLostOperations(t *testing.T) {
	before := []string{"GET /a/{id}", "GET /b", "GET /c", "GET /d", "GET /e"}
	for name, c := range map[string]struct {
		now     []string
		maxLoss int
		want    []string
	}{
		"other variable":     {[]string{"GET /a/{a}", "GET /b", "GET /c", "GET /d", "GET /e"}, 0, nil},
		"few":                {[]string{"GET /a/{id}", "GET /b"}, 0, nil},
		"four":               {[]string{"GET /e"}, 50, []string{"GET /a/{id}", "GET /b", "GET /c", "GET /d"}},
		"four, within limit": {[]string{"GET /e"}, 80, nil},
		"all":                {nil, 50, []string{"GET /a/{id}", "GET /b", "GET /c", "GET /d", "GET /e"}},
	} {
		if lost := lostOperations(before, c.now, c.maxLoss); !slices.Equal(lost, c.want) {
			t.Errorf("%s: lost %q, want %q", name, lost, c.want)
		}
	}
	if lost := lostOperations([]string{"GET /a/{id}", "GET /b/{id}"}, []string{"GET /a/{a}", "GET /b/{b}"}, 0); lost != nil {
		t.Errorf("lost %q", lost)
	}
}

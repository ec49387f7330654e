package readiness

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"drawbridge/test/cases"
)

// TestFix derives an overlay for the document of each case in testdata/fix. The file "overlay" is the overlay without its
// comments, "after" what is left: the scores before and after, what was left out, and the settings that an overlay can't
// make. A document may have further files, which it refers to.
func TestFix(t *testing.T) {
	cases.Run(t, "testdata/fix/*.txtar", func(t *testing.T, file string, a *txtar.Archive) {
		l := assess(t, written(t, "openapi.yaml", a.Files[0].Data))
		fix, err := l.Fix(t.Context(), "orders", l.load, nil)
		if err != nil {
			t.Fatal(err)
		}
		var overlay strings.Builder
		for line := range strings.Lines(string(fix.Data)) {
			if !strings.HasPrefix(line, "#") {
				overlay.WriteString(line)
			}
		}
		if fix.Data != nil {
			checkApplied(t, file, l, fix)
		}
		expect(t, file, a, "overlay", overlay.String())
		after := fmt.Sprintf("score %.1f → %.1f\n", l.Report.Score, fix.After.Report.Score)
		for _, line := range fix.Dropped {
			after += "left out: " + line + "\n"
		}
		for _, line := range fix.Settings {
			after += line + "\n"
		}
		expect(t, file, a, "after", after)
	})
}

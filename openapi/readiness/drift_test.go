package readiness

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"drawbridge/openapi/drift"
	"drawbridge/test/cases"
)

// TestFixDrift derives an overlay for the differences of each case in testdata/drift: lines with method, path, kind, pointer, declared and
// got, "-" for none. The file "overlay" is the overlay without its comments, "mends" what is said of each difference, and what was left out.
func TestFixDrift(t *testing.T) {
	cases.Run(t, "testdata/drift/*.txtar", func(t *testing.T, file string, a *txtar.Archive) {
		l := assess(t, written(t, "openapi.yaml", a.Files[0].Data))
		var observed []Observed
		for line := range strings.Lines(string(a.Files[1].Data)) {
			w := strings.Split(strings.ReplaceAll(strings.TrimSpace(line), " -", " "), " ")
			if len(w) != 6 {
				t.Fatalf("%q: want six words", line)
			}
			d := drift.Difference{Kind: drift.Kind(w[2]), Pointer: w[3], Declared: w[4], Got: w[5]}
			observed = append(observed, Observed{w[0], w[1], d, strings.TrimPrefix(d.Pointer+": ", ": ") + d.String()})
		}
		fix, err := FixDrift(t.Context(), l.document, l.api, "things", observed, l.load)
		if err != nil {
			t.Fatal(err)
		}
		var overlay, mends strings.Builder
		for line := range strings.Lines(string(fix.Data)) {
			if !strings.HasPrefix(line, "#") {
				overlay.WriteString(line)
			}
		}
		for i, m := range fix.Mends {
			fmt.Fprintf(&mends, "%s: %s (%t)\n", observed[i].Text, m.Text, m.Mended)
		}
		for _, line := range append(fix.Dropped, fix.Settings...) {
			fmt.Fprintln(&mends, line)
		}
		expect(t, file, a, "overlay", overlay.String())
		expect(t, file, a, "mends", mends.String())
	})
}

package readiness

import (
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"drawbridge/test/cases"
)

var update = flag.Bool("update", false, "write what the code does into the cases")

// TestSeeded scores the documents of testdata/seeded, which are one good document with defects that were put in: from a
// single light one to the worst. Each has a lower score than the one before. The file "seeded" names the defects, as they
// were put in, "findings" the score, and for each finding the place.
func TestSeeded(t *testing.T) {
	before := 100.0
	cases.Run(t, "testdata/seeded/*.txtar", func(t *testing.T, file string, a *txtar.Archive) {
		report := assess(t, written(t, "openapi.yaml", a.Files[0].Data)).Report
		if report.Score >= before {
			t.Errorf("the score is %.1f, and that of the better document before it %.1f", report.Score, before)
		}
		before = report.Score
		var found []string
		for _, op := range report.Operations {
			for _, f := range op.Findings {
				found = append(found, fmt.Sprintf("%s %s %s", f.Code, op.Method, op.Path))
			}
		}
		slices.Sort(found)
		if diff := cmp.Diff(string(a.Files[1].Data), strings.Join(found, "\n")+"\n"); diff != "" {
			t.Error("defects -put in +found:\n" + diff)
		}
		expect(t, file, a, "findings", renderedReport(report))
	})
}

// expect compares a file of a case with what the code does, or writes it there.
func expect(t *testing.T, file string, a *txtar.Archive, name, got string) {
	t.Helper()
	for i, f := range a.Files {
		if f.Name != name {
			continue
		}
		if *update {
			a.Files[i].Data = []byte(got)
			cases.Write(t, file, a)
		} else if diff := cmp.Diff(string(f.Data), got); diff != "" {
			t.Error("-want +got:\n" + diff)
		}
		return
	}
	t.Errorf("the case has no file %q", name)
}

// text returns a report as lines.
func renderedReport(r *Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "score %.1f\n", r.Score)
	for _, op := range r.Operations {
		for _, f := range op.Findings {
			fmt.Fprintf(&b, "%s:%d:%d %s %s -%d: %s\n", filepath.Base(f.File), f.Line, f.Column, f.Pointer, f.Code, f.Weight, f.Message)
		}
	}
	return b.String()
}

package readiness

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"drawbridge/openapi"
	"drawbridge/openapi/proof"
	"drawbridge/openapi/tree"
)

// raisedLeast is the least number of documents of the corpus whose scores an overlay raises.
const raisedLeast = 30

// TestFixCorpus derives an overlay for each document of the folder that OPENAPI_CORPUS names (its INDEX.md lists the
// entry files): it is applied without a warning, lowers no score, keeps all operations and adds no problem; it raises the
// score of most documents.
func TestFixCorpus(t *testing.T) {
	dir := os.Getenv("OPENAPI_CORPUS")
	if dir == "" {
		t.Skip("OPENAPI_CORPUS is not set")
	}
	table := tabwriter.NewWriter(t.Output(), 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "document\toperations\tbefore\tafter\tchanges\tleft out\tassess ms\tfix ms\t")
	raised, documents := 0, 0
	for _, file := range entries(t, dir) {
		if strings.Contains(file, "zohosign") {
			continue // no parser can read it
		}
		documents++
		l := assess(t, file)
		start := time.Now()
		l.Assessment = Assess(l.document, l.api, ToolsOf(l.api), l.api.Skipped)
		assessed := time.Since(start)
		start = time.Now()
		fix, err := l.Fix(t.Context(), "api", l.load, nil)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		before, after := exact(l.Report), exact(fix.After.Report)
		fmt.Fprintf(table, "%s\t%d\t%.2f\t%.2f\t%d\t%d\t%d\t%d\t\n", filepath.Base(file), len(l.Report.Operations), before, after, fix.Changes, len(fix.Dropped), assessed.Milliseconds(), time.Since(start).Milliseconds())
		if after > before {
			raised++
		}
		if after < before {
			t.Errorf("%s: the overlay lowers the score from %.2f to %.2f", file, before, after)
		}
		if fix.Data != nil {
			if dir := os.Getenv("OVERLAYS_DUMP"); dir != "" {
				if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)+".overlay.yaml"), fix.Data, 0o600); err != nil {
					t.Error(err)
				}
			}
			checkApplied(t, file, l, fix)
		}
	}
	table.Flush()
	t.Logf("%d of %d documents raised", raised, documents)
	if raised < raisedLeast {
		t.Errorf("overlays raise the scores of %d documents, want %d", raised, raisedLeast)
	}
}

// checkApplied loads a document with its overlay and compares it with the one without.
func checkApplied(t *testing.T, file string, l *loaded, fix *Fix) {
	t.Helper()
	d, api, err := l.load(t.Context(), fix.Data)
	if err != nil {
		t.Errorf("%s: %v", file, err)
		return
	}
	if len(api.Operations) != len(l.api.Operations) || len(api.Skipped) != len(l.api.Skipped) {
		t.Errorf("%s: %d operations and %d skipped with the overlay, %d and %d without", file, len(api.Operations), len(api.Skipped), len(l.api.Operations), len(l.api.Skipped))
	}
	for _, a := range d.Overlays {
		if a.Matched == 0 {
			t.Errorf("%s: %s selects nothing", file, a.Target)
		}
	}
	for _, p := range api.Problems {
		if p.Position.File == proof.Location || p.Code == tree.CodeOverlayUnmatched || p.Code == tree.CodeOverlayNoEffect {
			t.Errorf("%s: %s %s", file, p.Code, p.Message)
		}
	}
	for i, op := range api.Operations {
		checkSchemas(t, file, l.api.Operations[i], op)
	}
}

// checkSchemas checks that an overlay takes no argument of the URL away, and that the same ones are required. A body may
// lose its name as an argument: without a header beside it, its members are the arguments.
func checkSchemas(t *testing.T, file string, before, after *openapi.Operation) {
	t.Helper()
	for _, a := range before.Arguments() {
		if a.In != "path" && a.In != "query" {
			continue
		}
		if !after.AcceptsArgument(a.Name) || a.Required != slices.Contains(after.Required(), a.Name) {
			t.Errorf("%s: %s %s has another argument %s", file, before.Method, before.Path, a.Name)
		}
	}
}

// exact returns the mean score without rounding.
func exact(r *Report) float64 {
	sum := 0
	for _, op := range r.Operations {
		sum += op.Score
	}
	return float64(sum) / float64(max(1, len(r.Operations)))
}

// entries returns the entry files of the documents of a corpus.
func entries(t *testing.T, dir string) (files []string) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "INDEX.md"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if cells := strings.Split(lines.Text(), "|"); len(cells) > 2 {
			name := strings.Trim(cells[1], " `")
			if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
				files = append(files, filepath.Join(dir, name))
			}
		}
	}
	return files
}

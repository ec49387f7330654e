package catalog

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"drawbridge/openapi"
)

// hashSuffix is how a name ends that words don't tell from others.
var hashSuffix = regexp.MustCompile(`_[0-9a-f]{8}(_[0-9]+)?$`)

// TestCorpus names the tools of real documents: those in testdata of openapi, and those of the directory in OPENAPI_CORPUS if it is set.
// Each tool has a signature, whatever is asked for. With -v it prints the lengths and the ten longest names that a hash ends, before and after.
func TestCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the corpus")
	}
	roots := []string{"../../openapi/testdata/corpus"}
	if dir := os.Getenv("OPENAPI_CORPUS"); dir != "" {
		roots = append(roots, dir)
	}
	lengths := map[Names][]int{}
	hashes := map[Names]int{}
	type renamed struct{ before, after, operation string }
	var worst []renamed
	for _, file := range documents(t, roots) {
		d, err := openapi.Load(t.Context(), file, openapi.LoadOptions{})
		if err != nil {
			continue // a part of another document, or the one that no parser can read
		}
		api, err := d.Compile(t.Context(), openapi.CompileOptions{})
		if err != nil {
			continue
		}
		apis := []API{{Name: "api", Operations: api.Operations}}
		short := Build(apis, Options{Names: Short})
		before, after := Build(apis, Options{}).byOperation(), short.byOperation()
		for _, tool := range short.All() {
			for _, signature := range []string{tool.Signature(), tool.SignatureFor(tool.Title, 300)} {
				if !strings.HasPrefix(signature, tool.Name+"(") {
					t.Errorf("%s %s: the signature %s", tool.Method, tool.Path, signature)
				}
			}
		}
		for _, op := range api.Operations {
			for names, name := range map[Names]string{ByID: before[op], Short: after[op]} {
				lengths[names] = append(lengths[names], len(name))
				if hashSuffix.MatchString(name) && !strings.HasSuffix(sanitize(op.ID), name[len(name)-digits:]) {
					hashes[names]++
				}
			}
			if hashSuffix.MatchString(before[op]) && !hashSuffix.MatchString(after[op]) {
				worst = append(worst, renamed{before[op], after[op], op.Method + " " + op.Path})
			}
		}
	}
	for _, names := range []Names{ByID, Short} {
		slices.Sort(lengths[names])
	}
	n := len(lengths[Short])
	if n == 0 {
		t.Fatal("no names")
	}
	for names, title := range map[Names]string{ByID: "operation_id", Short: "short"} {
		t.Logf("%s: %d names, %d with a hash, length %d in the median, %d at p99", title, n, hashes[names], lengths[names][n/2], lengths[names][n*99/100])
	}
	if hashes[Short]*200 > n {
		t.Errorf("%d of %d short names end in a hash, want at most 0.5 %%", hashes[Short], n)
	}
	slices.SortFunc(worst, func(a, b renamed) int {
		return cmp.Or(cmp.Compare(len(b.operation), len(a.operation)), cmp.Compare(a.before, b.before))
	})
	table := tabwriter.NewWriter(t.Output(), 0, 0, 2, ' ', 0)
	for _, row := range worst[:min(len(worst), 10)] {
		fmt.Fprintf(table, "%s\t%s\t%s\n", row.before, row.after, row.operation)
	}
	_ = table.Flush() // to the log of the test
}

// documents returns the files below directories that may be documents.
func documents(t *testing.T, roots []string) (files []string) {
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(path)) {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

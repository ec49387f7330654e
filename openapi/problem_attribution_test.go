package openapi

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestFates: document → the problems of each operation, and the codes of the reasons why others are skipped.
func TestFates(t *testing.T) {
	eachCase(t, "fates", func(t *testing.T, a *txtar.Archive) map[string]string {
		api, err := compileCase(t, a)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, op := range api.Operations {
			fmt.Fprintf(&b, "%s %s\n", op.Method, op.Path)
			for _, i := range op.Problems {
				fmt.Fprintf(&b, "  %s %s\n", api.Problems[i].Code, api.Problems[i])
			}
			for _, r := range op.Renamed() {
				fmt.Fprintf(&b, "  renamed %s %q: %s\n", r.In, r.Name, r.Argument)
			}
		}
		for _, s := range api.Skipped {
			fmt.Fprintf(&b, "%s %s\n", s.Code, s)
		}
		if in := api.Incoming; in != (Incoming{}) {
			fmt.Fprintf(&b, "webhooks %d, callbacks %d\n", in.Webhooks, in.Callbacks)
		}
		return map[string]string{"want": b.String()}
	})
}

// TestProblemsOfOneCode makes the same mistake 1,200 times, half of them repaired by the tree and half found by the
// compilation: the first 500 of each are listed, all are counted, and the operations whose problem is listed have it.
func TestProblemsOfOneCode(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"openapi":"3.1.0","info":{"title":"M","version":"1"},"servers":[{"url":"https://m.example.com"}],"paths":{`)
	for i := range 600 {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `"/%d/{id}":{"get":{"parameters":[{"name":"q","in":"query","schema":{"type":"string","maxLength":"9"}}],"responses":{}}}`, i)
	}
	b.WriteString("}}")
	name := filepath.Join(t.TempDir(), "spec.json")
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	doc, err := Load(t.Context(), name, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	api, err := doc.Compile(t.Context(), CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(api.Problems) != 1002 {
		t.Errorf("%d problems are listed, want 1002", len(api.Problems))
	}
	counts := api.ProblemCounts()
	if counts["number-text"] != 600 || counts[codePathUndeclared] != 600 || len(counts) != 2 {
		t.Errorf("counts %v", counts)
	}
	for i, want := range map[int]int{0: 2, 499: 2, 500: 0} {
		if got := len(api.Operations[i].Problems); got != want {
			t.Errorf("operation %d has %d problems, want %d", i, got, want)
		}
	}
}

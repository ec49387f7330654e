package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"drawbridge/test/cases"
)

// TestSelections compares selectors with operations: each case has a configuration, the operations of one API a line, as
// "METHOD PATH operationId tag…", and the problems of the selectors that match none.
func TestSelections(t *testing.T) {
	cases.Run(t, "testdata/selections/*.txtar", func(t *testing.T, file string, a *txtar.Archive) {
		dir := t.TempDir()
		var operations, want string
		for _, f := range a.Files {
			switch f.Name {
			case "operations":
				operations = string(f.Data)
			case "problems":
				want = string(f.Data)
			default:
				if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		cfg, problems := Load(filepath.Join(dir, "drawbridge.yaml"), func(string) string { return "" })
		if cfg == nil {
			t.Fatal(problems)
		}
		var got strings.Builder
		for _, sel := range cfg.Selections() {
			var reached []Subject
			matched := false
			for _, s := range subjectsIn(t, operations) {
				if sel.Reaches(s.API, "", "apis[0]") {
					reached = append(reached, s)
					matched = matched || sel.Match(s)
				}
			}
			if !matched {
				got.WriteString(strings.ReplaceAll(cfg.Explain(&sel, reached).String(), dir+string(filepath.Separator), "") + "\n")
			}
		}
		if *update {
			a.Files[len(a.Files)-1].Data = []byte(got.String())
			if err := os.WriteFile(file, txtar.Format(a), 0o600); err != nil {
				t.Fatal(err)
			}
		} else if got.String() != want {
			t.Errorf("got:\n%swant:\n%s", got.String(), want)
		}
	})
}

// subjectsIn reads operations of the API shop.
func subjectsIn(t *testing.T, text string) (all []Subject) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 3 {
			t.Fatalf("operation %q", line)
		}
		all = append(all, Subject{API: "shop", Method: words[0], Path: words[1], Operation: strings.Trim(words[2], "-"), Tags: words[3:]})
	}
	return all
}

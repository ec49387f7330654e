package projection

import (
	"bytes"
	"encoding/json"
	"flag"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"drawbridge/gateway/tokenizer"
	"drawbridge/test/cases"
)

var update = flag.Bool("update", false, "write what the code does into the cases")

// TestRules runs the cases of testdata/rules: an answer, and select, fields, drop_nulls, max_items or max_tokens; the projected answer and
// the note are compared.
func TestRules(t *testing.T) {
	cases.Run(t, "testdata/rules/*.txtar", func(t *testing.T, file string, a *txtar.Archive) {
		got := applyCase(t, a)
		if got.Failed != nil {
			compare(t, file, a, map[string]string{"failed": got.Failed.Error()})
			return
		}
		compare(t, file, a, map[string]string{"projected": string(got.Data), "note": got.Note() + nextOf(got)})
	})
}

// nextOf returns a line with the paths that select what follows what is shown.
func nextOf(a Answer) string {
	var next []string
	for i := range a.Cuts {
		if path := a.Cuts[i].Next(a.Sliced); path != "" {
			next = append(next, path)
		}
	}
	if next == nil {
		return ""
	}
	return "\nnext: " + strings.Join(next, ", ")
}

func applyCase(t *testing.T, a *txtar.Archive) Answer {
	t.Helper()
	var r Rule
	var fields *FieldList
	var data []byte
	for _, f := range a.Files {
		text := strings.TrimSuffix(string(f.Data), "\n")
		var err error
		switch f.Name {
		case "answer":
			var ok bool
			if data, ok = Compact(f.Data); !ok {
				t.Fatal("the answer is not JSON")
			}
		case "select":
			r.Select, err = NewCompiler().Compile(text)
		case "fields":
			fields, err = ParseFieldList(text)
		case "drop_nulls":
			r.DropNulls = true
		case "max_items":
			r.Limits.MaxItems, err = strconv.Atoi(text)
		case "max_tokens":
			r.Limits.MaxTokens, err = strconv.Atoi(text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	got := r.Apply(t.Context(), data, false, fields)
	if got.Failed == nil && !json.Valid(got.Data) {
		t.Errorf("not JSON: %s", got.Data)
	}
	if most := r.Limits.MaxTokens; most > 0 && tokenizer.Count(got.Data) > most {
		t.Errorf("%d tokens, more than %d", tokenizer.Count(got.Data), most)
	}
	return got
}

// compare compares sections of a case with what they should be, or writes them.
func compare(t *testing.T, file string, a *txtar.Archive, got map[string]string) {
	t.Helper()
	for name, text := range got {
		text = strings.TrimSuffix(text, "\n") + "\n"
		i := 0
		for i < len(a.Files) && a.Files[i].Name != name {
			i++
		}
		if *update {
			if i == len(a.Files) {
				a.Files = append(a.Files, txtar.File{Name: name})
			}
			a.Files[i].Data = []byte(text)
			continue
		}
		if i == len(a.Files) {
			t.Errorf("the case has no section %s", name)
		} else if diff := cmp.Diff(string(a.Files[i].Data), text); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if *update {
		cases.Write(t, file, a)
	}
}

// TestPrograms runs the lines of testdata/programs.txtar: an expression and what becomes of the answer, or why it is refused.
func TestPrograms(t *testing.T) {
	const file = "testdata/programs.txtar"
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string][]byte{}
	for _, f := range a.Files {
		sections[f.Name] = f.Data
	}
	data, ok := Compact(sections["answer"])
	if !ok {
		t.Fatal("the answer is not JSON")
	}
	for _, name := range []string{"selects", "refused", "fails"} {
		var out bytes.Buffer
		for line := range strings.Lines(string(sections[name])) {
			text, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "   → ")
			if text == "" {
				continue
			}
			p, err := NewCompiler().Compile(text)
			if (err != nil) != (name == "refused") {
				t.Errorf("%s: %s: %v", name, text, err)
				continue
			}
			result := ""
			if err != nil {
				result = strings.ReplaceAll(err.Error(), "\n", "; ")
			} else {
				got, err := p.Run(t.Context(), data)
				if (err != nil) != (name == "fails") {
					t.Errorf("%s: %s: %v", name, text, err)
				}
				if result = string(got); err != nil {
					result = err.Error()
				}
			}
			out.WriteString(text + "   → " + result + "\n")
		}
		compare(t, file, a, map[string]string{name: out.String()})
	}
}

// TestFieldListErrors: a list that is wrong is answered by a sentence for the model.
func TestFieldListErrors(t *testing.T) {
	const file = "testdata/fieldlists.txtar"
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for line := range strings.Lines(string(a.Files[0].Data)) {
		text, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "   → ")
		if _, err := ParseFieldList(text); err != nil {
			out.WriteString(text + "   → " + err.Error() + "\n")
		} else {
			t.Errorf("%q is accepted", text)
		}
	}
	compare(t, file, a, map[string]string{"wrong": out.String()})
}

package toolsearch

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drawbridge/test/update"

	"golang.org/x/tools/txtar"

	"drawbridge/gateway/catalog"
	"drawbridge/gateway/finder"
	"drawbridge/openapi"
	"drawbridge/test/cases"
)

// compile returns a catalog of one API for each document of an archive, by the names of the files.
func compile(t *testing.T, documents []txtar.File) *catalog.Catalog {
	t.Helper()
	var apis []catalog.API
	for _, f := range documents {
		file := filepath.Join(t.TempDir(), f.Name)
		if err := os.WriteFile(file, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := openapi.Load(t.Context(), file, openapi.LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		api, err := d.Compile(t.Context(), openapi.CompileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		apis = append(apis, catalog.API{Name: strings.TrimSuffix(f.Name, ".yaml"), Operations: api.Operations,
			Choose: func(*openapi.Operation) (catalog.Choice, bool) { return catalog.Choice{}, true }})
	}
	return catalog.Build(apis, catalog.Options{Prefix: catalog.Never})
}

// TestAnswers: each case has documents, the names of tools that the caller may not call, and calls with their answers. (pains row 18)
func TestAnswers(t *testing.T) {
	cases.Run(t, "testdata/*.txtar", func(t *testing.T, file string, a *txtar.Archive) {
		var documents []txtar.File
		var hidden []string
		var calls string
		want := -1
		for i, f := range a.Files {
			switch f.Name {
			case "hidden":
				hidden = strings.Fields(string(f.Data))
			case "calls":
				calls = string(f.Data)
			case "answers":
				want = i
			default:
				documents = append(documents, f)
			}
		}
		c := compile(t, documents)
		s := &Scope{Tools: c.All(), Index: func() *finder.Index { return finder.OfTools(c.All(), nil) },
			Allowed: func(t *catalog.Tool) bool { return !slices.Contains(hidden, t.Name) }}
		var got strings.Builder
		for line := range strings.Lines(calls) {
			name, args, _ := strings.Cut(strings.TrimSpace(line), " ")
			fmt.Fprintf(&got, "> %s %s\n%s\n", name, args, s.answer(t, name, args))
		}
		for _, name := range hidden {
			for _, line := range strings.Split(got.String(), "\n") {
				if !strings.HasPrefix(line, ">") && !strings.HasPrefix(line, "There is no tool") && strings.Contains(line, name) {
					t.Errorf("%q is in an answer: %s", name, line)
				}
			}
		}
		if *update.Expected {
			a.Files[want].Data = []byte(got.String())
			if err := os.WriteFile(file, txtar.Format(a), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if want := string(a.Files[want].Data); want != got.String() {
			t.Errorf("got\n%s\nwant\n%s", got.String(), want)
		}
	})
}

func (s *Scope) answer(t *testing.T, name, args string) string {
	t.Helper()
	switch name {
	case Search:
		text, _, err := s.Search(t.Context(), []byte(args))
		if err != nil {
			return err.Error() + " The signature is " + Definition(name).Signature() + "."
		}
		return text
	case Describe:
		texts, found, err := s.Describe([]byte(args), catalog.FeaturesOf("2025-11-25"))
		if err != nil {
			return err.Error() + " The signature is " + Definition(name).Signature() + "."
		}
		var all []string
		for _, text := range texts {
			all = append(all, string(text))
		}
		return fmt.Sprintf("%d found\n%s", found, strings.Join(all, "\n"))
	case Read, Call:
		target, err := TargetOf([]byte(args))
		tool, arguments := target.Name, target.Arguments
		if err != nil {
			return err.Error() + " The signature is " + Definition(name).Signature() + "."
		}
		if s.lookup(tool) == nil {
			return s.Unknown(tool)
		}
		return tool + " " + string(arguments)
	case "instructions":
		return s.Instructions(strings.Trim(args, `"`))
	}
	t.Fatalf("unknown call %q", name)
	return ""
}

// TestPages: each revision gets the members that it knows, and a page has no more definitions than allowed.
func TestPages(t *testing.T) {
	for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2026-07-28"} {
		f := catalog.FeaturesOf(revision)
		for size := range 6 {
			names := []string{}
			for _, page := range catalog.PagesOf(Listed(nil, nil), f, size) {
				var tools []map[string]any
				if err := json.Unmarshal(page, &tools); err != nil {
					t.Fatalf("%s: %v", page, err)
				}
				if size > 0 && len(tools) > size {
					t.Errorf("%d definitions on a page, want at most %d", len(tools), size)
				}
				for _, tool := range tools {
					names = append(names, tool["name"].(string))
					if _, ok := tool["annotations"]; ok != f.Annotations {
						t.Errorf("%s: %v", revision, tool)
					}
					if _, ok := tool["title"]; ok != f.Title {
						t.Errorf("%s: %v", revision, tool)
					}
				}
			}
			if want := []string{Search, Describe, Read, Call}; !slices.Equal(names, want) {
				t.Errorf("%v, want %v", names, want)
			}
		}
	}
}

// TestInstructions: they never exceed the limit, and those of the operator come first, whole.
func TestInstructions(t *testing.T) {
	var tools []*catalog.Tool
	for n := range 300 {
		tools = append(tools, &catalog.Tool{Name: fmt.Sprint(n), API: fmt.Sprintf("api-%d-%s", n, strings.Repeat("x", n%40)), Operation: &openapi.Operation{}})
	}
	s := &Scope{Tools: tools, Allowed: func(*catalog.Tool) bool { return true }}
	for n := range 4097 {
		own := strings.Repeat("o", n)
		got := s.Instructions(own)
		if len(got) > maxInstructions || !strings.HasPrefix(got, own) {
			t.Fatalf("%d bytes with %d of the operator: %.80s", len(got), n, got)
		}
		if n < 3000 && !strings.Contains(got, Search) {
			t.Fatalf("%d bytes of the operator leave no word of %s", n, Search)
		}
	}
}

// FuzzArguments: whatever a model sends, the answer is a text or a list of faults.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{`{"query":"list orders"}`, `{"query":1,"limit":"x","api":[],"tag":null,"read_only":1,"more":2}`, `{"names":["a"]}`, `{"name":"a","arguments":"{}"}`, `{}`} {
		f.Add(seed)
	}
	c := catalog.Build([]catalog.API{{Name: "a", Operations: []*openapi.Operation{{ID: "a", Method: "GET", Path: "/", Input: json.RawMessage(`{}`)}}}}, catalog.Options{})
	s := &Scope{Tools: c.All(), Index: func() *finder.Index { return finder.OfTools(c.All(), nil) }, Allowed: func(*catalog.Tool) bool { return true }}
	f.Fuzz(func(t *testing.T, args string) {
		var object map[string]any
		if json.Unmarshal([]byte(args), &object) != nil || object == nil {
			return // the protocol has refused it
		}
		if text, _, err := s.Search(t.Context(), []byte(args)); (text == "") == (err == nil) {
			t.Errorf("%q, %v", text, err)
		}
		if texts, _, err := s.Describe([]byte(args), catalog.Features{}); (len(texts) == 0) == (err == nil) {
			t.Errorf("%q, %v", texts, err)
		}
		if target, err := TargetOf([]byte(args)); err == nil && target.Arguments != nil && !json.Valid(target.Arguments) {
			t.Errorf("%q is not JSON", target.Arguments)
		}
	})
}

package finder

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// archive returns the files of a case.
func archive(t testing.TB, name string) map[string]string {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range a.Files {
		files[f.Name] = strings.TrimSpace(string(f.Data))
	}
	return files
}

func shop(t testing.TB) (tools []Tool, queries string) {
	t.Helper()
	return toolsOf(t, "orders.txtar")
}

// toolsOf returns the tools and queries of a case.
func toolsOf(t testing.TB, name string) (tools []Tool, queries string) {
	t.Helper()
	files := archive(t, name)
	for line := range strings.Lines(files["tools"]) {
		var tool Tool
		if err := json.Unmarshal([]byte(line), &tool); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		tools = append(tools, tool)
	}
	return tools, files["queries"]
}

func TestWords(t *testing.T) {
	for line := range strings.Lines(archive(t, "words.txtar")["words"]) {
		text, want, _ := strings.Cut(strings.TrimSpace(line), " = ")
		var got []string
		words(text, func(word string) { got = append(got, word) })
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestSearch(t *testing.T) {
	tools, queries := shop(t)
	x := New(tools, nil)
	for line := range strings.Lines(queries) {
		text, want, _ := strings.Cut(strings.TrimSpace(line), "=>")
		hits := x.Search(Query{Text: text, Limit: 3}).Hits
		first := ""
		if len(hits) > 0 {
			first = tools[hits[0].Tool].Name
		}
		if first != strings.TrimSpace(want) {
			t.Errorf("%q: %q is first, want %q", text, first, strings.TrimSpace(want))
			for _, hit := range hits {
				t.Logf("  %.2f %s", hit.Score, tools[hit.Tool].Name)
			}
		}
	}
}

// TestKinds checks the first hits of queries, their twins, and whether the match is weak.
func TestKinds(t *testing.T) {
	for _, name := range []string{"kinds.txtar", "everyday.txtar"} {
		t.Run(name, func(t *testing.T) { testKinds(t, name) })
	}
}

func testKinds(t *testing.T, name string) {
	t.Helper()
	tools, queries := toolsOf(t, name)
	x := New(tools, nil)
	for line := range strings.Lines(queries) {
		text, want, _ := strings.Cut(strings.TrimSpace(line), " => ")
		r := x.Search(Query{Text: text, Limit: 5})
		if want == "?" {
			if !r.Weak {
				t.Errorf("%q fits %v", text, tools[r.Hits[0].Tool].Name)
			}
			continue
		}
		if r.Weak || len(r.Unmet) > 0 {
			t.Errorf("%q: nothing fits %q well", text, r.Unmet)
		}
		var got []string
		for _, hit := range r.Hits[:min(len(r.Hits), 1+strings.Count(want, ","))] {
			name := tools[hit.Tool].Name
			for _, twin := range r.Twins[hit.Tool] {
				name += " + " + tools[twin].Name
			}
			got = append(got, name)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%q finds %q, want %q", text, got, want)
		}
	}
}

// TestNames checks that a name finds its tool first, however it is written.
func TestNames(t *testing.T) {
	tools := many(2000)
	x := New(tools, nil)
	for i := range tools {
		for _, name := range []string{tools[i].Name, strings.ToUpper(tools[i].Name), strings.ReplaceAll(tools[i].Name, "_", " "), "what does `" + tools[i].Name + "` return?"} {
			if hits := x.Search(Query{Text: name, Limit: 1}).Hits; len(hits) == 0 || hits[0].Tool != i || !hits[0].Exact {
				t.Fatalf("%q finds %v, want %d", name, hits, i)
			}
		}
	}
}

// TestSearchIsDeterministic checks that the order of the tools in the index does not change the hits, and that only
// allowed tools are found.
func TestSearchIsDeterministic(t *testing.T) {
	tools, queries := shop(t)
	backward := slices.Clone(tools)
	slices.Reverse(backward)
	first, second := New(tools, nil), New(backward, nil)
	for line := range strings.Lines(queries) {
		var names []string
		for _, hit := range first.Search(Query{Text: line, Limit: 10}).Hits {
			names = append(names, tools[hit.Tool].Name)
		}
		var others []string
		for _, hit := range second.Search(Query{Text: line, Limit: 10}).Hits {
			others = append(others, backward[hit.Tool].Name)
		}
		if !slices.Equal(names, others) {
			t.Errorf("%s finds %q, and %q if the tools are added in another order", line, names, others)
		}
		hits := first.Search(Query{Text: line, Limit: 10, Allowed: func(tool int) bool { return tools[tool].Method == "GET" }}).Hits
		for _, hit := range hits {
			if tools[hit.Tool].Method != "GET" {
				t.Errorf("%s finds %s, which is not allowed", line, tools[hit.Tool].Name)
			}
		}
	}
}

// TestScratchIsClean checks that a search leaves no state for the next one.
func TestScratchIsClean(t *testing.T) {
	tools, queries := shop(t)
	x := New(tools, nil)
	want := map[string][]Hit{}
	for line := range strings.Lines(queries) {
		want[line] = New(tools, nil).Search(Query{Text: line, Limit: 5}).Hits
	}
	for range 3 {
		for line, hits := range want {
			if got := x.Search(Query{Text: line, Limit: 5}).Hits; !slices.Equal(got, hits) {
				t.Fatalf("%s: %v, want %v", line, got, hits)
			}
		}
	}
}

func TestNoTools(t *testing.T) {
	if hits := New(nil, nil).Search(Query{Text: "orders of Ann", Limit: 8}).Hits; len(hits) != 0 {
		t.Errorf("found %v", hits)
	}
}

func TestResemble(t *testing.T) {
	for _, c := range []struct {
		unknown, known string
		want           bool
	}{
		{"oders", "order", false}, {"oder", "order", true}, {"ordre", "order", true}, {"order", "orders", true}, {"ordar", "order", true},
		{"cat", "car", false}, {"direct", "director", true}, {"person", "personalization", false}, {"abcd", "bacd", true},
	} {
		if got := resemble(c.unknown, c.known); got != c.want {
			t.Errorf("resemble(%q, %q) = %v", c.unknown, c.known, got)
		}
	}
}

func FuzzSearch(f *testing.F) {
	tools, queries := shop(f)
	x := New(tools, nil)
	for line := range strings.Lines(queries) {
		f.Add(line)
	}
	f.Add("\xff\xfe 東 \u0301 'A' \"\"")
	f.Fuzz(func(t *testing.T, text string) {
		hits := x.Search(Query{Text: text, Limit: 5}).Hits
		if len(hits) > 5 {
			t.Fatalf("%d hits", len(hits))
		}
		if !slices.IsSortedFunc(hits, x.compare) {
			t.Fatalf("%v are not in order", hits)
		}
		New([]Tool{{Name: text, Summary: text, Description: text, Path: text, Tags: []string{text}}}, nil).Search(Query{Text: text, Limit: 1})
	})
}

// many returns n tools whose texts resemble those of real documents in length and variety.
func many(n int) []Tool {
	nouns := []string{"order", "customer", "refund", "invoice", "shipment", "product", "warehouse", "payment", "account", "webhook", "project", "issue", "comment", "label", "release"}
	tools := make([]Tool, n)
	for i := range tools {
		a, b := nouns[i%len(nouns)], nouns[(i/len(nouns))%len(nouns)]
		method := []string{"GET", "POST", "PUT", "DELETE"}[i%4]
		tools[i] = Tool{
			Name: fmt.Sprintf("%s_%s_%s_%d", strings.ToLower(method), a, b, i), API: fmt.Sprintf("api%d", i/500), Method: method,
			Path: fmt.Sprintf("/%ss/{id}/%ss%d", a, b, i%97), Summary: fmt.Sprintf("%s the %s of a %s in group %d", method, b, a, i%53),
			Description: strings.Repeat(fmt.Sprintf("The %s belongs to one %s, and is changed by whoever owns it in region %d. ", b, a, i%31), 4),
			Tags:        []string{a}, Parameters: []string{"id", "page", "per_page", b + "_id", fmt.Sprintf("field%d", i%211)},
			Properties: []string{"id", "name", "created_at", a + "_url", fmt.Sprintf("member%d", i%307)},
		}
	}
	return tools
}

func BenchmarkNew(b *testing.B) {
	tools := many(10_000)
	b.ReportAllocs()
	for b.Loop() {
		New(tools, nil)
	}
}

func BenchmarkSearch(b *testing.B) {
	x := New(many(10_000), nil)
	b.ReportAllocs()
	for b.Loop() {
		x.Search(Query{Text: "list the shipments of a customer that were changed by Ann in the last week", Limit: 8})
	}
}

package jsonpath

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"drawbridge/openapi/tree"
)

// FuzzSelect checks that Parse and Select return, within limits, for any query and document; that errors have a
// position; and that the result consists of nodes of the document, each once.
func FuzzSelect(f *testing.F) {
	data, err := os.ReadFile("testdata/cts/cts.json")
	if err != nil {
		f.Fatal(err)
	}
	var suite struct {
		Tests []struct {
			Selector string
			Document json.RawMessage
		}
	}
	if err := json.Unmarshal(data, &suite); err != nil {
		f.Fatal(err)
	}
	for i, c := range suite.Tests {
		if i%10 == 0 {
			f.Add(c.Selector, string(c.Document))
		}
	}
	for _, c := range nested {
		f.Add(c.before+strings.Repeat(c.text, 20)+c.after+strings.Repeat(c.end, 20), `{"a":[{"a":1,"b":[]}]}`)
	}
	f.Fuzz(func(t *testing.T, query, document string) {
		q, err := Parse(query)
		if err != nil {
			if utf8.ValidString(query) && len(query) <= MaxBytes && !strings.HasPrefix(err.Error(), "at character ") {
				t.Errorf("%q: %v", query, err)
			}
			return
		}
		if q.String() != query {
			t.Errorf("%q became %q", query, q)
		}
		root, err := tree.Parse("document", []byte(document), tree.Limits{Nodes: 1_000, Depth: 20})
		if err != nil {
			return
		}
		nodes, err := q.Select(root, &steps{left: 100_000})
		if err != nil {
			return
		}
		seen := make(map[*tree.Node]bool)
		for _, n := range nodes {
			top := n
			for top.Parent() != nil {
				top = top.Parent()
			}
			if seen[n] || top != root {
				t.Errorf("%q selects %s, which is there twice or in another document", query, normalizedPath(n))
			}
			seen[n] = true
		}
	})
}

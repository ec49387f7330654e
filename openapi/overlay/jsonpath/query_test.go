package jsonpath

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"drawbridge/openapi/tree"
)

// TestJSONPathCompliance runs the compliance test suite of RFC 9535: the nodes that a query selects, each once.
func TestJSONPathCompliance(t *testing.T) {
	data, err := os.ReadFile("testdata/cts/cts.json")
	if err != nil {
		t.Fatal(err)
	}
	var suite struct {
		Tests []struct {
			Name       string
			Selector   string
			Document   json.RawMessage
			Paths      []string   `json:"result_paths"`
			PathsOneOf [][]string `json:"results_paths"`
			IsInvalid  bool       `json:"invalid_selector"`
		}
	}
	if err := json.Unmarshal(data, &suite); err != nil {
		t.Fatal(err)
	}
	if len(suite.Tests) < 700 {
		t.Fatalf("only %d tests", len(suite.Tests))
	}
	for _, c := range suite.Tests {
		t.Run(c.Name, func(t *testing.T) {
			q, err := Parse(c.Selector)
			if c.IsInvalid != (err != nil) {
				t.Fatalf("%q: %v", c.Selector, err)
			}
			if c.IsInvalid {
				return
			}
			root, err := tree.Parse("document", c.Document, tree.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			nodes, err := q.Select(root, &steps{left: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, n := range nodes {
				got = append(got, normalizedPath(n))
			}
			slices.Sort(got)
			want := once(c.Paths)
			matches := c.PathsOneOf == nil && slices.Equal(got, want)
			for _, other := range c.PathsOneOf {
				matches = matches || slices.Equal(got, once(other))
			}
			if !matches {
				t.Errorf("%q selects %q, want %q %q", c.Selector, got, want, c.PathsOneOf)
			}
		})
	}
}

// steps is a Work with a number of steps.
type steps struct{ left int }

var errSteps = errors.New("took too many steps")

func (s *steps) Take(n int) error {
	if s.left -= n; s.left < 0 {
		return errSteps
	}
	return nil
}

// once returns paths sorted, each once.
func once(paths []string) []string {
	paths = slices.Clone(paths)
	slices.Sort(paths)
	return slices.Compact(paths)
}

// normalizedPath returns the normalized path of a node (RFC 9535 section 2.7).
func normalizedPath(n *tree.Node) string {
	up := n.Parent()
	if up == nil {
		return "$"
	}
	if up.Kind() == tree.Array {
		for i, item := range up.Items() {
			if item == n {
				return fmt.Sprintf("%s[%d]", normalizedPath(up), i)
			}
		}
	}
	var b strings.Builder
	for _, c := range n.Key() {
		switch c {
		case '\b':
			b.WriteString(`\b`)
		case '\f':
			b.WriteString(`\f`)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		case '\'', '\\':
			b.WriteString(`\` + string(c))
		default:
			if c < ' ' {
				fmt.Fprintf(&b, `\u%04x`, c)
			} else {
				b.WriteRune(c)
			}
		}
	}
	return normalizedPath(up) + "['" + b.String() + "']"
}

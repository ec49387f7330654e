package main

import (
	"slices"
	"testing"
)

func TestLargestSet(t *testing.T) {
	for name, c := range map[string]struct {
		edges map[string][]string
		want  []string
	}{
		"no edges":          {map[string][]string{"a": nil, "b": nil}, nil},
		"one way":           {map[string][]string{"a": {"b"}, "b": {"c"}, "c": nil}, nil},
		"a ring":            {map[string][]string{"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}, []string{"a", "b", "c"}},
		"the larger of two": {map[string][]string{"a": {"b"}, "b": {"a"}, "c": {"d"}, "d": {"e"}, "e": {"c", "a"}}, []string{"c", "d", "e"}},
		"rings that touch":  {map[string][]string{"a": {"b"}, "b": {"a", "c"}, "c": {"d"}, "d": {"b"}}, []string{"a", "b", "c", "d"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := largestSet(c.edges); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// A package whose figures can be counted by hand.
func TestMeasure(t *testing.T) {
	all, err := measure([]string{"drawbridge/openapi/httpmethod"})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 || all[0].name != "openapi/httpmethod" || all[0].files != 2 || all[0].exported == 0 || all[0].set != nil {
		t.Errorf("got %+v", all)
	}
}

func TestExceeded(t *testing.T) {
	m := measured{name: "gateway", lines: gatewayLines + 1, longest: file{"a.go", longestFile + 1}, set: make([]string, largestSetOf+1)}
	if got := m.exceeded(); len(got) != 3 {
		t.Errorf("got %q", got)
	}
	if got := (measured{name: "gateway/mcp", lines: gatewayLines + 1, set: make([]string, 29)}).exceeded(); got != nil {
		t.Errorf("got %q", got)
	}
}

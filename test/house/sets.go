package main

import (
	"maps"
	"slices"
)

// largestSet returns the largest strongly connected set of a graph, sorted; nil if no set has more than one node. Of several
// sets of one size it returns the first by name. The algorithm is Tarjan's (SIAM Journal on Computing 1, 1972).
func largestSet(edges map[string][]string) []string {
	t := tarjan{edges: edges, index: map[string]int{}, low: map[string]int{}, onStack: map[string]bool{}}
	for _, node := range slices.Sorted(maps.Keys(edges)) {
		if _, visited := t.index[node]; !visited {
			t.visit(node)
		}
	}
	if len(t.largest) < 2 {
		return nil
	}
	return t.largest
}

type tarjan struct {
	edges      map[string][]string
	index, low map[string]int
	onStack    map[string]bool
	stack      []string
	largest    []string
}

func (t *tarjan) visit(node string) {
	t.index[node] = len(t.index)
	t.low[node] = t.index[node]
	t.stack, t.onStack[node] = append(t.stack, node), true
	for _, next := range t.edges[node] {
		if _, visited := t.index[next]; !visited {
			t.visit(next)
			t.low[node] = min(t.low[node], t.low[next])
		} else if t.onStack[next] {
			t.low[node] = min(t.low[node], t.index[next])
		}
	}
	if t.low[node] != t.index[node] {
		return
	}
	first := slices.Index(t.stack, node)
	set := slices.Clone(t.stack[first:])
	t.stack = t.stack[:first]
	for _, n := range set {
		t.onStack[n] = false
	}
	if len(set) > len(t.largest) {
		slices.Sort(set)
		t.largest = set
	}
}

package overlay

import (
	"math"
	"strconv"
	"strings"

	"github.com/theory/jsonpath/spec"

	"drawbridge/openapi/tree"
)

// values converts nodes to the values that filters are evaluated on, each object and array at most once.
type values struct {
	document *tree.Node
	work     *work
	known    map[*tree.Node]converted // objects and arrays
	count    int
}

// converted is the value of a node, and how many values it has in all.
type converted struct {
	value any
	size  int
}

func newValues(root *tree.Node, w *work) *values { return &values{document: root, work: w} }

// root returns the value of the document, for filters that use it.
func (v *values) root(used bool) (any, error) {
	if !used {
		return nil, nil
	}
	return v.of(v.document)
}

// of returns the value of a node.
func (v *values) of(n *tree.Node) (any, error) {
	c, err := v.convert(n)
	return c.value, err
}

func (v *values) convert(n *tree.Node) (converted, error) {
	if c, ok := v.known[n]; ok {
		return c, nil
	}
	if err := v.work.take(1 + len(n.Text())/textPerStep); err != nil {
		return converted{}, err
	}
	if v.count++; v.count > maxFiltered {
		return converted{}, errTooManyFiltered
	}
	c := converted{size: 1}
	switch n.Kind() {
	case tree.Object:
		members := make(map[string]any, n.Len())
		for key, member := range n.Members() {
			m, err := v.convert(member)
			if err != nil {
				return c, err
			}
			members[key], c.size = m.value, c.size+m.size
		}
		c.value = members
	case tree.Array:
		items := make([]any, 0, n.Len())
		for _, item := range n.Items() {
			m, err := v.convert(item)
			if err != nil {
				return c, err
			}
			items, c.size = append(items, m.value), c.size+m.size
		}
		c.value = items
	case tree.Number:
		// RFC 9535 compares numbers as I-JSON has them, which is by their values as float64; out of range is infinite.
		number, _ := strconv.ParseFloat(n.Text(), 64)
		c.value = number
	case tree.Bool:
		c.value = n.Bool()
	case tree.String:
		c.value = n.Text()
	default: // null is nil
	}
	if n.Len() > 0 {
		if v.known == nil {
			v.known = make(map[*tree.Node]converted)
		}
		v.known[n] = c
	}
	return c, nil
}

// size returns how many values a converted node has in all.
func (v *values) size(n *tree.Node) int { return max(v.known[n].size, 1) }

// cost is an upper bound of the steps that a filter takes for one node. The library evaluates filters and can't be
// stopped, so the steps are taken ahead.
type cost struct {
	single      bool // the filter has one query, which leads to one value
	fixed       bool // each of its queries leads to one value
	absolute    bool // the filter has queries that begin at the root of the document
	descendants int  // descendant segments
}

// costOf judges a filter by its canonical text. A character in a string literal may count too, which makes the cost higher
// than it is.
func costOf(filter *spec.FilterSelector) cost {
	text := filter.String()
	c := cost{absolute: strings.Contains(text, "$"), descendants: strings.Count(text, "..")}
	c.fixed = c.descendants == 0 && !strings.ContainsAny(text, "*:") && !strings.Contains(text, "[?")
	c.single = c.fixed && strings.Count(text, "@")+strings.Count(text, "$") <= 1
	return c
}

// of returns the cost for a node whose value is converted.
func (c cost) of(v *values, n *tree.Node) int {
	if c.single {
		return 1
	}
	size := float64(v.size(n))
	if c.fixed {
		return int(size) // two values are compared
	}
	times := float64(max(c.descendants, 1))
	steps := filterSteps * math.Pow(size, times)
	if c.absolute {
		steps *= math.Pow(float64(v.size(v.document)), times)
	}
	return int(min(steps, maxSteps+1))
}

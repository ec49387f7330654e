package endpoint

import (
	"fmt"

	"drawbridge/gateway/catalog"
)

// cost is what the definitions of tools cost in a model's context.
type cost struct {
	tokens int
	exact  bool // they were all counted; else tokens is extrapolated by the bytes
}

// costOf counts the tokens of definitions as far as a limit, since counting a megabyte takes 300 ms, and extrapolates what is
// above it.
func costOf(tools []*catalog.Tool, limit int) cost {
	c, counted, bytes := cost{exact: true}, 0, 0
	for i := range tools {
		// Neighbours are alike, so tools from everywhere are counted first.
		t := tools[spread(i, len(tools))]
		bytes += t.Bytes()
		if c.tokens > limit {
			c.exact = false
			continue
		}
		c.tokens += t.Tokens()
		counted = bytes
	}
	if !c.exact {
		c.tokens = int(float64(c.tokens) * float64(bytes) / float64(counted))
	}
	return c
}

// spread returns place i of an order of n things in which neighbours are far from each other. It is the same at each call.
func spread(i, n int) int {
	step := max(1, int(float64(n)*0.618)) // by the golden ratio
	for gcd(step, n) > 1 {
		step++
	}
	return i * step % n
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// String returns the cost, rounded to two digits if it is not exact.
func (c cost) String() string {
	if c.exact {
		return fmt.Sprintf("%d tokens", c.tokens)
	}
	unit := 1
	for c.tokens/unit >= 100 {
		unit *= 10
	}
	return fmt.Sprintf("about %d tokens", (c.tokens+unit/2)/unit*unit)
}

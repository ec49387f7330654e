package endpoint

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"drawbridge/gateway/catalog"
	"drawbridge/openapi"
)

// TestSpread: each place comes once.
func TestSpread(t *testing.T) {
	for n := 1; n < 300; n++ {
		seen := make([]bool, n)
		for i := range n {
			p := spread(i, n)
			if p < 0 || p >= n || seen[p] {
				t.Fatalf("of %d: place %d is %d", n, i, p)
			}
			seen[p] = true
		}
	}
}

// TestCost: below its limit a cost is exact, and above it is close to what it would be.
func TestCost(t *testing.T) {
	api := catalog.API{Name: "a"}
	for n := range 500 {
		api.Operations = append(api.Operations, &openapi.Operation{
			ID: fmt.Sprintf("op%03d", n), Method: "GET", Path: "/", Description: strings.Repeat("Some words of a text. ", n%40), Input: json.RawMessage(`{"type":"object"}`),
		})
	}
	tools := catalog.Build([]catalog.API{api}, catalog.Options{}).All()
	whole := costOf(tools, math.MaxInt)
	sum := 0
	for _, tool := range tools {
		sum += tool.Tokens()
	}
	if !whole.exact || whole.tokens != sum {
		t.Errorf("%v, want %d tokens", whole, sum)
	}
	for _, limit := range []int{sum / 20, sum / 2} {
		if c := costOf(tools, limit); c.exact || c.tokens <= limit || math.Abs(float64(c.tokens-sum)) > 0.1*float64(sum) {
			t.Errorf("up to %d: %v, want about %d tokens", limit, c, sum)
		}
	}
	for c, want := range map[cost]string{{725_677, true}: "725677 tokens", {725_677, false}: "about 730000 tokens", {99, false}: "about 99 tokens", {996, false}: "about 1000 tokens"} {
		if got := c.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

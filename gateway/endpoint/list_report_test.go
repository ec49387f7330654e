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

// TestTokensOfLists: below its limit an estimate is exact, and above it is close.
func TestTokensOfLists(t *testing.T) {
	api := catalog.API{Name: "a"}
	for n := range 500 {
		api.Operations = append(api.Operations, &openapi.Operation{
			ID: fmt.Sprintf("op%03d", n), Method: "GET", Path: "/", Description: strings.Repeat("Some words of a text. ", n%40), Input: json.RawMessage(`{"type":"object"}`),
		})
	}
	tools := catalog.Build([]catalog.API{api}, catalog.Options{}).All()
	sum := 0
	for _, tool := range tools {
		sum += tool.Tokens()
	}
	if got := estimate(tools, math.MaxInt); got != sum {
		t.Errorf("%d tokens, want %d", got, sum)
	}
	for _, limit := range []int{sum / 20, sum / 2} {
		if got := estimate(tools, limit); math.Abs(float64(got-sum)) > 0.1*float64(sum) {
			t.Errorf("up to %d: %d tokens, want about %d", limit, got, sum)
		}
	}
	for _, limit := range []int{0, sum - 1, sum, sum + 1, 10 * sum} {
		if got := exceeds(tools, limit); got != (sum > limit) {
			t.Errorf("%d tokens exceed %d: %v", sum, limit, got)
		}
	}
}

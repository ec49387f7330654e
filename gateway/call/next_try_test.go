package call_test

import (
	"testing"
	"time"

	"drawbridge/test/gatewaytest"
)

// TestNextTryMoves holds that next_try_at is the next attempt, also after attempts that found the document unchanged.
func TestNextTryMoves(t *testing.T) {
	o := gatewaytest.NewChanging(t, gatewaytest.Document("A", "one"))
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": "apis: [{spec: " + o.URL + "/a.yaml, name: a, refresh: 100ms}]\n"})
	r.Served()
	last := time.Time{}
	for range 3 {
		r.Eventually("another attempt is ahead", func() bool {
			next := r.State(0).NextTryAt
			return next != nil && next.After(last)
		})
		last = *r.State(0).NextTryAt
	}
}

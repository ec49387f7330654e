package gateway

import (
	"testing"
	"time"
)

// TestNextTryMoves holds that next_try_at is the next attempt, also after attempts that found the document unchanged.
func TestNextTryMoves(t *testing.T) {
	o := newChanging(t, document("A", "one"))
	r := run(t, map[string]string{"drawbridge.yaml": "apis: [{spec: " + o.URL + "/a.yaml, name: a, refresh: 100ms}]\n"})
	r.served()
	last := time.Time{}
	for range 3 {
		r.eventually("another attempt is ahead", func() bool {
			next := r.state(0).NextTryAt
			return next != nil && next.After(last)
		})
		last = *r.state(0).NextTryAt
	}
}

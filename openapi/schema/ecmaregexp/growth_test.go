package ecmaregexp

import (
	"regexp"
	"testing"
	"time"

	"drawbridge/test/growth"
)

// TestGrowth: a hostile expression is refused for its length, or takes little.
func TestGrowth(t *testing.T) {
	for _, bytes := range []int{maxLength - 10, 200_000} {
		growth.Hostile(t, bytes, time.Second, "", "", func(s string) {
			e, err := Parse(s)
			if err != nil {
				return
			}
			e.Samples()
			if e.RE2 != "" {
				_, _ = regexp.Compile(e.RE2)
			}
		})
	}
}

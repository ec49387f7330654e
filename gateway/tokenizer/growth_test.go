package tokenizer

import (
	"testing"
	"time"

	"drawbridge/test/growth"
)

// TestGrowth: the work on a hostile text grows with its length.
func TestGrowth(t *testing.T) {
	Load()
	growth.Hostile(t, 60_000, 2*time.Second, "", "", func(s string) { Count([]byte(s)) })
}

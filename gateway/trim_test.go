package gateway

import "testing"

// TestTrimDelay: memory is given back at once while the gateway starts, and later when there may be calls.
func TestTrimDelay(t *testing.T) {
	g := &Gateway{attempted: make(chan struct{})}
	if got := g.trimDelay(); got != trimAtStart {
		t.Errorf("at the start after %v, want %v", got, trimAtStart)
	}
	close(g.attempted)
	if got := g.trimDelay(); got != trimAfter {
		t.Errorf("then after %v, want %v", got, trimAfter)
	}
}

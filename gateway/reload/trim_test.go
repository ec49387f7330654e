package reload

import "testing"

// TestTrimDelay: memory is given back at once while the gateway starts, and later when there may be calls.
func TestTrimDelay(t *testing.T) {
	r := &Runner{attempted: make(chan struct{})}
	if got := r.trimDelay(); got != trimAtStart {
		t.Errorf("at the start after %v, want %v", got, trimAtStart)
	}
	r.setAttempted()
	if got := r.trimDelay(); got != TrimAfter {
		t.Errorf("then after %v, want %v", got, TrimAfter)
	}
}

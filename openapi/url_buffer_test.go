package openapi

import "testing"

// TestKeptRoom checks that the memory of one long URL is not kept for all the short ones.
func TestKeptRoom(t *testing.T) {
	for room, kept := range map[int]int{100: 100, maxKeptURL: maxKeptURL, maxKeptURL + 1: 0} {
		b := &requestBuilder{text: make([]byte, 10, room)}
		b.release()
		if cap(b.text) != kept || len(b.text) != 0 {
			t.Errorf("of %d bytes %d are kept", room, cap(b.text))
		}
	}
}

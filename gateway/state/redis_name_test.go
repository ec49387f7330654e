package state

import (
	"bytes"
	"testing"
)

// TestNameKey: names are made with the same key in whatever order the keys stand, so that they change once while keys are rotated.
func TestNameKey(t *testing.T) {
	t.Parallel()
	for _, keys := range [][2]string{{"old", "new"}, {"1", "2"}, {"same", "same longer"}} {
		one, other := []byte(keys[0]), []byte(keys[1])
		steps := [][][]byte{{one}, {one, other}, {other, one}, {other}}
		changes := 0
		for i := range steps[1:] {
			if !bytes.Equal(nameKey(steps[i]), nameKey(steps[i+1])) {
				changes++
			}
		}
		if changes != 1 {
			t.Errorf("%q: names change %d times", keys, changes)
		}
	}
}

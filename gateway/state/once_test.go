package state

import (
	"fmt"
	"testing"
	"time"
)

// TestOnceOfOne: who uses up more than his share leaves room to others, and it is not looked for what has ended at each attempt.
func TestOnceOfOne(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	o := NewLocalOnce(func() time.Time { return now })
	n := 0
	spend := func(owner string) error {
		n++
		first, err := o.Spend(t.Context(), owner, fmt.Sprint(n), now.Add(time.Minute))
		if first != (err == nil) {
			t.Fatalf("%d: %v %v", n, first, err)
		}
		return err
	}
	most := func(owner string) (used int) {
		for spend(owner) == nil {
			used++
		}
		return used
	}
	if used := most("greedy"); used != maxOnce/2 {
		t.Errorf("one uses %d alone", used)
	}
	for i := range 4 {
		if used := most(fmt.Sprint("other", i)); used != maxOnce/8 {
			t.Errorf("another uses %d", used)
		}
	}
	if spend("late") == nil {
		t.Error("it remembers more than it can")
	}
	now = now.Add(time.Minute)
	swept := o.swept
	if err := spend("late"); err != nil || o.swept == swept || len(o.used) != 1 || len(o.owners) != 1 {
		t.Errorf("after their time: %v, %d are remembered of %d", err, len(o.used), len(o.owners))
	}
	for range maxOnce / 2 {
		_ = spend("late")
	}
	swept = o.swept
	now = now.Add(onceSweep - 1)
	if err := spend("late"); err == nil || o.swept != swept {
		t.Errorf("it is looked again at once: %v", err)
	}
	now = now.Add(1)
	if err := spend("late"); err == nil || o.swept == swept {
		t.Errorf("it is not looked again: %v", err)
	}
}

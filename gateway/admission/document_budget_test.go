package admission

import (
	"errors"
	"testing"

	"drawbridge/openapi"
)

type owner struct {
	label   string
	leaving bool
}

func (o *owner) Label() string { return o.label }
func (o *owner) Leaving() bool { return o.leaving }

// TestLeavingOwner: one whose configuration changes is not measured against what takes its place, which has the same.
func TestLeavingOwner(t *testing.T) {
	b := NewDocumentBudget(100, 60, 1)
	leaving, next, other := &owner{label: "leaving"}, &owner{label: "next"}, &owner{label: "other"}
	api := &openapi.API{Size: 50}
	b.Set(leaving, api)
	b.Set(next, api)
	b.Set(other, &openapi.API{Size: 20})
	for o, want := range map[*owner]int64{leaving: 60, next: 60, other: 50, {}: 30} {
		if got := b.Left(o); got != want {
			t.Errorf("%q: %d are left, want %d", o.label, got, want)
		}
	}
	leaving.leaving = true
	b.Set(leaving, &openapi.API{Size: 60})
	for o, want := range map[*owner]int64{next: 60, other: 50} {
		if got := b.Left(o); got != want {
			t.Errorf("%q, with a newer document of the one that leaves: %d are left, want %d", o.label, got, want)
		}
	}
}

// TestTake: a document is counted if it fits beside those of others, and its owner's earlier one makes way for it.
func TestTake(t *testing.T) {
	b := NewDocumentBudget(100, 60, 10)
	large, small := &owner{label: "large"}, &owner{label: "small"}
	for _, step := range []struct {
		o    *owner
		size int64
		want bool
	}{{large, 60, true}, {small, 41, false}, {small, 40, true}, {large, 61, false}, {large, 60, true}, {&owner{label: "third"}, 11, false}, {&owner{label: "third"}, 10, true}} {
		if got := b.Take(step.o, &openapi.API{Size: step.size}); got != step.want {
			t.Errorf("%s with %d: %t", step.o.label, step.size, got)
		}
	}
	if owners, bytes := b.Usage(); owners != 3 || bytes != 110 {
		t.Errorf("%d owners have %d bytes", owners, bytes)
	}
	if b.Fits(small, &openapi.API{Size: 20}, &openapi.API{Size: 20}) {
		t.Error("both fit, though others have come")
	}
	b.Remove(large)
	if !b.Fits(small, &openapi.API{Size: 20}, &openapi.API{Size: 20}) {
		t.Error("both don't fit when another has gone")
	}
	b.Expect(large, 1000) // of which one document can't have more than 60
	if got := b.Left(small); got != 30 {
		t.Errorf("%d are left beside one that is expected", got)
	}
	if err := b.TooLarge(small, 60); !errors.Is(err, openapi.ErrLargeAPI) {
		t.Error(err)
	}
	if b := NewDocumentBudget(0, 0, 0); b.Left(small) != 0 || !b.Take(small, &openapi.API{Size: 1 << 40}) || !b.Fits(large, &openapi.API{Size: 1 << 40}) {
		t.Error("without a limit there is always room")
	}
}

package overlay

import (
	"errors"
	"fmt"

	"drawbridge/openapi/tree"
)

// Bounds of the overlays of one document. Their additions count towards the limits of the document.
const (
	// MaxBytes is the size of one overlay, in bytes.
	MaxBytes = 16 << 20

	maxActions  = 10_000      // of one overlay
	maxMatches  = 200_000     // nodes that one action changes
	maxFiltered = 500_000     // values that the filters of one action look at
	maxSteps    = 100_000_000 // of all queries: nodes that are looked at, and what filters look at
	filterSteps = 8           // that a filter takes for a value that it looks at
	maxFaults   = 20          // that are listed
	textPerStep = 64          // bytes of a text that filters may read in one step
)

var (
	errTooManyMatches  = fmt.Errorf("selects more than %d values; narrow it", maxMatches)
	errTooManyFiltered = fmt.Errorf("has filters that look at more than %d values; narrow what comes before them", maxFiltered)
	errTooMuchWork     = errors.New("takes too long for a document of this size; use fewer descendant segments (..) and filters")
)

// work counts the steps of all queries of a document.
type work struct {
	editor *tree.Editor // nil if nobody waits for the work
	left   int
}

// take takes a number of steps, and makes way for calls.
func (w *work) take(steps int) error {
	if w.left -= steps; w.left < 0 {
		return errTooMuchWork
	}
	if w.editor == nil {
		return nil
	}
	return w.editor.Step()
}

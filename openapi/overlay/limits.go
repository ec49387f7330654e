package overlay

import (
	"errors"
	"fmt"

	"drawbridge/openapi/tree"
)

// Limits of the overlays of one document. Their additions count towards the limits of the document.
const (
	// MaxBytes is the maximum size of one overlay, in bytes.
	MaxBytes = 16 << 20

	maxActions    = 10_000     // of one overlay
	maxQueryBytes = 2 << 20    // of all queries of one overlay: their compiled form takes about thirty times as much
	maxMatches    = 200_000    // nodes that one action changes
	maxSteps      = 50_000_000 // of all overlays of a document: nodes that are visited, compared or merged, and texts that are read
	maxFaults     = 20         // faults that are listed
	mergeSteps    = 4          // for a member that is merged
	maxShown      = 200        // bytes of a text that an error shows
)

var (
	errTooManyMatches = fmt.Errorf("selects more than %d values; narrow it", maxMatches)
	errTooMuchWork    = errors.New("takes too long for a document of this size; use fewer descendant segments (..), filters and actions, and shorter regular expressions")
)

// work counts the steps of all overlays of a document.
type work struct {
	editor *tree.Editor // nil if the work need not yield
	left   int
}

// Take takes a number of steps, and yields to calls.
func (w *work) Take(steps int) error {
	if w.left -= steps; w.left < 0 {
		return errTooMuchWork
	}
	if w.editor == nil {
		return nil
	}
	return w.editor.Step()
}

package source

import (
	"slices"
	"time"
)

// minLoss is the minimum number of lost operations for a quarantine, unless all are lost.
const minLoss = 4

// Quarantined is a document that lacks too many operations of the one in use (O2), or that would undo restrictions. It
// is immutable.
type Quarantined struct {
	// Digest identifies the document.
	Digest string
	// Update holds the compiled document. It is nil if both documents would exceed the memory budget; the document is
	// then reread when it is accepted.
	Update *Update
	// Lost lists the lost operations, as method and path, sorted.
	Lost []string
	// Of is the number of operations of the document in use.
	Of int
	// Unrestricted lists the restrictions that it would undo: those of the configuration, with their positions, and
	// those of the document in use that it lacks.
	Unrestricted []string

	version string // of the API, from the document
	since   time.Time
	// textDropped reports whether the text of the document is no longer in memory. The document is then reread when it
	// is accepted.
	textDropped bool
}

// Acceptance is an operator's decision to use a quarantined document.
type Acceptance struct {
	// API is the name of the API.
	API string
	// Digest is that of the accepted document; empty to accept any.
	Digest string
	// Done receives the outcome; nil if nobody waits.
	Done chan error
}

// lostOperations returns the operations of before that are missing in now, sorted; nil if they are at most maxLoss
// percent.
func lostOperations(before, now []string, maxLoss int) []string {
	have := make(map[string]bool, len(now))
	for _, op := range now {
		have[WithoutNames(op)] = true
	}
	var lost []string
	for _, op := range before {
		if !have[WithoutNames(op)] {
			lost = append(lost, op)
		}
	}
	if len(lost)*100 <= maxLoss*len(before) || len(lost) < minLoss && len(now) > 0 {
		return nil
	}
	slices.Sort(lost)
	return lost
}

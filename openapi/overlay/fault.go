package overlay

import (
	"fmt"
	"strings"

	"drawbridge/openapi/tree"
)

// Fault is why an overlay can't be applied.
type Fault struct {
	Position tree.Position
	Message  string // what is wrong, what to do
}

// Error returns "file:line:col: what; what to do".
func (f Fault) Error() string { return f.Position.String() + ": " + f.Message }

// Faults are all faults of one overlay.
type Faults []Fault

// Error returns the first of them, each as "file:line:col: what; what to do".
func (f Faults) Error() string {
	var b strings.Builder
	for i, fault := range f {
		if i == maxFaults {
			fmt.Fprintf(&b, "; and %d more", len(f)-i)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(fault.Error())
	}
	return b.String()
}

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
	more     int    // the number of faults that the last one of a list stands for; 0 in the others
}

// Error returns "file:line:col: what; what to do".
func (f Fault) Error() string { return f.Position.String() + ": " + f.Message }

// Faults are the faults of one overlay. The last one stands for those that are only counted.
type Faults []Fault

// Error returns them, each as "file:line:col: what; what to do".
func (f Faults) Error() string {
	var b strings.Builder
	for i, fault := range f {
		if fault.more > 0 {
			fmt.Fprintf(&b, "; and %d more", fault.more)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(fault.Error())
	}
	return b.String()
}

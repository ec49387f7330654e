package overlay

import (
	"fmt"
	"strings"

	"drawbridge/openapi/tree"
)

// Fault is the reason why an overlay can't be applied.
type Fault struct {
	Position tree.Position
	Message  string // the fault, the next step
	more     int    // for the last one of a list, the number of faults that are not listed; otherwise 0
}

// Error returns "file:line:col: fault; next step".
func (f Fault) Error() string { return f.Position.String() + ": " + f.Message }

// Faults are the faults of one overlay. The last one counts those that are not listed.
type Faults []Fault

// Error returns all of them, each as "file:line:col: fault; next step".
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

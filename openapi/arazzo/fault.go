package arazzo

import (
	"fmt"
	"strings"

	"drawbridge/openapi/text"
	"drawbridge/openapi/tree"
)

const (
	maxFaults = 100 // that are listed
	maxShown  = 200 // bytes of a text that an error shows
)

// Fault is a reason why a description can't be used.
type Fault struct {
	Position tree.Position
	Pointer  string // RFC 6901 pointer of the value; "" for the description as a whole
	Message  string // the fault, the next step
}

// Error returns "file:line:col: pointer: fault; next step".
func (f Fault) Error() string {
	where := f.Position.String() + ": "
	if f.Pointer != "" {
		where += text.Truncate(f.Pointer, maxShown) + ": "
	}
	return where + f.Message
}

// Faults are the faults of one description.
type Faults struct {
	Listed []Fault
	More   int // that are not listed
}

func (f *Faults) count() int { return len(f.Listed) + f.More }

// Error returns all of them, each on a line.
func (f *Faults) Error() string {
	var b strings.Builder
	for i, fault := range f.Listed {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(fault.Error())
	}
	if f.More > 0 {
		fmt.Fprintf(&b, "\nand %d more", f.More)
	}
	return b.String()
}

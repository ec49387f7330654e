package wire

import (
	"fmt"
	"strconv"

	"drawbridge/openapi/jsonscan"
)

// A ValueError is the reason why a value can't be sent. Its text completes a sentence that begins with the argument's
// name and is addressed to the model that chose the value: it describes the change to make and contains neither a URL
// nor a secret.
type ValueError struct {
	Reason  string // "must not be empty"
	Pointer string // RFC 6901 pointer to the part of the value that is at fault; "" for all of it
}

// Error returns the reason, after the pointer if there is one.
func (e *ValueError) Error() string {
	if e.Pointer != "" {
		return e.Pointer + ": " + e.Reason
	}
	return e.Reason
}

func refuse(format string, args ...any) error {
	return &ValueError{Reason: fmt.Sprintf(format, args...)}
}

// within returns err with its pointer put below the member of that name.
func within(name string, err error) error {
	v, ok := err.(*ValueError) //nolint:errorlint // made here and never wrapped
	if !ok {
		return err
	}
	return &ValueError{Reason: v.Reason, Pointer: jsonscan.PointerTo(name) + v.Pointer}
}

// withinItem is within for an element of a list.
func withinItem(i int, err error) error { return within(strconv.Itoa(i), err) }

// A SegmentError refuses a path segment that several values cause together with the text around them.
type SegmentError struct {
	Variables []int // indices in Template.Names
	err       error
}

// Error returns the reason.
func (e *SegmentError) Error() string { return e.err.Error() }

// Unwrap returns the [*ValueError].
func (e *SegmentError) Unwrap() error { return e.err }

package wire

import "fmt"

// A ValueError says why a value can't be sent. Its text completes a sentence that begins with the argument's name and is
// meant for the model that chose the value: it says what to change and holds neither a URL nor a secret.
type ValueError struct {
	Reason string // "must not be empty"
}

// Error returns the reason.
func (e *ValueError) Error() string { return e.Reason }

func refuse(format string, args ...any) error {
	return &ValueError{Reason: fmt.Sprintf(format, args...)}
}

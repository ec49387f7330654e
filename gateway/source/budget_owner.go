package source

import "sync/atomic"

// budgetOwner is a source in the memory budget of compiled documents.
type budgetOwner struct {
	label   string      // name of the source in logs, before and after its document is read
	leaving atomic.Bool // the reload in progress ends the source
}

// Label returns the name of the source for operators.
func (o *budgetOwner) Label() string { return o.label }

// Leaving reports whether the reload in progress ends the source.
func (o *budgetOwner) Leaving() bool { return o.leaving.Load() }

package call

import (
	"context"
	"strings"
	"testing"
)

// TestNoBudget: a call whose answer gets no memory is told so, unless its caller has gone.
func TestNoBudget(t *testing.T) {
	if f := noBudget(context.DeadlineExceeded, false).(*Failure); f.Outcome != "overloaded" || !strings.HasPrefix(f.Text, "The gateway has no room for an answer of this size now") { //nolint:errorlint // it makes nothing else
		t.Error(f.Outcome, f.Text)
	}
	if f := noBudget(context.Canceled, true).(*Failure); f.Outcome != "canceled" { //nolint:errorlint // the same
		t.Error(f.Outcome)
	}
}

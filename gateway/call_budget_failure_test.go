package gateway

import (
	"context"
	"strings"
	"testing"
)

// TestNoBudget: a call whose answer gets no memory is told so, unless its caller has gone.
func TestNoBudget(t *testing.T) {
	if f := noBudget(context.DeadlineExceeded).(*failure); f.outcome != "overloaded" || !strings.HasPrefix(f.text, "The gateway has no room for an answer of this size now") { //nolint:errorlint // it makes nothing else
		t.Error(f.outcome, f.text)
	}
	if f := noBudget(context.Canceled).(*failure); f.outcome != "canceled" { //nolint:errorlint // the same
		t.Error(f.outcome)
	}
}

package signal

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRaise(t *testing.T) {
	c := make(chan struct{}, 1)
	Raise(c)
	Raise(c) // is one with the pending signal
	if n := len(c); n != 1 {
		t.Errorf("%d signals are pending", n)
	}
}

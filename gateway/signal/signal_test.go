package signal

import "testing"

func TestRaise(t *testing.T) {
	c := make(chan struct{}, 1)
	Raise(c)
	Raise(c) // is one with the pending signal
	<-c
	select {
	case <-c:
		t.Error("two signals were pending")
	default:
	}
}

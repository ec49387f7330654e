// Package signal wakes goroutines. A signal is a channel with a capacity of 1: several signals that are raised before one is
// received count as one. The rule that must not be broken: the state that a signal announces is stored before it is raised.
package signal

// Raise sends to a channel with a capacity of 1 unless a signal is pending. It never blocks.
func Raise(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

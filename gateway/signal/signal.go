// Package signal wakes goroutines. A signal is a channel with a capacity of 1, so that signals that nobody has received yet
// are one. The rule that must not be broken: whoever raises a signal has already stored what it is about.
package signal

// Raise sends to a channel with a capacity of 1 unless a signal is pending. It never blocks.
func Raise(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

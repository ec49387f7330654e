package reload

import "time"

// TrimAfter is the delay between a change and the release of the memory that reading the document took. The tree of a
// document is many times as large as the part that is kept. Collecting, releasing and touching memory again for the
// next document costs calls more than reading a small document, so the runner waits for the last of several changes.
const TrimAfter = 5 * time.Second

// trimAtStart replaces TrimAfter until the first attempt to read each document has ended: there are no calls to delay
// yet, and the memory used right after startup is what users measure.
const trimAtStart = 50 * time.Millisecond

// trimDelay returns trimAtStart or TrimAfter, whichever applies now.
func (r *Runner) trimDelay() time.Duration {
	select {
	case <-r.attempted:
		return TrimAfter
	default:
		return trimAtStart
	}
}

package embedding

import (
	"sync"
	"time"
)

const (
	// failuresToPause is the number of queries that fail one after the other until none is sent for pauseLength. Then one
	// is, and decides about the next.
	failuresToPause = 3
	pauseLength     = 30 * time.Second
)

// circuit keeps queries from a server that does not answer: each would be 150 ms late.
type circuit struct {
	mu       sync.Mutex
	failures int
	until    time.Time // no query is sent before
	probing  bool      // a query is under way that decides
}

// admit reports whether a query may be sent. Its outcome must be reported then.
func (c *circuit) admit() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failures < failuresToPause {
		return true
	}
	if c.probing || time.Now().Before(c.until) {
		return false
	}
	c.probing = true
	return true
}

// report takes the outcome of a query. It returns true if that began or ended a pause.
func (c *circuit) report(o outcome) (changed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	paused := c.failures >= failuresToPause
	c.probing = false
	switch o {
	case outcomeOK, outcomeRejected: // a text that is rejected says nothing about the next
		c.failures = 0
		return paused
	case outcomeTimeout, outcomeFailed, outcomeInvalid:
		c.failures++
		c.until = time.Now().Add(pauseLength)
		return !paused && c.failures >= failuresToPause
	case outcomeCanceled, outcomePaused, outcomeBusy, outcomeNone:
	}
	return false
}

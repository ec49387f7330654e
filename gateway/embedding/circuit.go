package embedding

import (
	"sync"
	"time"
)

const (
	// failuresToPause is the number of consecutive failures after which no query is sent for pauseLength. Then a single
	// query is sent as a probe.
	failuresToPause = 3
	pauseLength     = 30 * time.Second
)

// circuit is a circuit breaker for a server that does not answer, which would delay each query by 150 ms.
type circuit struct {
	mu       sync.Mutex
	failures int
	until    time.Time // no query is sent before
	probing  bool      // the probe is in flight
}

// admit reports whether a query may be sent. The caller must then report its outcome.
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

// report records the outcome of a query. It returns true if that began or ended a pause.
func (c *circuit) report(o outcome) (changed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	paused := c.failures >= failuresToPause
	c.probing = false
	switch o {
	case outcomeOK, outcomeRejected: // the rejection of one text predicts nothing about the next
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

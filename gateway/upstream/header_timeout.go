package upstream

import "net/http"

// A transport of net/http has one ResponseHeaderTimeout. A timer per request would cost all calls
// over TLS allocations, so there are two transports, and calls without the timeout have connections
// of their own.

// HeaderTimeout determines the time limit for the response header.
type HeaderTimeout uint8

const (
	// LimitHeader applies [Options].FirstByte.
	LimitHeader HeaderTimeout = iota
	// NoHeaderTimeout applies the deadline of the call only.
	NoHeaderTimeout
)

// noTimeoutPool is a pool for calls with NoHeaderTimeout.
type noTimeoutPool struct{ pool *pool }

// RoundTrip implements [http.RoundTripper].
func (p noTimeoutPool) RoundTrip(req *http.Request) (*http.Response, error) {
	return p.pool.send(req, NoHeaderTimeout)
}

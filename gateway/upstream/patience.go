package upstream

import "net/http"

// A transport of net/http has one time for the heads of all its answers. A clock of our own for each request would cost
// all calls over TLS allocations, so there are two transports, and calls that are patient have connections of their own there.

// Patience says how long the head of an answer may take.
type Patience uint8

const (
	// Brief is: within [Options].FirstByte.
	Brief Patience = iota
	// Patient is: as long as the call takes.
	Patient
)

// patientPool is a pool for calls that are Patient.
type patientPool struct{ pool *pool }

// RoundTrip implements [http.RoundTripper].
func (p patientPool) RoundTrip(req *http.Request) (*http.Response, error) {
	return p.pool.send(req, Patient)
}

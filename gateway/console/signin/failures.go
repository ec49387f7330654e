package signin

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"drawbridge/gateway/state"
)

// Failures limits failed sign-ins by client address: 10 at once, and one more every 30 s. It is safe for concurrent use.
type Failures struct {
	rates *state.LocalRates

	mu sync.Mutex // held by Attempt, so that no attempt runs while another one is not yet counted
}

const (
	failureBurst    = 10
	failureInterval = 30 * time.Second
	// maxFailureKeys is the most addresses that are counted at a time.
	maxFailureKeys = 1024
)

// NewFailures returns a limit without failures. now is the clock.
func NewFailures(now func() time.Time) *Failures {
	return &Failures{rates: state.NewLocalRates(maxFailureKeys, now)}
}

// Wait returns the time until an address may try to sign in again; 0 if it may now.
func (f *Failures) Wait(address netip.Addr) time.Duration { return f.take(address, 0) }

// Count counts a failed sign-in.
func (f *Failures) Count(address netip.Addr) { f.take(address, 1) }

// Attempt calls try, which reports whether somebody is signed in and must return soon, and counts a failure. It returns the
// time until the address may try again, without a call, if there were too many.
func (f *Failures) Attempt(address netip.Addr, try func() bool) (wait time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if wait := f.Wait(address); wait > 0 {
		return wait
	}
	if !try() {
		f.Count(address)
	}
	return 0
}

// take counts failures of an address. IPv6 addresses count by /64, which one client has as a whole.
func (f *Failures) take(address netip.Addr, n int) time.Duration {
	address = address.Unmap().WithZone("")
	if address.Is6() {
		prefix, _ := address.Prefix(64) // of a valid IPv6 address
		address = prefix.Addr()
	}
	d, _ := f.rates.Take(context.Background(), address.String(), state.Limit{Interval: failureInterval, Burst: failureBurst}, n)
	return d.RetryAfter
}

package signin

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"drawbridge/gateway/state"
)

// Failures limits failed sign-ins by client address: 10 at once, and one more every 30 s. An address that others may share, such as
// that of a proxy, never keeps the right credential out. It is safe for concurrent use.
type Failures struct {
	rates *state.LocalRateCounters

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
	return &Failures{rates: state.NewLocalRateCounters(maxFailureKeys, now)}
}

// Wait returns the time until an address may try to sign in again; 0 if it may now.
func (f *Failures) Wait(address netip.Addr) time.Duration { return f.take(address, 0) }

// Count counts a failed sign-in.
func (f *Failures) Count(address netip.Addr) { f.take(address, 1) }

// Attempt calls try, which reports whether somebody is signed in and must return soon, and counts a failure. It returns the
// time until the address may try again if there were too many failures. If certain is set, the address is that of one client,
// and try is not called then. Otherwise others may have failed, and try may still succeed.
func (f *Failures) Attempt(address netip.Addr, certain bool, try func() bool) (wait time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	wait = f.Wait(address)
	if wait > 0 && certain {
		return wait
	}
	if try() {
		return 0
	}
	if wait == 0 {
		f.Count(address)
	}
	return wait
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

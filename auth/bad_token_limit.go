package auth

import (
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// rate is the rate of a [bucket].
type rate struct {
	size   int           // burst
	refill time.Duration // time for one token
}

// unknownKeyRate limits the fetches caused by unknown key ids (T10).
func unknownKeyRate() rate { return rate{size: bucketSize, refill: bucketRefill} }

const (
	bucketSize   = 5
	bucketRefill = 10 * time.Second
)

// bucket is a token bucket. The zero value is full.
type bucket struct {
	used int       // tokens taken and not refilled
	last time.Time // time up to which the refill is counted
}

// take takes a token, or returns the time until one is available.
func (b *bucket) take(now time.Time, r rate) time.Duration {
	if b.used == 0 {
		b.last = now
	}
	refilled := int(min(now.Sub(b.last)/r.refill, time.Duration(r.size)))
	if refilled > 0 {
		b.used = max(0, b.used-refilled)
		b.last = b.last.Add(time.Duration(refilled) * r.refill)
		if b.used == 0 {
			b.last = now
		}
	}
	if b.used >= r.size {
		return b.last.Add(r.refill).Sub(now)
	}
	b.used++
	return 0
}

// refund undoes a take.
func (b *bucket) refund() { b.used = max(0, b.used-1) }

// maxAddresses limits the number of tracked addresses.
const maxAddresses = 10_000

// addressBuckets has a [bucket] for each client address.
type addressBuckets struct {
	rate    rate
	mu      sync.Mutex
	buckets map[netip.Addr]*bucket
}

// addressBlock is the part of the address space that one caller holds: an IPv4 address, or the /64
// network of an IPv6 address, of which any host can use any address.
func addressBlock(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return a
}

// take is [bucket.take] for an address. When too many addresses are tracked, one is evicted.
func (t *addressBuckets) take(a netip.Addr, now time.Time) time.Duration {
	a = addressBlock(a)
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.buckets[a]
	if b == nil {
		if t.buckets == nil {
			t.buckets = make(map[netip.Addr]*bucket)
		}
		if len(t.buckets) >= maxAddresses {
			t.evict()
		}
		b = &bucket{}
		t.buckets[a] = b
	}
	return b.take(now, t.rate)
}

// evict drops the least recently used of a few entries, which map iteration picks at random.
func (t *addressBuckets) evict() {
	var victim netip.Addr
	var oldest time.Time
	looked := 0
	for a, b := range t.buckets {
		if looked == 0 || b.last.Before(oldest) {
			victim, oldest = a, b.last
		}
		if looked++; looked == 8 {
			break
		}
	}
	delete(t.buckets, victim)
}

// refund undoes a take.
func (t *addressBuckets) refund(a netip.Addr) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if b := t.buckets[addressBlock(a)]; b != nil {
		b.refund()
	}
}

// badTokenLimit tracks the invalid tokens of each address.
type badTokenLimit struct {
	BadTokens
	buckets addressBuckets
}

// charge charges the verification of a request's token to the budget of its address. The returned
// function undoes that, for a token that is valid or can't be verified.
func (b *badTokenLimit) charge(r *http.Request, now time.Time) (giveBack func(), err error) {
	if b == nil || r == nil {
		return func() {}, nil
	}
	a, ok := b.Address(r)
	if !ok {
		return func() {}, nil
	}
	if wait := b.buckets.take(a, now); wait > 0 {
		b.OnReject(r)
		return nil, &rejection{outcome: tooMany, reason: "too many bad tokens from one address", retryAfter: wait}
	}
	return func() { b.buckets.refund(a) }, nil
}

package auth

import (
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// rate is how much a [bucket] lets through.
type rate struct {
	size   int           // at once
	refill time.Duration // for one more
}

// unknownKeys is the rate of fetches that unknown key ids cause (T10).
func unknownKeys() rate { return rate{size: bucketSize, refill: bucketRefill} }

const (
	bucketSize   = 5
	bucketRefill = 10 * time.Second
)

// bucket is a token bucket. The zero value is full.
type bucket struct {
	used int       // tokens taken and not refilled
	last time.Time // when the refill was last counted
}

// take takes a token, or returns the time until there is one.
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

// giveBack undoes a take.
func (b *bucket) giveBack() { b.used = max(0, b.used-1) }

// maxAddresses bounds how many addresses are remembered.
const maxAddresses = 10_000

// addressBuckets has a bucket for each client address.
type addressBuckets struct {
	rate    rate
	mu      sync.Mutex
	buckets map[netip.Addr]*bucket
}

// block is what one caller has of the address space: an IPv4 address, or the
// /64 network of an IPv6 address, of which any host can use any address.
func block(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return a
}

// take is [bucket.take] for an address. When too many addresses are known, some
// that have waited longest of those it looks at are forgotten.
func (t *addressBuckets) take(a netip.Addr, now time.Time) time.Duration {
	a = block(a)
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.buckets[a]
	if b == nil {
		if t.buckets == nil {
			t.buckets = make(map[netip.Addr]*bucket)
		}
		if len(t.buckets) >= maxAddresses {
			t.forget()
		}
		b = &bucket{}
		t.buckets[a] = b
	}
	return b.take(now, t.rate)
}

// forget drops the one of a few that was used least recently; the order of a
// map is as good as chance.
func (t *addressBuckets) forget() {
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

// giveBack undoes a take.
func (t *addressBuckets) giveBack(a netip.Addr) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if b := t.buckets[block(a)]; b != nil {
		b.giveBack()
	}
}

// badTokens is what addresses have spent on tokens that are no good.
type badTokens struct {
	BadTokens
	spent addressBuckets
}

// spend takes the work for the token of a request from the budget of its
// address. What it returns gives that back, if the token turns out to be good, or
// can't be looked at.
func (b *badTokens) spend(r *http.Request, now time.Time) (giveBack func(), err error) {
	if b == nil || r == nil {
		return func() {}, nil
	}
	a, ok := b.Address(r)
	if !ok {
		return func() {}, nil
	}
	if wait := b.spent.take(a, now); wait > 0 {
		b.Refused(r)
		return nil, &refusal{outcome: tooMany, reason: "too many bad tokens from one address", retry: wait}
	}
	return func() { b.spent.giveBack(a) }, nil
}

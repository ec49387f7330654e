package listener

import (
	"context"
	"net/http"
	"net/netip"
	"sync"
)

// fewSlots is how many connections, and requests over HTTP/2, an address may have when memory is short and it asks for one more of these.
const fewSlots = 16

// HTTP2Options are the dependencies of [Limiter.HTTP2].
type HTTP2Options struct {
	// Key returns the network of the caller that a request counts for, as [Options].Key does for a peer.
	Key func(*http.Request) netip.Prefix
	// ShortOfMemory reports whether an address may have a few requests only.
	ShortOfMemory func() bool
	// Refuse answers a request that is refused.
	Refuse func(w http.ResponseWriter, r *http.Request, because Reason)
}

// Slot is the place of a request over HTTP/2 among the connections. It belongs to the request's goroutine.
type Slot struct {
	// Authenticated tells that the caller has shown a token: there are rates for what he leaves lying about.
	Authenticated bool

	limiter *Limiter
	key     netip.Prefix
	once    sync.Once
}

type slotKey struct{}

// HTTP2 counts each request over HTTP/2 as a connection, of its caller's address and in total. Over HTTP/1 a connection has one request at a time, so that
// the bound of the former bounds the latter; here it may have a hundred, each of which waits for its body, or for its client to let the answer be sent.
func (l *Limiter) HTTP2(o HTTP2Options, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor < 2 {
			next.ServeHTTP(w, r)
			return
		}
		s := &Slot{limiter: l, key: o.Key(r)}
		if because := s.take(o.ShortOfMemory); because != "" {
			o.Refuse(w, r, because)
			return
		}
		defer s.Release()
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), slotKey{}, s)))
		if !s.Authenticated { // net/http would write the last few KiB, and wait for the client to let it, after the place is free
			_ = http.NewResponseController(w).Flush()
		}
	})
}

// take counts the request, or returns why it is refused; "" if it was counted.
func (s *Slot) take(shortOfMemory func() bool) Reason {
	because := s.limiter.take(s.key)
	if because == "" && shortOfMemory() {
		if n, _ := s.limiter.Held(s.key); n > fewSlots {
			s.Release()
			return ShortOfMemory
		}
	}
	return because
}

// Release gives the place back before the request has ended.
func (s *Slot) Release() { s.once.Do(func() { s.limiter.giveBack(s.key) }) }

// SlotOf returns that of a request; nil if it is not over HTTP/2.
func SlotOf(r *http.Request) *Slot {
	if r.ProtoMajor < 2 {
		return nil
	}
	s, _ := r.Context().Value(slotKey{}).(*Slot)
	return s
}

package listener

import (
	"context"
	"net/http"
	"net/netip"
	"sync"
)

// fewSlots is the number of connections and HTTP/2 requests above which an address gets no more HTTP/2 requests while memory is short.
const fewSlots = 16

// HTTP2Options are the dependencies of [Limiter.HTTP2].
type HTTP2Options struct {
	// Key returns the network that a request is counted under, as [Options].Key does for a peer.
	Key func(*http.Request) netip.Prefix
	// ShortOfMemory reports whether memory is short, so that an address may have only a few requests.
	ShortOfMemory func() bool
	// Refuse answers a request that is refused.
	Refuse func(w http.ResponseWriter, r *http.Request, because Reason)
}

// Slot is the place of a request over HTTP/2 among the connections. It belongs to the request's goroutine.
type Slot struct {
	// Authenticated reports whether the caller has a valid token. Rate limits bound the responses that such a caller leaves unread.
	Authenticated bool

	limiter *Limiter
	key     netip.Prefix
	once    sync.Once
}

type slotKey struct{}

// HTTP2 counts each request over HTTP/2 as a connection, of its caller's address and in total. Over HTTP/1 a connection has one
// request at a time, so that the limit of connections limits requests. Over HTTP/2 it may have a hundred, each of which waits for its
// body, or for its client to read the response.
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

// Release frees the slot before the request has ended.
func (s *Slot) Release() { s.once.Do(func() { s.limiter.giveBack(s.key) }) }

// SlotOf returns the slot of a request over HTTP/2; nil for other requests.
func SlotOf(r *http.Request) *Slot {
	if r.ProtoMajor < 2 {
		return nil
	}
	s, _ := r.Context().Value(slotKey{}).(*Slot)
	return s
}

package gateway

import (
	"context"
	"net/http"
	"sync"

	"drawbridge/gateway/audit"
)

// fewPlaces is how many connections, and requests over HTTP/2, an address may have when memory is short and it asks for one more of these.
const fewPlaces = 16

// stay is a request over HTTP/2 that has a place among the connections.
type stay struct {
	all   *connections
	key   addressKey
	known bool // its caller has shown a token: there are rates for what he leaves lying about
	once  sync.Once
}

type stayKey struct{}

// multiplexed gives each request over HTTP/2 a place among the connections, of its caller's address and of all. Over HTTP/1 a connection has one
// request at a time, so that what bounds the ones bounds the others; here it may have a hundred, each of which waits for its body, or for
// its client to let the answer be sent.
func (g *Gateway) multiplexed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor < 2 {
			next.ServeHTTP(w, r)
			return
		}
		s := &stay{all: g.connections}
		if a, counts := g.clients.counted(r); counts {
			s.key = addressKeyOf(a)
		}
		if because := s.begin(); because != "" {
			g.metrics.refused[because].Inc()
			v := &requestInfo{answer: w.Header()} // it has no other
			v.id.given = g.clients.requestID(r)
			v.tell()
			g.accountRefused(context.WithValue(r.Context(), requestInfoKey{}, v), r, outcome(because), http.StatusServiceUnavailable, audit.Line{})
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable) // without a body, which its client could let wait
			return
		}
		defer s.leave()
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), stayKey{}, s)))
		if !s.known { // net/http would write the last few KiB, and wait for the client to let it, after the place is free
			_ = http.NewResponseController(w).Flush()
		}
	})
}

// begin takes the place, or tells why there is none.
func (s *stay) begin() refusalReason {
	g := s.all.g
	because := s.all.take(s.key, &g.Config().Limits)
	if because == "" && g.room.memory.tight() && s.all.held(s.key) > fewPlaces {
		s.leave()
		return refusedMemory
	}
	return because
}

func (s *stay) leave() { s.once.Do(func() { s.all.giveBack(s.key) }) }

// stayOf returns that of a request; nil: it is not over HTTP/2.
func stayOf(r *http.Request) *stay {
	if r.ProtoMajor < 2 {
		return nil
	}
	s, _ := r.Context().Value(stayKey{}).(*stay)
	return s
}

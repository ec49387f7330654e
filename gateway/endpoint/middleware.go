package endpoint

import (
	"net/http"
	"net/netip"
	"sync/atomic"

	"drawbridge/gateway/audit"
	"drawbridge/gateway/clientip"
	"drawbridge/gateway/listener"
	"drawbridge/gateway/telemetry"
)

// middleware wraps the routes of the public listener in the handlers that every request passes.
//
// A request to an MCP endpoint then passes these checks of the endpoints that are served when it arrives
// (see [Server.serve]), in this order:
//
//  1. Host and Origin, and CORS preflights (screening): a foreign page must not even learn whether a token is
//     required (H1 to H3).
//  2. The rate limit of its address, before its token costs any work.
//  3. Capacity for the call, if its header names it as one: a refusal costs the least there.
//  4. The token (auth.Guard): 401, 403 or the principal.
//  5. The MCP handler, and in it the rate limit of the principal, which only a verified token identifies.
func (s *Server) middleware(routes http.Handler) http.Handler {
	h := routes
	for _, wrap := range []func(http.Handler) http.Handler{ // innermost first
		s.limitHTTP2,                // a request over HTTP/2 costs as much as a connection, and is refused before any work is done for it
		securityHeaders(s.Draining), // refusals have the headers, too (H12)
		paceBody(s.Connections),     // the body must arrive at a minimum rate, whoever reads it (H7)
		RecoverPanic(s.Panicked),    // panics of all the others are counted
	} {
		h = wrap(h)
	}
	return h
}

// RecoverPanic reports panics of handlers. net/http then closes the connection, or ends the stream.
func RecoverPanic(panicked func(what string, v any)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() {
				v := recover()
				if v == nil {
					return
				}
				if v != http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
					panicked("a request was served", v)
				}
				panic(http.ErrAbortHandler)
			}()
			next.ServeHTTP(w, r)
		})
	}
}

// securityHeaders sets the headers of every response (H12), and asks clients to close their connections while the
// gateway drains (O5).
func securityHeaders(draining *atomic.Bool) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h := w.Header()
			h["X-Content-Type-Options"] = nosniff
			h["Cache-Control"] = noStore
			h["Content-Security-Policy"] = noSources
			if draining.Load() {
				h.Set("Connection", "close")
			}
			next.ServeHTTP(w, r)
		})
	}
}

// Header values that are the same in every response; they are never modified.
var (
	nosniff   = []string{"nosniff"}
	noStore   = []string{"no-store"}
	noSources = []string{"default-src 'none'"}
)

// paceBody enforces a minimum rate at which the body of a request must arrive.
func paceBody(connections *listener.Limiter) func(http.Handler) http.Handler {
	return listener.DefaultBodyPace(func() { connections.GaveUp(listener.Body) }).Handler
}

// limitHTTP2 counts requests over HTTP/2 as connections.
func (s *Server) limitHTTP2(next http.Handler) http.Handler {
	return s.Connections.HTTP2(listener.HTTP2Options{
		Key: func(r *http.Request) netip.Prefix {
			if a, counts := s.Clients.Limited(r); counts {
				return clientip.KeyOf(a).Network()
			}
			return netip.Prefix{}
		},
		ShortOfMemory: s.MemoryShort,
		Refuse:        s.refuseHTTP2,
	}, next)
}

// refuseHTTP2 refuses a request over HTTP/2 with a response that has no body, which the client could leave unread.
func (s *Server) refuseHTTP2(w http.ResponseWriter, r *http.Request, why listener.Reason) {
	because := telemetry.RefusalReason(why)
	v := &Request{response: w.Header()} // the request has none yet
	v.Identifier.Given = forwardedRequestID(s.Clients, r)
	v.setRequestIDHeader()
	s.Denials.count(because)
	s.Denials.Record(WithRequest(r.Context(), v), r, telemetry.Outcome(because), http.StatusServiceUnavailable, audit.Line{})
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(http.StatusServiceUnavailable)
}

package endpoint

import (
	"net/http"
	"sync/atomic"

	"drawbridge/gateway/clientip"
	"drawbridge/gateway/listener"
	"drawbridge/gateway/telemetry"
)

// Server serves the endpoints to clients. It is safe for concurrent use.
type Server struct{ ServerOptions }

// ServerOptions are the dependencies of an [Server].
type ServerOptions struct {
	Current     func() *Table // the endpoints that are served now; never nil
	Admission   *RequestAdmission
	Denials     *Denials
	Clients     *clientip.Resolver
	Untrusted   *clientip.UntrustedProxies
	Connections *listener.Limiter
	Tracer      *telemetry.Tracer // nil if tracing is off
	Draining    *atomic.Bool      // whether clients are asked to close their connections
	MemoryShort func() bool       // whether requests over HTTP/2 are refused for lack of memory
	Panicked    func(what string, v any)
	HTTPSSE     bool // whether the transport of 2024-11-05 is served, too (server.old_transport)
}

// dispatch serves a request to an endpoint, of those that are served when it arrives.
func (s *Server) dispatch(w http.ResponseWriter, r *http.Request, name string, t transport) {
	s.dispatchTo(w, r, name, t, nil, false)
}

// dispatchTo is dispatch with another handler than that of MCP, unless it is nil. tokenless reports that it needs no token.
func (s *Server) dispatchTo(w http.ResponseWriter, r *http.Request, name string, t transport, handler http.Handler, tokenless bool) {
	set := s.Current()
	v := &Request{handler: handler, tokenless: tokenless, Endpoint: set.Lookup(name).under(set.Screening.urls.of(r)), early: set.Main == nil, transport: t, response: w.Header(), slot: listener.SlotOf(r)}
	v.Identifier.Given = forwardedRequestID(s.Clients, r)
	set.Screening.dispatcher.dispatch(w, r, v)
}

// serve passes a request that was screened to the guard of its endpoint, which stays the same for the whole life of the
// request (O3).
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	v := requestFrom(r.Context())
	switch {
	case v.early:
		v.setRequestIDHeader()
		w.Header().Set("Retry-After", "1")
		http.Error(w, "no API is served yet", http.StatusServiceUnavailable)
		return
	case v.Endpoint == nil:
		v.setRequestIDHeader()
		http.NotFound(w, r)
		return
	}
	v.EndpointName, v.Header = v.Endpoint.Name, r.Header
	a, limited, untrusted := s.Clients.Classify(r)
	v.Client = a
	if limited {
		v.Address = clientip.KeyOf(a)
	}
	if untrusted {
		s.Untrusted.Observe(r)
	}
	if limit := v.Endpoint.rates.Address; limit != nil && !s.Admission.admitAddress(w, r, v, limit) {
		return
	}
	if !s.Admission.admitCall(w, r, v) {
		return
	}
	switch entry := v.handler; {
	case entry == nil:
		v.Endpoint.entry.ServeHTTP(w, r)
	case v.Endpoint.Guard == nil || v.tokenless:
		entry.ServeHTTP(w, r)
	default:
		v.Endpoint.Guard.Protect(entry).ServeHTTP(w, r)
	}
	s.Tracer.EndRequest(r, &v.Check)
}

package gateway

import (
	"net/http"
	"sync/atomic"

	"drawbridge/gateway/clientip"
	"drawbridge/gateway/listener"
	"drawbridge/gateway/telemetry"
)

// endpointServer serves the endpoints to clients. It is safe for concurrent use.
type endpointServer struct{ endpointServerOptions }

// endpointServerOptions are the dependencies of an [endpointServer].
type endpointServerOptions struct {
	current     func() *endpointSet // the endpoints that are served now; never nil
	admission   *requestAdmission
	denials     *denials
	clients     *clientip.Resolver
	untrusted   *clientip.UntrustedProxies
	connections *listener.Limiter
	tracer      *telemetry.Tracer // nil if tracing is off
	draining    *atomic.Bool      // whether clients are asked to close their connections
	memoryShort func() bool       // whether requests over HTTP/2 are refused for lack of memory
	panicked    func(what string, v any)
	httpSSE     bool // whether the transport of 2024-11-05 is served, too (server.old_transport)
}

// dispatch serves a request to an endpoint, of those that are served when it arrives.
func (s *endpointServer) dispatch(w http.ResponseWriter, r *http.Request, name string, t transport) {
	set := s.current()
	v := &endpointRequest{endpoint: set.endpoint(name), early: set.main == nil, transport: t, response: w.Header(), slot: listener.SlotOf(r)}
	v.Identifier.Given = forwardedRequestID(s.clients, r)
	set.screening.dispatcher.dispatch(w, r, v)
}

// serve passes a request that was screened to the guard of its endpoint, which stays the same for the whole life of the
// request (O3).
func (s *endpointServer) serve(w http.ResponseWriter, r *http.Request) {
	v := requestFrom(r.Context())
	switch {
	case v.early:
		v.setRequestIDHeader()
		w.Header().Set("Retry-After", "1")
		http.Error(w, "no API is served yet", http.StatusServiceUnavailable)
		return
	case v.endpoint == nil:
		v.setRequestIDHeader()
		http.NotFound(w, r)
		return
	}
	v.EndpointName, v.Header = v.endpoint.Name, r.Header
	a, limited, untrusted := s.clients.Classify(r)
	if limited {
		v.Address = clientip.KeyOf(a)
	}
	if untrusted {
		s.untrusted.Observe(r)
	}
	if limit := v.endpoint.rates.Address; limit != nil && !s.admission.admitAddress(w, r, v, limit) {
		return
	}
	if !s.admission.admitCall(w, r, v) {
		return
	}
	v.endpoint.entry.ServeHTTP(w, r)
	s.tracer.EndRequest(r, &v.Check)
}

package gateway

import (
	"context"
	"maps"
	"net/http"
	"sync/atomic"

	"drawbridge/gateway/admission"
	"drawbridge/gateway/clientip"
	"drawbridge/gateway/listener"
	"drawbridge/gateway/telemetry"
)

// requestInfo is the state of one HTTP request, carried in its context. Only the request's goroutine uses it, except for the
// atomic fields.
type requestInfo struct {
	name string
	// generation is the generation that the request runs in, until its endpoint is known; nil if no generation is served yet.
	generation    *generation
	endpoint      *endpoint    // nil once the rest of the request is parked
	operator      bool         // called by the operator of the process, who may call every tool
	cause         error        // why the operator's call failed
	header        http.Header  // of the request; nil if there is none
	answer        http.Header  // headers of the response, for code that rejects the request before the response has begun; nil if there are none
	transport     transport    // of the several that the MCP handler serves
	address       clientip.Key // that the request is counted for; zero if none
	memoryChecked bool         // by admitCall, before the token was verified
	doored        bool         // the dispatcher runs the rest and ends the reservation when the response is sent
	rest          func()       // of a request that has become a subscription stream
	id            requestID
	slot          *listener.Slot // of the connection; nil if it is not over HTTP/2
	check         telemetry.PendingCheck
	reservation   atomic.Pointer[admission.Reservation] // for the large responses to its calls; nil if there are none
}

type requestInfoKey struct{}

func requestInfoFrom(ctx context.Context) *requestInfo {
	return ctx.Value(requestInfoKey{}).(*requestInfo) //nolint:errcheck // every path to the MCP handler puts it there
}

// requestInfoOf is requestInfoFrom for code that may run without a request; it returns nil then.
func requestInfoOf(ctx context.Context) *requestInfo {
	v, _ := ctx.Value(requestInfoKey{}).(*requestInfo)
	return v
}

// pendingCheckOf returns the token check of the context's request, or nil if there is no request.
func pendingCheckOf(ctx context.Context) *telemetry.PendingCheck {
	if v := requestInfoOf(ctx); v != nil {
		return &v.check
	}
	return nil
}

func endpointFrom(ctx context.Context) *endpoint { return requestInfoFrom(ctx).endpoint }

// dispatcher is the middleware in front of the MCP handlers.
type dispatcher struct {
	next    http.Handler
	onPanic func(what string, v any)
}

// enter serves a request. A subscription stream waits here, where the stack is shallow.
func (d *dispatcher) enter(w http.ResponseWriter, r *http.Request, v *requestInfo) {
	v.doored = v.transport != oldMessages // the responses to these go out on another stream, after the request has ended
	d.pass(w, r, v)
	if v.rest != nil {
		shed(r.Header)
		if v.slot != nil {
			v.slot.Release() // max_streams counts the stream from here on
		}
		v.rest()
	}
}

// pass serves a request until it is answered or parks its rest. A panic below a parked request does not end it, because the
// rest has a reservation to end.
func (d *dispatcher) pass(w http.ResponseWriter, r *http.Request, v *requestInfo) {
	defer func() {
		if v.rest == nil {
			return
		}
		if p := recover(); p != nil {
			d.onPanic("a request has become a stream", p)
		}
	}()
	defer func() {
		if r := v.reservation.Load(); r != nil {
			r.End()
		}
	}()
	d.next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestInfoKey{}, v)))
}

// shed drops the headers of a request that may stay open for long, tokens among them, except those that identify its origin,
// which the log needs at its end.
func shed(h http.Header) {
	maps.DeleteFunc(h, func(name string, _ []string) bool { return name != "Forwarded" && name != "X-Forwarded-For" })
}

// park leaves the rest of a request to its dispatcher; see [mcp.Options.RunAfterMiddleware]. The rest may take days, so it
// releases the generation in which the request began.
func park(ctx context.Context, rest func()) bool {
	v := requestInfoFrom(ctx)
	v.endpoint, v.answer = nil, nil
	if v.doored {
		v.rest = rest
	}
	return v.doored
}

// serve passes a request to the guard of its endpoint in the generation that it runs in, for its whole life (O3).
func (g *Gateway) serve(w http.ResponseWriter, r *http.Request) {
	v := requestInfoFrom(r.Context())
	gen := v.generation
	if v.generation = nil; gen == nil {
		v.tell()
		w.Header().Set("Retry-After", "1")
		http.Error(w, "no API is served yet", http.StatusServiceUnavailable)
		return
	}
	if v.endpoint = gen.endpoint(v.name); v.endpoint == nil {
		v.tell()
		http.NotFound(w, r)
		return
	}
	v.header = r.Header
	a, limited, untrusted := g.clients.Classify(r)
	if limited {
		v.address = clientip.KeyOf(a)
	}
	if untrusted {
		g.untrusted.Observe(r)
	}
	if limit := v.endpoint.rates.Address; limit != nil && !g.admitAddress(w, r, v, limit) {
		return
	}
	if !g.admitCall(w, r, v) {
		return
	}
	v.endpoint.entry.ServeHTTP(w, r)
	g.tracer.EndRequest(r, &v.check)
}

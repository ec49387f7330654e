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

// requestInfo is what the gateway knows of one HTTP request, and travels in its context. Only the request's goroutine uses it, but for
// the atomic members.
type requestInfo struct {
	name string
	// generation is what the request runs in, until its endpoint is known; nil: nothing is served yet.
	generation    *generation
	endpoint      *endpoint    // nil once the rest of the request is parked
	operator      bool         // who runs the program calls, and may call everything
	cause         error        // why the operator's call came to nothing
	header        http.Header  // of the request; nil where there is none
	answer        http.Header  // of its answer, for who refuses it before anybody answers; nil where there is none
	transport     transport    // one of several that the MCP handler has
	address       clientip.Key // that it counts for; zero: nobody's
	memoryChecked bool         // by admitCall, before the token was looked at
	doored        bool         // somebody runs the rest, and ends the reservation when the answer is out
	rest          func()       // of a request that has become a stream of changes
	id            requestID
	slot          *listener.Slot // among the connections; nil if it is not over HTTP/2
	check         telemetry.PendingCheck
	reservation   atomic.Pointer[admission.Reservation] // for the large responses to its calls; nil if there are none
}

type requestInfoKey struct{}

func requestInfoFrom(ctx context.Context) *requestInfo {
	return ctx.Value(requestInfoKey{}).(*requestInfo) //nolint:errcheck // every way to the MCP handler puts it there
}

// requestInfoOf is requestInfoFrom for code that may run without a request; it returns nil then.
func requestInfoOf(ctx context.Context) *requestInfo {
	v, _ := ctx.Value(requestInfoKey{}).(*requestInfo)
	return v
}

// pendingCheckOf returns the token check of the request of a context; nil if there is no request.
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

// enter serves a request. A stream of changes waits here, where the stack is not deep.
func (d *dispatcher) enter(w http.ResponseWriter, r *http.Request, v *requestInfo) {
	v.doored = v.transport != oldMessages // whose answers go out elsewhere, after the request that asked has ended
	d.pass(w, r, v)
	if v.rest != nil {
		shed(r.Header)
		if v.slot != nil {
			v.slot.Release() // max_streams counts it now
		}
		v.rest()
	}
}

// pass serves a request until it has its answer, or is to go on. What panics behind one that is to go on does not end it: the rest has a
// reservation to end.
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

// shed lets go of the headers of a request that may be open for long, tokens among them, but for those that tell where it
// came from: the log asks at its end.
func shed(h http.Header) {
	maps.DeleteFunc(h, func(name string, _ []string) bool { return name != "Forwarded" && name != "X-Forwarded-For" })
}

// park leaves the rest of a request to the dispatcher that it came through; see [mcp.Options.RunAfterMiddleware]. The rest may take days, so it lets go of the
// generation in which it began.
func park(ctx context.Context, rest func()) bool {
	v := requestInfoFrom(ctx)
	v.endpoint, v.answer = nil, nil
	if v.doored {
		v.rest = rest
	}
	return v.doored
}

// serve hands a request to the guard of its endpoint in the generation that it runs in, for its whole life (O3).
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
	if limit := gen.rates.Address; limit != nil && !g.admitAddress(w, r, v, limit) {
		return
	}
	if !g.admitCall(w, r, v, gen) {
		return
	}
	v.endpoint.entry.ServeHTTP(w, r)
	g.tracer.EndRequest(r, &v.check)
}

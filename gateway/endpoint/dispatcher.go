package endpoint

import (
	"context"
	"maps"
	"net/http"
)

// dispatcher passes requests on to the endpoints. A request that becomes a subscription stream waits here, where the stack
// is shallow.
type dispatcher struct {
	next    http.Handler
	onPanic func(what string, v any)
}

// dispatch serves a request, and then its deferred rest if there is one.
func (d *dispatcher) dispatch(w http.ResponseWriter, r *http.Request, v *Request) {
	v.Dispatched = v.transport != legacyMessages // the responses to these go out on another stream, after the request has ended
	d.serve(w, r, v)
	if v.deferred != nil {
		dropHeaders(r.Header)
		if v.slot != nil {
			v.slot.Release() // max_streams counts the stream from here on
		}
		v.deferred()
	}
}

// serve serves a request until it is answered or its rest is deferred. A panic does not end it after that, because the rest has a
// reservation to end.
func (d *dispatcher) serve(w http.ResponseWriter, r *http.Request, v *Request) {
	defer func() {
		if v.deferred == nil {
			return
		}
		if p := recover(); p != nil {
			d.onPanic("a request has become a stream", p)
		}
	}()
	defer v.Memory.End()
	d.next.ServeHTTP(w, r.WithContext(WithRequest(r.Context(), v)))
}

// dropHeaders deletes the headers of a request that may stay open for long, tokens among them, except those that identify its
// origin, which the log needs at its end.
func dropHeaders(h http.Header) {
	maps.DeleteFunc(h, func(name string, _ []string) bool { return name != "Forwarded" && name != "X-Forwarded-For" })
}

// runAfterMiddleware leaves the rest of a request to its dispatcher; see [mcp.Options.RunAfterMiddleware]. The rest may take days, so it
// releases the endpoint at which the request began.
func runAfterMiddleware(ctx context.Context, rest func()) bool {
	v := requestFrom(ctx)
	v.Endpoint, v.response = nil, nil
	if v.Dispatched {
		v.deferred = rest
	}
	return v.Dispatched
}

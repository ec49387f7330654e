package endpoint

import (
	"context"
	"net/http"

	"drawbridge/gateway/clientip"
	"drawbridge/gateway/inbound"
	"drawbridge/gateway/listener"
	"drawbridge/gateway/mcp"
)

// Request is the state of one HTTP request to an endpoint, carried in its context. Only the request's goroutine
// uses it, except for the fields of [inbound.Request] that are safe for concurrent use.
type Request struct {
	inbound.Request
	Endpoint  *Endpoint      // among those of its arrival; nil if it is unknown, and once the rest of the request is deferred
	early     bool           // arrived before any API was served
	response  http.Header    // headers of the response, for code that rejects the request before the response has begun; nil if there are none
	transport transport      // of the several that the MCP handler serves
	handler   http.Handler   // of what is admitted; nil for the MCP handler of the endpoint
	tokenless bool           // handler needs no token
	deferred  func()         // the rest of a request that has become a subscription stream; nil if it has not
	slot      *listener.Slot // of the connection; nil if it is not over HTTP/2
}

// transport is the transport of a request to the endpoint: Streamable HTTP, or one of the two halves of HTTP+SSE of 2024-11-05,
// which server.old_transport enables.
type transport uint8

const (
	streamable     transport = iota
	legacyStream             // a GET that opens a stream
	legacyMessages           // a POST with a message, answered on that stream
)

// requestContext is the context of a request to an endpoint. One allocation carries the state of the request for this
// package and for those below.
type requestContext struct {
	context.Context
	request *Request
}

// requestKey is the key of the *Request in a context.
type requestKey struct{}

// WithRequest returns a context that carries the state of a request to an endpoint.
func WithRequest(ctx context.Context, v *Request) context.Context {
	return &requestContext{ctx, v}
}

// Value implements [context.Context].
func (c *requestContext) Value(key any) any {
	switch key.(type) {
	case requestKey:
		return c.request
	case inbound.Key:
		return &c.request.Request
	}
	return c.Context.Value(key)
}

func requestFrom(ctx context.Context) *Request {
	return ctx.Value(requestKey{}).(*Request) //nolint:errcheck // every path to the MCP handler puts it there
}

// From returns the endpoint of the context's request.
func From(ctx context.Context) *Endpoint { return requestFrom(ctx).Endpoint }

// setRequestIDHeader sets the request ID in the headers of a response that has not begun yet, so that a rejected client
// can quote it and find the request in the log and the audit log (P7).
func (v *Request) setRequestIDHeader() {
	if v.response != nil {
		v.response[mcp.RequestIDHeader] = []string{v.ID()}
	}
}

// setRequestIDHeader is [Request.setRequestIDHeader] for the context's request, if there is one.
func setRequestIDHeader(ctx context.Context) {
	if v, ok := ctx.Value(requestKey{}).(*Request); ok {
		v.setRequestIDHeader()
	}
}

// forwardedRequestID returns the request ID set by a trusted proxy, or "" if there is none or the peer is not trusted: a client
// that chose IDs could make two requests look like one.
func forwardedRequestID(clients *clientip.Resolver, r *http.Request) string {
	values := r.Header[mcp.RequestIDHeader]
	if len(values) != 1 || !inbound.IsRequestID(values[0]) || !clients.PeerTrusted(r) {
		return ""
	}
	return values[0]
}

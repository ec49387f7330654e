package inbound

import (
	"context"
	"net/http"
	"net/netip"

	"drawbridge/gateway/admission"
	"drawbridge/gateway/clientip"
	"drawbridge/gateway/telemetry"
)

// Request is the state of one HTTP request of a client. Only the goroutine of the request uses it, except for Identifier, Check and
// Memory, which are safe for concurrent use.
type Request struct {
	EndpointName  string       // "" for /mcp, and until the request is screened
	Header        http.Header  // nil without an HTTP request
	Address       clientip.Key // the address that limits count the request under; zero: not counted
	Client        netip.Addr   // of the client as far as it is known; zero without an HTTP request
	MemoryChecked bool         // whether memory was checked before the token was verified, see [admission.Calls.Check]
	Dispatched    bool         // whether the dispatcher serves the request, and ends Memory when the response is sent
	Identifier    ID
	Check         telemetry.PendingCheck
	Memory        admission.RequestMemory // of the large responses to its calls
}

// ID returns the id of the request.
func (r *Request) ID() string { return r.Identifier.String() }

// CallMemory returns the memory that the calls of the request share. It is nil if each call has its own, because the end of the request
// would not release it.
func (r *Request) CallMemory() *admission.RequestMemory {
	if !r.Dispatched {
		return nil
	}
	return &r.Memory
}

// Key is the key of a *[Request] in the context of its request.
type Key struct{}

// Of returns the request of a context, or nil.
func Of(ctx context.Context) *Request {
	v, _ := ctx.Value(Key{}).(*Request)
	return v
}

// From returns the request of a context, or an empty one.
func From(ctx context.Context) *Request {
	if v := Of(ctx); v != nil {
		return v
	}
	return &Request{}
}

package inbound

import (
	"context"
	"net/http"

	"drawbridge/gateway/admission"
	"drawbridge/gateway/clientip"
	"drawbridge/gateway/telemetry"
)

// Request is the state of one request of a client. Only the request's goroutine uses it, except for Identifier, Check and Memory, which
// are safe for concurrent use.
type Request struct {
	EndpointName  string       // "" for all tools, and before the request was screened
	Header        http.Header  // nil if there is none
	Address       clientip.Key // that the request is counted for; zero if none
	MemoryChecked bool         // before the token was verified
	Dispatched    bool         // the dispatcher ends Memory when the response is sent
	Identifier    ID
	Check         telemetry.PendingCheck
	Memory        admission.RequestMemory // of the large responses to its calls
}

// ID returns the id of the request.
func (r *Request) ID() string { return r.Identifier.String() }

// CallMemory returns the memory that the calls of the request share, or nil if each has its own because nothing would end it.
func (r *Request) CallMemory() *admission.RequestMemory {
	if !r.Dispatched {
		return nil
	}
	return &r.Memory
}

// Key is the key of a *[Request] in the context of its request.
type Key struct{}

// Of returns the request of a context, or nil if there is none.
func Of(ctx context.Context) *Request {
	v, _ := ctx.Value(Key{}).(*Request)
	return v
}

// From returns the request of a context, or an empty one if there is none.
func From(ctx context.Context) *Request {
	if v := Of(ctx); v != nil {
		return v
	}
	return &Request{}
}

package endpoint

import (
	"context"
	"testing"

	"drawbridge/gateway/inbound"
	"drawbridge/gateway/mcp"
)

// TestRequestContext: one allocation carries what a request is for the endpoints and for calls, whatever contexts are derived from its own.
func TestRequestContext(t *testing.T) {
	type other struct{}
	parent, cancelParent := context.WithCancelCause(context.WithValue(t.Context(), other{}, "other"))
	v := &Request{Request: inbound.Request{EndpointName: "part"}, Endpoint: &Endpoint{}}
	var ctx context.Context
	if n := testing.AllocsPerRun(100, func() { ctx = WithRequest(parent, v) }); n > 1 {
		t.Errorf("%v allocations", n)
	}
	derived, cancel := context.WithCancel(context.WithValue(ctx, other{}, "derived"))
	defer cancel()
	for name, ctx := range map[string]context.Context{"itself": ctx, "derived": derived} {
		if requestFrom(ctx) != v || inbound.From(ctx) != &v.Request || inbound.Of(ctx) != &v.Request || From(ctx) != v.Endpoint {
			t.Errorf("%s: the request is lost", name)
		}
	}
	if ctx.Value(other{}) != "other" || derived.Value(other{}) != "derived" {
		t.Error("values of other contexts are lost")
	}
	if inbound.Of(parent) != nil || inbound.Of(context.Background()) != nil {
		t.Error("there is a request where none is")
	}
	cancelParent(mcp.ErrShutdown)
	if derived.Err() == nil || context.Cause(derived) != mcp.ErrShutdown { //nolint:errorlint // it is the very error
		t.Errorf("it has not ended: %v", context.Cause(derived))
	}
	if info := (&inbound.Request{EndpointName: "part"}); inbound.Of(context.WithValue(t.Context(), inbound.Key{}, info)) != info {
		t.Error("calls without a request of their own have no information")
	}
}

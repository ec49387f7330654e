package inbound

import (
	"context"
	"testing"
)

// TestFromWithoutRequest holds that code which runs for no request finds an empty one.
func TestFromWithoutRequest(t *testing.T) {
	if Of(t.Context()) != nil {
		t.Error("there is a request in an empty context")
	}
	v := From(t.Context())
	if v == nil || v.EndpointName != "" || v.CallMemory() != nil || v.Identifier.Known() != "" {
		t.Errorf("without a request: %+v", v)
	}
	own := &Request{Dispatched: true}
	ctx := context.WithValue(t.Context(), Key{}, own)
	if Of(ctx) != own || From(ctx) != own || own.CallMemory() != &own.Memory {
		t.Error("the request of a context is another")
	}
}

// TestID holds that an id is made once, unless one was given, and is known from then on.
func TestID(t *testing.T) {
	var made ID
	if id := made.String(); !IsRequestID(id) || made.String() != id || made.Known() != id {
		t.Errorf("made %q, then %q, known %q", id, made.String(), made.Known())
	}
	given := ID{Given: "proxy-1"}
	if given.Known() != "proxy-1" || given.String() != "proxy-1" {
		t.Errorf("given: %q", given.String())
	}
}

package gateway

import (
	"context"

	"drawbridge/gateway/endpoint"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/resource"
)

// await returns the endpoint of a request over stdio as soon as it is available.
type await struct {
	served       *served
	firstAttempt func() <-chan struct{} // returns a channel that is closed when the first attempt to read each document has ended
}

func (a *await) endpoint(ctx context.Context, name string, req *mcp.Request) (*endpoint.Endpoint, error) {
	if e := a.served.endpoints().Lookup(name); e != nil && e.ToolOf(req) != nil {
		return e, nil
	}
	select {
	case <-a.firstAttempt():
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if e := a.served.endpoints().Lookup(name); e != nil {
		return e, nil
	}
	return nil, &mcp.Error{Code: mcp.CodeInternal, Message: a.served.whyNothing(name)}
}

// resources is endpoint for reads of resources.
func (a *await) resources(ctx context.Context, name string, req *mcp.Request) (*resource.View, error) {
	e, err := a.endpoint(ctx, name, req)
	if err != nil {
		return nil, err
	}
	return e.View.View, nil
}

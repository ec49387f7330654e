package endpoint

import (
	"context"
	"io"
	"time"

	"drawbridge/gateway/inbound"
	"drawbridge/gateway/mcp"
)

// ServeLines serves one client of an endpoint over stdio. Reading ends with the input, or when stop is closed; running
// requests have drain after that.
func (h *Handler) ServeLines(ctx context.Context, name string, in io.Reader, out io.Writer, stop <-chan struct{}, drain func() time.Duration) error {
	return h.ServeStdio(ctx, in, out, mcp.StdioOptions{
		Stop: stop, Drain: drain,
		Context: func(ctx context.Context) context.Context {
			return WithRequest(ctx, &Request{Request: inbound.Request{EndpointName: name}})
		},
	})
}

// awaitEndpoint wraps methods for stdio, where requests arrive before anything is loaded and pass no guard.
func awaitEndpoint(methods mcp.Methods, await func(ctx context.Context, name string, req *mcp.Request) (*Endpoint, error)) mcp.Methods {
	all := make(mcp.Methods, len(methods))
	for method, serve := range methods {
		all[method] = func(ctx context.Context, req *mcp.Request, reply *mcp.Reply) error {
			v := requestFrom(ctx)
			e, err := await(ctx, v.EndpointName, req)
			if err != nil {
				return err
			}
			v.Endpoint = e
			return serve(ctx, req, reply)
		}
	}
	return all
}

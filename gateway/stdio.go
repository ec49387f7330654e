package gateway

import (
	"context"
	"io"
	"time"

	"drawbridge/gateway/call"
	"drawbridge/gateway/mcp"
)

// serveLines serves one client of an endpoint over stdio. Reading ends with the input, or when stop is closed; running
// requests have drain after that.
func (h *mcpHandler) serveLines(ctx context.Context, name string, in io.Reader, out io.Writer, stop <-chan struct{}, drain func() time.Duration) error {
	return h.ServeStdio(ctx, in, out, mcp.StdioOptions{
		Stop: stop, Drain: drain,
		Context: func(ctx context.Context) context.Context {
			return withRequest(ctx, &endpointRequest{RequestInfo: call.RequestInfo{EndpointName: name}})
		},
	})
}

// awaitEndpoint wraps methods for stdio, where requests arrive before anything is loaded and pass no guard.
func awaitEndpoint(methods mcp.Methods, await func(ctx context.Context, name string, req *mcp.Request) (*endpoint, error)) mcp.Methods {
	all := make(mcp.Methods, len(methods))
	for method, serve := range methods {
		all[method] = func(ctx context.Context, req *mcp.Request, reply *mcp.Reply) error {
			v := requestFrom(ctx)
			e, err := await(ctx, v.EndpointName, req)
			if err != nil {
				return err
			}
			v.endpoint = e
			return serve(ctx, req, reply)
		}
	}
	return all
}

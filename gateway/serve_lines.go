package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/mcp"
)

// LineOptions are the parameters of [Gateway.ServeLines].
type LineOptions struct {
	// Endpoint is the name of the configured endpoint that is served; "" serves all tools.
	Endpoint string
	// Stop ends reading when it is closed, like the end of the input. If it is nil, only the end of the input does.
	Stop <-chan struct{}
}

// Errors of [Gateway.ServeLines].
var (
	// ErrUnknownEndpoint is returned for an endpoint name that is not configured.
	ErrUnknownEndpoint = errors.New("the configuration has no such endpoint")
	// ErrCut is returned if requests took longer than permitted after the end of the input.
	ErrCut = mcp.ErrDrain
)

// ServeLines serves one client over stdio, as [mcp.Handler.ServeStdio] does. It needs [Options].Local and [Gateway.Run]. A
// request waits for the documents that it needs: a call for the document of its tool, a list until every document was read
// once, successfully or not, since many clients request it only once.
//
// Running requests have server.drain_timeout after the end of the input; then they are cancelled.
func (g *Gateway) ServeLines(ctx context.Context, in io.Reader, out io.Writer, o LineOptions) error {
	if !g.o.Local {
		return errors.New("the gateway was not made for the one who runs it")
	}
	c := g.o.Config
	h := g.mcpHandlers.Main(c)
	if o.Endpoint != "" {
		n := slices.IndexFunc(c.Endpoints, func(e config.MCPEndpoint) bool { return e.Name == o.Endpoint })
		if n < 0 {
			return fmt.Errorf("%w: %q", ErrUnknownEndpoint, o.Endpoint)
		}
		h = g.mcpHandlers.Named(o.Endpoint, c.Endpoints[n].Title, c.Endpoints[n].Instructions)
	}
	drain := func() time.Duration { return time.Duration(g.Config().Server.DrainTimeout) } // the current value, which a reload may have changed
	return h.ServeLines(ctx, o.Endpoint, in, out, o.Stop, drain)
}

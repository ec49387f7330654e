package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/endpoint"
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

// await returns the endpoint of a request as soon as it is available.
func (g *Gateway) await(ctx context.Context, name string, req *mcp.Request) (*endpoint.Endpoint, error) {
	if e := g.currentEndpoints().Lookup(name); e != nil && e.PlanOf(req) != nil {
		return e, nil
	}
	select {
	case <-g.attempted:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if e := g.currentEndpoints().Lookup(name); e != nil {
		return e, nil
	}
	return nil, &mcp.Error{Code: mcp.CodeInternal, Message: g.whyNothing(name)}
}

// whyNothing explains to the operator why no API can be served.
func (g *Gateway) whyNothing(name string) string {
	var b strings.Builder
	b.WriteString("no API can be served; it is tried again")
	for _, a := range g.Status().APIs {
		switch {
		case a.State == admin.Ready || a.State == admin.Stale:
			return fmt.Sprintf("the configuration in use has no endpoint %q any more", name)
		case a.Error != "":
			fmt.Fprintf(&b, "\n%s: %s", a.Name, a.Error)
		}
	}
	return b.String()
}

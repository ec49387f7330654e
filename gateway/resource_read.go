package gateway

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"drawbridge/auth"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/render"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/truncate"
)

// readResource answers resources/read.
func (g *Gateway) readResource(ctx context.Context, req *mcp.Request, reply *mcp.Reply) error {
	contents, err := g.read(ctx, req, reply, req.URI)
	if err != nil {
		return err
	}
	return reply.Result(render.Contents(contents)...)
}

// read reads a resource for the caller of a request, who must be allowed to call its operation. The error is for the client.
func (g *Gateway) read(ctx context.Context, req *mcp.Request, reply *mcp.Reply, uri string) ([]render.Content, error) {
	e := endpointFrom(ctx)
	p, args := e.toRead(uri, req.Principal)
	if p == nil {
		return nil, notFound(req, uri)
	}
	c := call{g: g, ctx: ctx, req: req, reply: reply, plan: p, endpoint: e.callEndpoint}
	if e.guard != nil {
		c.caller = auth.FromContext(ctx)
		if denied := e.authorizeRead(c.caller, p, req); denied != nil {
			g.refuseScope(ctx, e.callEndpoint, p, c.caller, req)
			return nil, denied
		}
	}
	whole, _, part := strings.Cut(uri, "#")
	contents, err := c.readAs(whole, args)
	if err != nil || !part {
		return contents, err
	}
	for _, item := range contents {
		if item.URI == uri {
			return []render.Content{item}, nil
		}
	}
	return nil, notFound(req, uri)
}

// readAs makes the call that reads a resource for an authorized caller. The error is for the client.
func (c *call) readAs(uri string, args []byte) (_ []render.Content, err error) {
	c.enter()
	defer func() { c.leave(err) }()
	if err = c.allowed(); err != nil {
		return nil, err
	}
	c.g.metrics.InFlight.Inc()
	defer c.g.metrics.InFlight.Dec()

	args, err = c.permit(c.ctx, args)
	if err != nil {
		return nil, c.unread(uri, nil, err)
	}
	end, err := c.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	parts, resp, err := c.collect(args) //nolint:bodyclose // it was read
	if err != nil {
		return nil, c.unread(uri, resp, err)
	}
	c.done(telemetry.OutcomeOK, nil)
	mimeType := c.plan.Operation.Answers.MediaType()
	if r := c.plan.resource; r != nil {
		mimeType = r.mimeType
	}
	return render.ContentsOf(uri, mimeType, parts, render.IsUnended(parts, resp)), nil
}

// authorizeRead is authorize for a resource.
func (e *callEndpoint) authorizeRead(caller *auth.Principal, p *Plan, req *mcp.Request) *mcp.Error {
	denied := e.authorize(caller, p)
	switch {
	case denied == nil:
	case e.hideUnauthorized:
		return req.ResourceNotFound(truncate.Bytes(req.URI, maxShownURI))
	case len(p.Scopes) > 0:
		denied.Message = "insufficient scope for this resource"
	}
	return denied
}

// maxShownURI is the maximum length in bytes of a URI in an error.
const maxShownURI = 1 << 10

// unread returns the error for a failed read. If the service reports the resource as missing, it does not exist; every other
// failure has the text that a call of the tool would return.
func (c *call) unread(uri string, resp *http.Response, err error) error {
	var f *failure
	if !errors.As(err, &f) {
		return err
	}
	c.done(f.outcome, f.cause)
	if resp != nil && (resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone) {
		return c.req.ResourceNotFound(truncate.Bytes(uri, maxShownURI))
	}
	if refused := c.subjectRefused(f); refused != nil {
		return refused
	}
	e := &mcp.Error{Code: mcp.CodeInternal, Message: f.text, Data: append(jsonscan.AppendString([]byte(`{"uri":`), truncate.Bytes(uri, maxShownURI)), '}')}
	var unable *mcp.ClientUnsupportedError
	switch {
	case f.outcome == telemetry.OutcomeArguments || f.outcome == telemetry.OutcomeCondition:
		e.Code = mcp.CodeInvalidParams
	case errors.As(err, &unable) && unable.Missing != 0 && c.req.Family == mcp.Stateless:
		return err // names the capability that the client would have to declare (mcp-M2)
	case f.outcome == telemetry.OutcomeUnconfirmed:
		e.Code, e.HTTPStatus = mcp.CodeInvalidRequest, http.StatusOK // the request is valid; its user or client is not able or willing
	}
	return e
}

package gateway

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"drawbridge/auth"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/render"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/truncate"
)

// resourceReader reads resources.
type resourceReader struct{ calls *callRunner }

// answer answers resources/read.
func (r resourceReader) answer(ctx context.Context, e *endpoint, req *mcp.Request, reply *mcp.Reply) error {
	contents, err := r.read(ctx, e, req, reply)
	if err != nil {
		return err
	}
	return reply.Result(render.Contents(contents)...)
}

// read reads the resource that a request names for its caller, who must be allowed to call its operation. The error is for
// the client.
func (r resourceReader) read(ctx context.Context, e *endpoint, req *mcp.Request, reply *mcp.Reply) ([]render.Content, error) {
	uri := req.URI
	p, args := e.toRead(uri, req.Principal)
	if p == nil {
		return nil, notFound(req, uri)
	}
	c := r.calls.newCall(ctx, e.callEndpoint, p, req, reply)
	if c.authorize(ctx) != nil {
		return nil, e.authorizeRead(c.caller, p, req)
	}
	whole, _, part := strings.Cut(uri, "#")
	contents, err := readAs(ctx, c, whole, args)
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
func readAs(ctx context.Context, c *call, uri string, args []byte) ([]render.Content, error) {
	parts, resp, err := c.collect(ctx, args) //nolint:bodyclose // it was read
	if err != nil {
		return nil, unread(c, uri, resp, err)
	}
	mimeType := c.plan.Operation.Answers.MediaType()
	if r := c.plan.Resource; r != nil {
		mimeType = r.MIMEType
	}
	return render.ContentsOf(uri, mimeType, parts, render.IsUnended(parts, resp)), nil
}

// authorizeRead is authorize for a resource.
func (e *callEndpoint) authorizeRead(caller *auth.Principal, p *plan.Plan, req *mcp.Request) *mcp.Error {
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
func unread(c *call, uri string, resp *http.Response, err error) error {
	var f *failure
	if !errors.As(err, &f) {
		return err
	}
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

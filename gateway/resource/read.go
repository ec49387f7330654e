package resource

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"drawbridge/auth"
	"drawbridge/gateway/call"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/render"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

// Reader reads resources.
type Reader struct{ Calls *call.Runner }

// Serve answers resources/read.
func (r Reader) Serve(ctx context.Context, e *View, req *mcp.Request, reply *mcp.Reply) error {
	contents, err := r.read(ctx, e, req, reply)
	if err != nil {
		return err
	}
	return reply.Result(render.Contents(contents)...)
}

// read reads the resource that a request names for its caller, who must be allowed to call its operation. The error is for
// the client.
func (r Reader) read(ctx context.Context, e *View, req *mcp.Request, reply *mcp.Reply) ([]render.Content, error) {
	uri := req.URI
	p, args := e.ToRead(uri, req.Principal)
	if p == nil {
		return nil, notFound(req, uri)
	}
	c := r.Calls.NewBufferedCall(ctx, e.Endpoint, p, req, reply)
	if c.Authorize(ctx) != nil {
		return nil, Authorize(e.Endpoint, c.Caller, p, req)
	}
	whole, _, part := strings.Cut(uri, "#")
	contents, err := Read(ctx, c, whole, args, nil)
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

// Read makes the call that reads a resource for an authorized caller. reduce returns the parts that are passed on; nil if all are. The
// error is for the client.
func Read(ctx context.Context, c call.BufferedCall, uri string, args []byte, reduce func([]answer.Part) []answer.Part) ([]render.Content, error) {
	parts, resp, err := c.Collect(ctx, args) //nolint:bodyclose // it was read
	if err != nil {
		return nil, unread(c, uri, resp, err)
	}
	if reduce != nil {
		parts = reduce(parts)
	}
	mimeType := c.Plan.Operation.Answers.MediaType()
	if r := c.Plan.Resource; r != nil {
		mimeType = r.MIMEType
	}
	return render.ContentsOf(uri, mimeType, parts, render.IsUnended(parts, resp)), nil
}

// Authorize is authorize for a resource.
func Authorize(e *call.Endpoint, caller *auth.Principal, p *plan.Plan, req *mcp.Request) *mcp.Error {
	denied := e.Authorize(caller, p)
	switch {
	case denied == nil:
	case e.HideUnauthorized:
		return req.ResourceNotFound(text.Truncate(req.URI, MaxShownURI))
	case len(p.Scopes) > 0:
		denied.Message = "insufficient scope for this resource"
	}
	return denied
}

// MaxShownURI is the maximum length in bytes of a URI in an error.
const MaxShownURI = 1 << 10

// unread returns the error for a failed read. If the service reports the resource as missing, it does not exist; every other
// failure has the text that a call of the tool would return.
func unread(c call.BufferedCall, uri string, resp *http.Response, err error) error {
	var f *call.Failure
	if !errors.As(err, &f) {
		return err
	}
	if resp != nil && (resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone) {
		return c.Request.ResourceNotFound(text.Truncate(uri, MaxShownURI))
	}
	if refused := c.SubjectRefused(f); refused != nil {
		return refused
	}
	e := &mcp.Error{Code: mcp.CodeInternal, Message: f.Text, Data: append(jsonscan.AppendString([]byte(`{"uri":`), text.Truncate(uri, MaxShownURI)), '}')}
	var unable *mcp.ClientUnsupportedError
	switch {
	case f.Outcome == telemetry.OutcomeArguments || f.Outcome == telemetry.OutcomeCondition:
		e.Code = mcp.CodeInvalidParams
	case errors.As(err, &unable) && unable.Missing != 0 && c.Request.Family == mcp.Stateless:
		return err // names the capability that the client would have to declare (mcp-M2)
	case f.Outcome == telemetry.OutcomeUnconfirmed:
		e.Code, e.HTTPStatus = mcp.CodeInvalidRequest, http.StatusOK // the request is valid; its user or client is not able or willing
	}
	return e
}

package resource

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"drawbridge/auth"
	"drawbridge/gateway/call"
	"drawbridge/gateway/deliver"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/render"
	"drawbridge/gateway/skill"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

// Reader reads resources.
type Reader struct {
	Calls  *call.Runner
	Skills skill.Server
}

// Serve answers resources/read.
func (r Reader) Serve(ctx context.Context, e *View, req *mcp.Request, reply *mcp.Reply) error {
	if f := e.Skills.File(req.URI); f != nil {
		return r.Skills.Read(ctx, e.Endpoint, f, req, reply)
	}
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
	inv := deliver.Invocation(ctx, e.Endpoint, call.Operation(p), req, reply)
	inv.Origin, inv.Arguments, inv.Policy.Response = call.FromResource, args, call.Whole
	if r.Calls.Authorize(ctx, &inv) != nil {
		return nil, Authorize(e.Endpoint, inv.Caller.Principal, p, req.Family, req.URI)
	}
	whole, _, part := strings.Cut(uri, "#")
	contents, err := Read(ctx, r.Calls, inv, whole, nil)
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
func Read(ctx context.Context, calls *call.Runner, inv call.Invocation, uri string, reduce func(*call.Outcome) []answer.Part) ([]render.Content, error) {
	out, err := calls.Invoke(ctx, inv)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	if out.Failure != nil {
		return nil, unread(out, uri)
	}
	parts := out.Parts
	if reduce != nil {
		parts = reduce(out)
	}
	p := inv.Plan()
	mimeType := p.Operation.Answers.MediaType()
	if r := p.Resource; r != nil {
		mimeType = r.MIMEType
	}
	return render.ContentsOf(uri, mimeType, parts, render.IsUnended(parts, out.Response)), nil
}

// Authorize is authorize for a resource.
func Authorize(e *call.Endpoint, caller *auth.Principal, p *plan.Plan, family mcp.RevisionFamily, uri string) *mcp.Error {
	denied := e.Authorize(caller, call.Operation(p))
	switch {
	case denied == nil:
	case e.HideUnauthorized:
		return mcp.ResourceNotFound(family, text.Truncate(uri, MaxShownURI))
	case len(p.Scopes) > 0:
		denied.Message = "insufficient scope for this resource"
	}
	return denied
}

// MaxShownURI is the maximum length in bytes of a URI in an error.
const MaxShownURI = 1 << 10

// unread returns the error for a failed read. If the service reports the resource as missing, it does not exist; every other
// failure has the text that a call of the tool would return.
func unread(out *call.Outcome, uri string) error {
	f, inv := out.Failure, out.Invocation()
	family := inv.Caller.Protocol.Family
	if resp := out.Response; resp != nil && (resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone) {
		return mcp.ResourceNotFound(family, text.Truncate(uri, MaxShownURI))
	}
	if refused := inv.Endpoint.SubjectRefused(inv.Caller.Principal, f); refused != nil {
		return refused
	}
	e := &mcp.Error{Code: mcp.CodeInternal, Message: f.Text, Data: append(jsonscan.AppendString([]byte(`{"uri":`), text.Truncate(uri, MaxShownURI)), '}')}
	var unable *mcp.ClientUnsupportedError
	switch {
	case f.Outcome == telemetry.OutcomeArguments || f.Outcome == telemetry.OutcomeCondition:
		e.Code = mcp.CodeInvalidParams
	case errors.As(f, &unable) && unable.Missing != 0 && family == mcp.Stateless:
		return f // names the capability that the client would have to declare (mcp-M2)
	case f.Outcome == telemetry.OutcomeUnconfirmed:
		e.Code, e.HTTPStatus = mcp.CodeInvalidRequest, http.StatusOK // the request is valid; its user or client is not able or willing
	}
	return e
}

package endpoint

import (
	"context"
	"strings"

	"drawbridge/auth"
	"drawbridge/gateway/builtin"
	"drawbridge/gateway/deliver"
	"drawbridge/gateway/filestore"
	"drawbridge/gateway/filetool"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/toolsearch"
)

// toolCalls answers tools/call: it serves the built-in tools, which can be called whether or not they are listed, and passes other calls on.
type toolCalls struct {
	calls *deliver.Tools
	own   *builtin.Tools
}

func (c *toolCalls) serve(ctx context.Context, req *mcp.Request, reply *mcp.Reply) error {
	e := From(ctx)
	if (req.Name == filetool.Read || req.Name == filetool.Upload) && e.Files != nil {
		owner, ok := e.FileOwner(req.Principal)
		if !ok {
			return mcp.InvalidParams("files need a token with a subject")
		}
		tool := c.own.ReadFile(e.fileOpener(ctx, owner))
		if req.Name == filetool.Upload {
			tool = c.own.UploadFile(e.Files.MaxSize(), e.uploadAnswer(owner))
		}
		return c.calls.ServeOwn(ctx, e.Endpoint, tool, req, reply)
	}
	if !toolsearch.Is(req.Name) {
		return c.calls.Serve(ctx, e.Endpoint, req, reply)
	}
	chosen, err := parseChoice(req.Query())
	if err != nil {
		return err
	}
	scope := e.scope(chosen, auth.FromContext(ctx))
	switch req.Name {
	case toolsearch.Search:
		return c.calls.ServeOwn(ctx, e.Endpoint, c.own.Search(scope), req, reply)
	case toolsearch.Describe:
		return c.calls.ServeOwn(ctx, e.Endpoint, c.own.Describe(scope, e.features(req.Revision)), req, reply)
	}
	return c.forward(ctx, e, scope, req, reply)
}

// uploadAnswer returns what answers upload_file for the files of a caller.
func (e *Endpoint) uploadAnswer(owner string) func(filetool.UploadRequest) (string, error) {
	return func(r filetool.UploadRequest) (string, error) {
		if !e.uploadURLs {
			return filetool.UploadCommand(e.publicURL, e.Files.TTL()), nil
		}
		sealed, offer, err := e.Files.Offer(owner, filestore.Metadata{Name: r.Name, MediaType: r.MediaType, Tool: filetool.Upload}, r.Size)
		if err != nil {
			return "", err
		}
		return filetool.UploadURL(e.publicURL, sealed, &offer), nil
	}
}

// readResource answers resources/read: files by read_file, all other resources by their operations.
func (i *implementations) readResource(ctx context.Context, req *mcp.Request, reply *mcp.Reply) error {
	e := From(ctx)
	if e.Files == nil || !strings.HasPrefix(req.URI, filestore.Scheme) {
		return i.calls.ReadResource(ctx, req, reply)
	}
	ref, ok := filestore.ParseURI(req.URI)
	if !ok {
		return fileNotFound(req)
	}
	return i.files.readResource(ctx, e, ref, req, reply)
}

// forward calls the tool that the arguments of read_tool or call_tool name. It changes the request to one for that tool, so that
// elicitation state, tasks and links are bound to it.
func (c *toolCalls) forward(ctx context.Context, e *Endpoint, scope *toolsearch.Scope, req *mcp.Request, reply *mcp.Reply) error {
	target, err := toolsearch.TargetOf(req.Arguments)
	if err != nil {
		return c.calls.ServeOwn(ctx, e.Endpoint, c.own.Refuse(req.Name, err), req, reply)
	}
	via := &deliver.Via{Name: req.Name, ReadOnly: req.Name == toolsearch.Read, Unknown: scope.Unknown, Select: target.Select}
	req.Name, req.Arguments = target.Name, target.Arguments
	return c.calls.ServeVia(ctx, e.Endpoint, via, req, reply)
}

// target returns the name of the tool that a tools/call calls, directly or through read_tool or call_tool.
func target(req *mcp.Request) string {
	if toolsearch.CallsTool(req.Name) {
		t, _ := toolsearch.TargetOf(req.Arguments)
		return t.Name
	}
	return req.Name
}

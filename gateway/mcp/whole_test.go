package mcp_test

import (
	"context"
	"maps"

	"drawbridge/gateway/mcp"
)

// wholeServer is a server with every capability; its tools are named after what they do.
func wholeServer(o mcp.Options) (mcp.Methods, mcp.Options) {
	o.Capabilities.Logging = true
	methods := testMethods()
	maps.Copy(methods, mcp.Methods{"tools/call": wholeTool})
	return methods, o
}

func wholeTool(ctx context.Context, req *mcp.Request, reply *mcp.Reply) error {
	content := mcp.Chunk{Bytes: []byte(`"content":[]`)}
	switch req.Name {
	case "progress":
		for i := range 3 {
			if err := reply.Progress(float64(i)+0.5, 3, "step \"one\"\nor two"); err != nil {
				return err
			}
		}
		if err := reply.Progress(1, 0, "backwards"); err != nil {
			return err
		}
		if err := reply.Progress(10_000_000_000, 0, ""); err != nil {
			return err
		}
		return reply.Result(content)
	case "log":
		for _, l := range []mcp.Level{mcp.LevelDebug, mcp.LevelWarning, mcp.LevelEmergency} {
			if err := reply.Log(l, "up\"stream", []byte("{\"status\":\r\n503}")); err != nil {
				return err
			}
		}
		if err := reply.Log(mcp.LevelCritical, "", []byte(`"no name"`)); err != nil {
			return err
		}
		return reply.Result(content)
	case "notify then fail":
		if err := reply.Notify("notifications/test", mcp.Chunk{Bytes: []byte(`"text":"`)}, mcp.Chunk{Bytes: []byte("a\nb"), Escape: true}, mcp.Chunk{Bytes: []byte(`"`)}); err != nil {
			return err
		}
		return &mcp.Error{Code: mcp.CodeInvalidRequest, Message: "insufficient scope", HTTPStatus: 403}
	case "notify then panic":
		if err := reply.Notify("notifications/test"); err != nil {
			return err
		}
		panic("a secret")
	}
	return callTool(ctx, req, reply)
}

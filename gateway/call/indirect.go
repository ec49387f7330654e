package call

import (
	"strings"

	"drawbridge/auth"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/render"
	"drawbridge/gateway/telemetry"
)

// Indirect says how a tool is called through another one that takes its name and arguments, such as read_tool. The call is
// the same as a direct one, except that the model is told more about its mistakes: it may have seen no definition.
type Indirect struct {
	ReadOnly bool                     // only tools that change nothing may be called
	Unknown  func(name string) string // the text for the model if there is no such tool for the caller
}

// answerUnknown answers a call of a tool that does not exist for the caller. via is nil if the client named it itself.
func (e *Endpoint) answerUnknown(caller *auth.Principal, via *Indirect, name string, reply *mcp.Reply) error {
	if via == nil {
		return e.unknownTool(caller, name)
	}
	return reply.Result(render.Error(via.Unknown(name))...)
}

// checkIndirect refuses an indirect call of a tool that can only be called by its own name.
func (c *Call) checkIndirect() error {
	switch p := c.Plan; {
	case c.indirect == nil:
		return nil
	case c.indirect.ReadOnly && !p.Tool.Annotations.ReadOnly:
		return &Failure{Outcome: telemetry.OutcomeArguments, Text: p.Tool.Name + " is not read-only: call it with call_tool. Nothing was sent."}
	case p.Repeated != nil:
		return &Failure{Outcome: telemetry.OutcomeArguments, Text: p.Tool.Name + " must be called by its own name, since its clients repeat arguments " +
			"in headers. Nothing was sent. If there is no such tool for you, tell the user that the operator has to list it (tools.pinned)."}
	}
	return nil
}

// withSignature adds the tool's signature to the text about wrong arguments, for a model that has not seen its definition.
func (c *Call) withSignature(f *Failure) string {
	if c.indirect == nil || f.Outcome != telemetry.OutcomeArguments {
		return f.Text
	}
	return strings.TrimRight(f.Text, "\n") + "\n\nThe signature is " + c.Plan.Tool.Signature()
}

package call

import (
	"context"
	"encoding/json"
)

// Step makes a call that is a step of c, for the caller of c, and returns its outcome, which must be closed. The step is authorized, limited
// and recorded as any call is; its record names c as its parent.
//
// A step whose user is asked returns an [*mcp.InputRequired]. The tool keeps its State by [Call.Keep], with what the steps before have done,
// and returns the error; when it runs again, it passes the state to the same step, which goes on from there. state is nil for a step that
// begins.
func (c *Call) Step(ctx context.Context, t Tool, args, state json.RawMessage) (*Outcome, error) {
	if state == nil {
		if err := c.settle(ctx); err != nil {
			return nil, err
		}
	}
	inv := Invocation{
		Endpoint: c.Endpoint, Tool: t, Name: t.Definition().Name, Origin: FromStep, Method: c.Method, Parent: c.ID(), Caller: c.Caller, Client: c.Client,
		Request: c.Request, Memory: c.Memory, MemoryChecked: true, Arguments: args, Input: c.Input.Of(state), Trial: c.Trial, Policy: Policy{Response: Whole},
	}
	if c.Origin.ByOperator() { // whose rights the steps have
		inv.Origin = c.Origin
	}
	if denied := c.r.Authorize(ctx, &inv); denied != nil {
		return nil, denied
	}
	return c.r.Invoke(ctx, inv)
}

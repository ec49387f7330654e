package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/elicit"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi"
)

// codeInputs is the code of inputs that an operation can't ask for, as that of the document's problems.
const codeInputs = "inputs"

// elicitationOf makes the elicitation of an operation, given being the operation with the arguments that come from callers.
// Inputs that can't be asked for are reported and left out, unless one of them is always asked for: no call is made then, since
// what the user has to say would come from somebody else.
func (gen *generation) elicitationOf(g *Gateway, s *source, op, given *openapi.Operation, list []config.Input) *elicit.Operation {
	e, err := elicit.ForOperation(list, given)
	if err == nil {
		return e
	}
	gen.unusable(g, s, op, codeInputs, fmt.Sprintf("inputs[%d]%s", err.Index, err.Key), err.Error(),
		func(set *config.Settings) bool { return len(set.Inputs) > 0 && &set.Inputs[0] == &list[0] })
	if slices.ContainsFunc(list, func(in config.Input) bool { return in.When == config.InputAlways || in.Kind == config.InputURL }) {
		return elicit.Broken(given)
	}
	return nil
}

const notAskedAtAll = "This tool can't be called: what it has to ask the user does not fit its document any more. Nothing was sent. " +
	"The operator of the gateway finds the reason in its log."

// fill checks the arguments of a call, asks the user for the missing ones, and returns all of them; each answer was checked
// alone. The error is a *failure, or one of the protocol.
func (c *call) fill(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
	e := c.plan.elicitation
	if e.IsBroken() {
		return nil, &failure{outcome: telemetry.OutcomeUnanswered, text: notAskedAtAll}
	}
	args, dropped, err := e.Shown().Check(args)
	if err != nil {
		return nil, c.unbuilt(err)
	}
	c.addDropped(dropped)
	args, err = e.Fill(ctx, &elicit.Request{
		Asker: c.reply, Subject: c.plan.title() + " of " + c.plan.Tool.API, Revision: c.req.Revision, Legacy: c.req.Family == mcp.Legacy,
	}, args)
	var none *elicit.Unanswered
	switch {
	case err == nil:
		return args, nil
	case errors.As(err, &none):
		return nil, c.unanswered(none)
	}
	return nil, c.unasked(err)
}

// unanswered tells the model of a call that the user has not given the arguments that it needs.
func (c *call) unanswered(e *elicit.Unanswered) error {
	names := strings.Join(e.Names, ", ")
	fail := func(format string, args ...any) error {
		return &failure{outcome: telemetry.OutcomeUnanswered, cause: e, text: fmt.Sprintf(format, args...)}
	}
	var unable *mcp.ClientUnsupportedError
	switch {
	case e.Action == mcp.Declined && names == "":
		return fail("The user declined what this call needs. Nothing was sent. Do not call again without being told to; ask the user what to do instead.")
	case e.Action == mcp.Declined:
		return fail("The user declined to give what this call needs (%s). Nothing was sent. Do not call again without being told to; "+
			"ask the user what to do instead.", names)
	case e.Action == mcp.Cancelled:
		return fail("The user was asked for what this call needs, and has not answered. Nothing was sent. Ask the user how to go on, and call again " +
			"when told to.")
	case errors.As(e, &unable) && c.req.Family == mcp.Stateless && unable.Missing&(mcp.ClientSampling|mcp.ClientRoots) != 0:
		return unable // the client has to know what it lacks
	case !errors.As(e, &unable) && !errors.Is(e, elicit.ErrNoLists):
		return fail("The user was asked for what this call needs (%s), and the answers did not fit. Nothing was sent. Ask the user how to go on.", names)
	case e.Always:
		return fail("This call has to ask the user something, and this client can't do that (it does not support such questions). " +
			"Nothing was sent. Tell the user that the call has to be made in another way.")
	}
	return fail("This call also needs: %s. The user would be asked, but this client can't do that. Nothing was sent. "+
		"Ask the user yourself, and call again with these arguments.", names)
}

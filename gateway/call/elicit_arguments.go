package call

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"drawbridge/gateway/elicit"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
)

const notAskedAtAll = "This tool can't be called: what it has to ask the user does not fit its document any more. Nothing was sent. " +
	"The operator of the gateway finds the reason in its log."

// elicitArguments asks the user for the arguments that a call lacks, and returns all of them; each answer has been validated
// on its own. args are valid as far as callers see them. The error is a [*Failure], or a protocol error.
func (c *Call) elicitArguments(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
	p, protocol := c.Plan, &c.Caller.Protocol
	args, err := p.Elicitation.Fill(ctx, &elicit.Request{
		Dialogue: c.dialogue(), Subject: p.Title() + " of " + p.Tool.API, Revision: protocol.Revision,
	}, args)
	var none *elicit.Unanswered
	if errors.As(err, &none) {
		return nil, unansweredFailure(protocol, none)
	}
	return args, err
}

// unansweredFailure returns the error that tells the model that the user has not given required arguments.
func unansweredFailure(of *Protocol, e *elicit.Unanswered) error {
	names := strings.Join(e.Names, ", ")
	fail := func(format string, args ...any) error {
		return &Failure{Outcome: telemetry.OutcomeUnanswered, Cause: e, Text: fmt.Sprintf(format, args...)}
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
	case errors.As(e, &unable) && of.Family == mcp.Stateless && unable.Missing&(mcp.ClientSampling|mcp.ClientRoots) != 0:
		return unable // names the capability that the client lacks
	case !errors.As(e, &unable) && !errors.Is(e, elicit.ErrNoLists):
		return fail("The user was asked for what this call needs (%s), and the answers did not fit. Nothing was sent. Ask the user how to go on.", names)
	case e.Always:
		return fail("This call has to ask the user something, and this client can't do that (it does not support such questions). " +
			"Nothing was sent. Tell the user that the call has to be made in another way.")
	}
	return fail("This call also needs: %s. The user would be asked, but this client can't do that. Nothing was sent. "+
		"Ask the user yourself, and call again with these arguments.", names)
}

package call

import (
	"context"
	"net/http"

	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi/answer"
)

// BufferedCall is a call whose response the gateway reads itself: for resources/read, a prompt, completion, or the poll of
// a subscription. Its caller gets failures as errors, and its client nothing.
//
// [Call.Authorize] comes first, then Collect for the whole life of the call; or PrepareFirst and then Collect, if the response
// may not be needed once the arguments are known; or Poll alone, for a request that no client waits for.
type BufferedCall struct{ *Call }

// NewBufferedCall returns a call of a plan for the caller of a request. reply is nil if no client waits for the call.
func (r *Runner) NewBufferedCall(ctx context.Context, e *Endpoint, p *plan.Plan, req *mcp.Request, reply *mcp.Reply) BufferedCall {
	c := r.newCall(ctx, e, p, req, reply)
	c.buffered = true
	return BufferedCall{c}
}

// Collect runs the call and buffers the whole response. It returns the parts of a response with a status below 300,
// without the gateway's secrets, and the response, whose body has been read. For any other response, and for any other
// failure of the call itself, the error is a [*Failure].
func (c BufferedCall) Collect(ctx context.Context, args []byte) (parts []answer.Part, resp *http.Response, err error) {
	err = c.run(ctx, args)
	return c.parts, c.response, err
}

// Ceil returns the collected parts as they are shown in a prompt, within a number of tokens and the ceiling on binary data, a note on
// what they lack, "" if they are whole, and an upper bound of the tokens of both. There is no limit if most is 0.
func (c BufferedCall) Ceil(ctx context.Context, parts []answer.Part, most int) (shown []answer.Part, note string, tokens int) {
	shown = parts
	if limit := c.ceiling(ctx).Binary; limit > 0 && binarySize(parts) > limit {
		shown = c.linkBinary(parts, limit)
		for i := range shown {
			if shown[i].Kind != parts[i].Kind {
				shown[i].MediaType = "text/plain"
			}
		}
	}
	bound := c.beside().atMost(shown)
	if most == 0 || bound <= most {
		return shown, "", bound
	}
	shown, note = c.fit(shown, most)
	return shown, note, most
}

// PrepareFirst is prepare for a caller that decides after it whether to collect.
func (c BufferedCall) PrepareFirst(ctx context.Context, args []byte) ([]byte, error) {
	args, err := c.prepare(ctx, args)
	if err != nil {
		c.endRecord(ctx, c.conclude(ctx, err))
		return nil, err
	}
	return args, nil
}

// Poll collects the response for a subscription, which no client waits for: the call is neither admitted nor validated.
// The response is 304 without parts if it is the one that the validators identify.
func (c BufferedCall) Poll(ctx context.Context, args []byte, validators http.Header) (parts []answer.Part, resp *http.Response, err error) {
	c.background, c.prepared, c.bypassCache, c.header = true, true, true, validators
	c.markPoll()
	return c.Collect(ctx, args)
}

// ChargePoll counts the first poll of a subscription against the rate limits of its tool and its API. The error says when
// to retry.
func (c BufferedCall) ChargePoll(ctx context.Context, args []byte) (err error) {
	c.markPoll()
	c.args = args
	defer func() { c.endRecord(ctx, err) }()
	return c.chargeRates(ctx)
}

// markPoll makes the audit record that of a poll.
func (c BufferedCall) markPoll() {
	if c.record != nil {
		c.record.rpc = "watch"
	}
}

// readAll reads the response of the call.
func (c BufferedCall) readAll(ctx context.Context, resp *http.Response) (err error) {
	c.response = resp
	switch {
	case resp.StatusCode == http.StatusNotModified && c.background && c.header != nil:
		return resp.Body.Close()
	case resp.StatusCode >= 300:
		return c.serviceFailure(resp)
	}
	parts, err := c.gather(ctx, resp, c.Plan.Progress.Reduce)
	if err != nil {
		return err
	}
	for _, part := range parts {
		if err := c.reportedFailure(ctx, resp, part); err != nil {
			return err
		}
	}
	c.parts = parts
	if !c.background {
		c.Done(ctx, telemetry.OutcomeOK, nil)
	}
	return nil
}

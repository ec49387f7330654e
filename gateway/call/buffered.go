package call

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"

	"drawbridge/gateway/telemetry"
	"drawbridge/openapi/answer"
)

// Collect runs the call and buffers the whole response. It returns the parts of a response with a status below 300,
// without the gateway's secrets, and the response, whose body has been read. For any other response, and for any other
// failure of the call itself, the error is a *failure.
func (c *Call) Collect(ctx context.Context, args []byte) (parts []answer.Part, resp *http.Response, err error) {
	c.buffered = true
	err = c.run(ctx, args)
	return c.parts, c.response, err
}

// PrepareFirst is prepare for a caller that decides after it whether to collect.
func (c *Call) PrepareFirst(ctx context.Context, args []byte) ([]byte, error) {
	c.buffered = true
	args, err := c.prepare(ctx, args)
	if err != nil {
		c.endRecord(ctx, c.conclude(ctx, err))
		return nil, err
	}
	return args, nil
}

// Poll collects the response for a subscription, which no client waits for: the call is neither admitted nor validated.
// The response is 304 without parts if it is the one that the validators identify.
func (c *Call) Poll(ctx context.Context, args []byte, validators http.Header) (parts []answer.Part, resp *http.Response, err error) {
	c.background, c.prepared, c.bypassCache, c.header = true, true, true, validators
	c.markPoll()
	return c.Collect(ctx, args)
}

// ChargePoll counts the first poll of a subscription against the rate limits of its tool and its API. The error says when
// to retry.
func (c *Call) ChargePoll(ctx context.Context, args []byte) (err error) {
	c.markPoll()
	c.args = args
	defer func() { c.endRecord(ctx, err) }()
	return c.chargeRates(ctx)
}

// markPoll makes the audit record that of a poll.
func (c *Call) markPoll() {
	if c.record != nil {
		c.record.rpc = "watch"
	}
}

// bufferResponse reads the response of a call that is collected.
func (c *Call) bufferResponse(ctx context.Context, resp *http.Response) (err error) {
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
	c.parts = parts
	if !c.background {
		c.Done(ctx, telemetry.OutcomeOK, nil)
	}
	return nil
}

// gather reads a response to its end and returns its parts, without the gateway's secrets, and in memory of their own.
// prepare is called for each part first.
func (c *Call) gather(ctx context.Context, resp *http.Response, prepare func(*answer.Part)) (parts []answer.Part, err error) {
	err = c.readResponse(resp, func(part answer.Part) error {
		prepare(&part)
		c.redactPart(ctx, &part)
		part.Data = bytes.Clone(part.Data)
		parts = append(parts, part)
		return nil
	})
	return parts, err
}

// redactPart removes the credential of the service from a part of its answer.
func (c *Call) redactPart(ctx context.Context, part *answer.Part) {
	if c.redactor().Part(part) {
		c.r.Log.LogAttrs(ctx, slog.LevelWarn, "the response of the service contained its credential, which was redacted",
			slog.String("api", c.Plan.Tool.API), slog.String("tool", c.Plan.Tool.Name))
	}
}

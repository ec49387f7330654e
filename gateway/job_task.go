package gateway

import (
	"context"
	"encoding/json"

	"drawbridge/gateway/job"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi/jsonscan"
)

// Requests about tasks make calls that only ask for the state of a job, on behalf of the caller of the request. Their
// results are captured, since a task answers with them later.

// newJobCall returns a call that queries the job of an earlier call. key identifies the job in the service's webhook.
func (r *callRunner) newJobCall(ctx context.Context, e *callEndpoint, p *plan.Plan, key string, req *mcp.Request, reply *mcp.Reply) *call {
	c := r.newCall(ctx, e, p, req, reply)
	c.key, c.captured = key, &capturedResult{}
	return c
}

// authorizeJob checks that the caller may know of a job: it must be allowed to call the job's tool with the arguments with
// which the job was started. The error is for the client.
func (c *call) authorizeJob(ctx context.Context, args json.RawMessage) error {
	if denied := c.authorize(ctx); denied != nil {
		return denied
	}
	if c.plan.Condition == nil || requestInfoFrom(ctx).operator {
		return nil
	}
	// The audit log has no record of the call yet.
	refuse := func(cause error, text string) error {
		c.done(ctx, telemetry.OutcomeCondition, cause)
		c.r.recordDenied(ctx, c.endpoint, c.plan, c.caller, c.req, telemetry.OutcomeCondition)
		return mcp.InvalidParams("%s", text)
	}
	if args == nil { // the condition depends on arguments that are not stored
		return refuse(nil, "the gateway's policy has changed since this task began, and does not permit a look at it")
	}
	if ok, err := c.permitted(ctx, c.plan, args); !ok {
		return refuse(err, "the gateway's policy does not permit a look at this task any more")
	}
	return nil
}

// beginJobRequests returns the context for requests about a job, which has the deadline and the credentials of a call,
// and the function that ends them and writes the audit record.
func (c *call) beginJobRequests(ctx context.Context) (_ context.Context, end func()) {
	ctx, cancel := context.WithTimeout(ctx, c.plan.Timeout)
	ctx, c.sent = c.plan.Attach(ctx, c.req.HTTP.Header, c.endpoint.guard)
	return ctx, func() {
		c.endRecord(ctx, nil)
		cancel()
	}
}

// endPoll releases the memory of the responses of [call.pollStatus]. The call can poll again.
func (c *call) endPoll() {
	c.memory.end()
	c.answered = false
}

// sendJobRequest sends a request about a job that has no result but its status code. It returns the failure if the
// service did not accept it.
func (c *call) sendJobRequest(ctx context.Context, r *job.Request, h *job.Handle, args json.RawMessage) *failure {
	resp, _, err := c.requestJob(ctx, r, h, args)
	if err == nil {
		if resp.StatusCode >= 300 {
			err = c.serviceFailureAs(resp, "")
		}
		_ = resp.Body.Close()
	}
	if err != nil {
		f := c.statusFailure(ctx, err).failure
		c.done(ctx, f.outcome, f.cause)
		return f
	}
	c.record.setOutcome(telemetry.OutcomeOK)
	return nil
}

// captureResult returns the result of a job that has succeeded or failed, as the members of a result of tools/call.
func (c *call) captureResult(ctx context.Context, s *jobStatus) []byte {
	if s.State == job.Failed {
		return c.captureFailure(ctx, c.failedJob(s))
	}
	c.done(ctx, telemetry.OutcomeOK, nil)
	_ = c.deliver(s.parts, s.resp) // capturing can't fail
	return c.captured.members
}

// captureFailure returns the result for a *failure, as the members of a result of tools/call.
func (c *call) captureFailure(ctx context.Context, err error) []byte {
	_ = c.conclude(ctx, err) // a result, as it is captured
	return c.captured.members
}

// capturedResult is a result that is not sent to the client, as serialized in the response to tools/call.
type capturedResult struct{ members []byte }

// take captures the members of a result.
func (r *capturedResult) take(meta []byte, chunks []mcp.Chunk) {
	r.members = r.members[:0]
	for _, c := range chunks {
		if c.Escape {
			r.members = jsonscan.AppendEscaped(r.members, c.Bytes)
		} else {
			r.members = append(r.members, c.Bytes...)
		}
	}
	if len(meta) > 0 {
		r.members = append(append(append(r.members, `,"_meta":{`...), meta...), '}')
	}
}

package polling

import (
	"context"
	"encoding/json"

	"drawbridge/gateway/call"
	"drawbridge/gateway/job"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
)

// JobCall makes requests about a job: of the call that has just begun it and waits for its end, or, for a task, of an earlier
// call. They need the same rights, and the same care with the response, as a call of the job's tool. Only one goroutine uses it.
//
// A task begins with [JobCall.Authorize], then [call.Call.Resume], and ends with [call.Call.Close].
type JobCall struct {
	*call.Call
	Key string // identifies the job in the service's webhook; "" if the service does not call back
}

// Authorize checks that the caller may know of a job: it must be allowed to call the job's tool with the arguments with
// which the job was started. calls are those of the process. The error is for the client.
func (c *JobCall) Authorize(ctx context.Context, calls *call.Runner, args json.RawMessage) error {
	if denied := calls.Authorize(ctx, &c.Invocation); denied != nil {
		return denied
	}
	if c.Plan.Condition == nil || c.Origin.ByOperator() {
		return nil
	}
	refuse := func(cause error, text string) error {
		c.Done(ctx, telemetry.OutcomeCondition, cause)
		c.Close() // the audit log has no record of the call yet
		return mcp.InvalidParams("%s", text)
	}
	if args == nil { // the condition depends on arguments that are not stored
		return refuse(nil, "the gateway's policy has changed since this task began, and does not permit a look at it")
	}
	args, err := c.Plan.Arguments.Complete(args, c.Caller.Principal)
	if err != nil {
		return refuse(err, "the arguments of this task can't be completed for this caller any more")
	}
	if ok, err := c.Permits(ctx, c.Plan, args); !ok {
		return refuse(err, "the gateway's policy does not permit a look at this task any more")
	}
	return nil
}

// Send sends a request about a job that has no result but its status code. It returns the failure if the
// service did not accept it.
func (c *JobCall) Send(ctx context.Context, r *job.Request, h *job.Handle, args json.RawMessage) *call.Failure {
	resp, _, err := c.requestJob(ctx, r, h, args)
	if err == nil {
		if resp.StatusCode >= 300 {
			err = c.ServiceFailure(resp, "")
		}
		_ = resp.Body.Close()
	}
	if err != nil {
		f := c.statusFailure(ctx, err).Failure
		c.Done(ctx, f.Outcome, f.Cause)
		return f
	}
	c.Accepted()
	return nil
}

// End ends the call with the end of its job, or with the error of a poll. It returns its outcome.
func (c *JobCall) End(ctx context.Context, s *JobStatus, err error) *call.Outcome {
	o := c.Outcome()
	o.OfJob = true
	switch {
	case err != nil:
		c.fail(ctx, err)
	case s.State == job.Failed || s.State == job.Cancelled:
		o.Fail(ctx, c.failedJob(s))
	default:
		o.Succeed(ctx, s.parts, s.resp)
	}
	return o
}

// fail ends the call with the failure that an error is.
func (c *JobCall) fail(ctx context.Context, err error) {
	c.Outcome().Fail(ctx, c.FailureOf(ctx, err))
}

package call

import (
	"context"
	"encoding/json"

	"drawbridge/gateway/job"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi/jsonscan"
)

// JobCall makes requests about a job: of the call that has just begun it and waits for its end, or, for a task, of an earlier
// call. They need the same rights, and the same care with the response, as a call of the job's tool.
//
// A task makes one with NewJobCall: AuthorizeJob comes first, then BeginJobRequests, PollStatus or SendJobRequest, and then
// CaptureResult or CaptureFailure for the result that the task answers with later.
type JobCall struct{ *Call }

// NewJobCall returns a call that makes requests about the job of an earlier call, on behalf of the caller of req. key identifies
// the job in the service's webhook.
func (r *Runner) NewJobCall(ctx context.Context, e *Endpoint, p *plan.Plan, key string, req *mcp.Request, reply *mcp.Reply) JobCall {
	c := r.newCall(ctx, e, p, req, reply)
	c.key, c.captured = key, &capturedResult{}
	return JobCall{c}
}

// AuthorizeJob checks that the caller may know of a job: it must be allowed to call the job's tool with the arguments with
// which the job was started. The error is for the client.
func (c JobCall) AuthorizeJob(ctx context.Context, args json.RawMessage) error {
	if denied := c.Authorize(ctx); denied != nil {
		return denied
	}
	if c.Plan.Condition == nil || InfoFrom(ctx).Operator {
		return nil
	}
	// The audit log has no record of the call yet.
	refuse := func(cause error, text string) error {
		c.Done(ctx, telemetry.OutcomeCondition, cause)
		c.r.recordDenied(ctx, c.Endpoint, c.Plan, c.Caller, c.Request, telemetry.OutcomeCondition)
		return mcp.InvalidParams("%s", text)
	}
	if args == nil { // the condition depends on arguments that are not stored
		return refuse(nil, "the gateway's policy has changed since this task began, and does not permit a look at it")
	}
	args, err := c.Plan.Arguments.Complete(args, c.Caller)
	if err != nil {
		return refuse(err, "the arguments of this task can't be completed for this caller any more")
	}
	if ok, err := c.permitted(ctx, c.Plan, args); !ok {
		return refuse(err, "the gateway's policy does not permit a look at this task any more")
	}
	return nil
}

// BeginJobRequests returns the context for requests about a job, which has the deadline and the credentials of a call,
// and the function that ends them and writes the audit record.
func (c JobCall) BeginJobRequests(ctx context.Context) (_ context.Context, end func()) {
	ctx, cancel := context.WithTimeout(ctx, c.Plan.Timeout)
	ctx, c.sent = c.Plan.Attach(ctx, c.Request.HTTP.Header, c.Endpoint.Guard)
	return ctx, func() {
		c.endRecord(ctx, nil)
		cancel()
	}
}

// EndPoll releases the memory of the responses of [JobCall.PollStatus]. The call can poll again.
func (c JobCall) EndPoll() {
	c.memory.end()
	c.answered = false
}

// SendJobRequest sends a request about a job that has no result but its status code. It returns the failure if the
// service did not accept it.
func (c JobCall) SendJobRequest(ctx context.Context, r *job.Request, h *job.Handle, args json.RawMessage) *Failure {
	resp, _, err := c.requestJob(ctx, r, h, args)
	if err == nil {
		if resp.StatusCode >= 300 {
			err = c.serviceFailureAs(resp, "")
		}
		_ = resp.Body.Close()
	}
	if err != nil {
		f := c.statusFailure(ctx, err).Failure
		c.Done(ctx, f.Outcome, f.Cause)
		return f
	}
	c.record.setOutcome(telemetry.OutcomeOK)
	return nil
}

// CaptureResult returns the result of a job that has succeeded or failed, as the members of a result of tools/call.
func (c JobCall) CaptureResult(ctx context.Context, s *JobStatus) []byte {
	if s.State == job.Failed {
		return c.CaptureFailure(ctx, c.failedJob(s))
	}
	if err := c.deliverProjected(ctx, s.parts, s.resp); err != nil { // of the projection: capturing can't fail
		return c.CaptureFailure(ctx, err)
	}
	return c.captured.members
}

// CaptureFailure returns the result for a [*Failure], as the members of a result of tools/call.
func (c JobCall) CaptureFailure(ctx context.Context, err error) []byte {
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

package task

import (
	"context"
	"errors"
	"slices"
	"time"

	"drawbridge/gateway/call"
	"drawbridge/gateway/job"
	"drawbridge/gateway/job/polling"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
)

// State returns the status of the task: the stored one, or the service's if a poll is due. However many clients request it,
// there is one poll at a time, and none before it is due.
func (t *Task) State(ctx context.Context) (*Record, error) {
	rec, due, err := t.known(ctx)
	if err != nil || !due {
		return rec, err
	}
	release, ok := t.tryLock(ctx)
	if !ok {
		if rec.large() { // another request is fetching it
			rec.Status = mcp.TaskWorking
		}
		return rec, nil
	}
	defer release()
	// Another request may have polled or sent an answer meanwhile; reloading keeps this one from writing back an old record.
	if rec, due, err = t.known(ctx); err != nil || !due {
		return rec, err
	}
	if rec.large() {
		if t.poll(ctx, rec); rec.large() { // it can't be fetched now
			rec.Status = mcp.TaskWorking
		}
		return rec, t.refusal()
	}
	before := *rec
	if t.poll(ctx, rec); t.refused != nil {
		return nil, t.refused // the next request may poll at once
	}
	if ctx.Err() != nil && !rec.final() {
		return &before, nil // the caller has disconnected, which says nothing about the job
	}
	if rec.Status != before.Status || rec.Message != before.Message || len(rec.Questions) != len(before.Questions) {
		rec.Updated = time.Now()
	}
	if err := t.Save(context.WithoutCancel(ctx), rec); err != nil {
		return nil, err
	}
	if rec.Status != before.Status || rec.Message != before.Message || len(rec.Questions) != len(before.Questions) {
		t.changed(ctx, rec)
	}
	return rec, nil
}

// refusal returns the error of the status request if the caller's token was not exchanged for it.
func (t *Task) refusal() error {
	if t.refused == nil { // a typed nil would make the error non-nil
		return nil
	}
	return t.refused
}

// known returns the record of the task and whether a poll is due.
func (t *Task) known(ctx context.Context) (rec *Record, due bool, err error) {
	rec, err = t.Load(ctx)
	switch {
	case err != nil:
		return nil, false, err
	case rec == nil:
		return &Record{Status: mcp.TaskWorking, Updated: time.UnixMilli(t.Payload.Created)}, true, nil
	case rec.final():
		return rec, rec.large(), nil
	}
	return rec, !time.Now().Before(rec.Next) || t.calledBack(ctx), nil
}

// calledBack reports whether the service has sent its webhook, which is a reason to poll at once: as a rule the task has ended.
func (t *Task) calledBack(ctx context.Context) bool {
	if t.Plan.Job.Callback == nil {
		return false
	}
	rec, err := t.Received(ctx, t.Payload.Key)
	return rec != nil && err == nil
}

// tryLock tries to lock the task across replicas and reports whether it has; if so, release must be called.
func (t *Task) tryLock(ctx context.Context) (release func(), ok bool) {
	return t.Locks.Lock(ctx, t.Payload.Key)
}

// poll asks the service for the status of the job and updates the record.
func (t *Task) poll(ctx context.Context, rec *Record) {
	j, c := t.Plan.Job, &t.Call
	status, err := c.PollStatus(ctx, t.handle)
	defer c.Release()
	now := time.Now()
	var missed *polling.StatusError
	switch {
	case polling.IsNotDisclosed(err) != nil:
		rec.end(mcp.TaskCompleted)
		rec.Result = t.Results.Members(c.End(ctx, nil, err))
	case errors.As(err, &missed) && missed.Later:
		rec.Next = now.Add(j.Pause(missed.Retry))
		c.Done(ctx, missed.Outcome, missed.Cause)
	case errors.As(err, &missed) && missed.Denied:
		// The failure is due to the caller's permissions, and says nothing about the job.
		t.refused = c.Endpoint.SubjectRefused(c.Caller.Principal, missed.Failure)
		rec.Message, rec.Next = "the service could not be asked how the job stands: "+string(missed.Outcome), now.Add(j.Pause(missed.Retry))
		c.Done(ctx, missed.Outcome, missed.Cause)
	case errors.As(err, &missed) && missed.Gone && rec.Called:
		rec.end(mcp.TaskCancelled)
	case errors.As(err, &missed):
		// The status can't be known any more, which is not a result of the tool.
		rec.end(mcp.TaskFailed)
		rec.Failure = missed.Text
		c.Done(ctx, missed.Outcome, missed.Cause)
	case call.IsFailure(err):
		rec.end(mcp.TaskCompleted)
		rec.Result = t.Results.Members(c.End(ctx, nil, err))
	case err != nil:
		rec.Next = now.Add(j.Pause(0))
		c.Done(ctx, telemetry.OutcomeInternal, err)
	case status.State == job.Succeeded, status.State == job.Failed:
		rec.end(mcp.TaskCompleted)
		rec.Result = t.Results.Members(c.End(ctx, status, nil))
	case status.State == job.Cancelled:
		rec.end(mcp.TaskCancelled)
		rec.Message = status.Text()
	default:
		rec.Status, rec.Questions = mcp.TaskWorking, nil
		rec.Message, rec.Next = status.Text(), now.Add(j.Pause(status.Retry))
		if t.asks() {
			rec.ask(slices.DeleteFunc(status.Questions, func(q job.Question) bool { return slices.Contains(rec.Answered, q.Key) }))
		}
	}
}

// end marks the task as ended.
func (r *Record) end(status mcp.TaskStatus) {
	r.Status, r.Message, r.Questions, r.Result, r.Failure = status, "", nil, nil, ""
}

package gateway

import (
	"context"
	"errors"
	"slices"
	"time"

	"drawbridge/auth"
	"drawbridge/gateway/job"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
)

// allowed checks that the caller may know of the task: it must be allowed to call the task's tool with the task's arguments.
// The error is for the client.
func (t *task) allowed(ctx context.Context) error {
	if t.endpoint.guard != nil {
		t.caller = auth.FromContext(ctx)
		if denied := t.endpoint.authorize(t.caller, t.plan); denied != nil {
			t.g.refuseScope(ctx, t.endpoint, t.plan, t.caller, t.req)
			return denied
		}
	}
	if t.plan.condition != nil && t.payload.Arguments == nil && !requestInfoFrom(ctx).operator {
		t.refusedByRule(ctx, nil)
		return mcp.InvalidParams("the gateway's policy has changed since this task began, and does not permit a look at it") // the condition depends on arguments that are not stored
	}
	if t.plan.condition == nil || requestInfoFrom(ctx).operator {
		return nil
	}
	caller := t.caller
	if caller == nil && t.g.o.Local {
		caller = &auth.Principal{}
	}
	if ok, err := t.plan.permitted(ctx, caller, t.payload.Arguments); !ok {
		t.refusedByRule(ctx, err)
		return mcp.InvalidParams("the gateway's policy does not permit a look at this task any more")
	}
	return nil
}

// refusedByRule counts a status request that the rule's condition does not permit, and records it in the audit log, which has
// no record of it yet.
func (t *task) refusedByRule(ctx context.Context, cause error) {
	t.done(telemetry.OutcomeCondition, cause)
	t.g.refuse(ctx, t.endpoint, t.plan, t.caller, t.req, telemetry.OutcomeCondition)
}

// start sets the deadline for requests about the task and attaches credentials as for its call. The returned function ends
// them.
func (t *task) start() (end func()) {
	ctx, cancel := context.WithTimeout(t.ctx, t.plan.Timeout)
	t.ctx, t.sent = t.plan.attach(ctx, t.req.HTTP.Header, t.endpoint.guard)
	t.enter()
	return func() {
		t.leave(nil)
		cancel()
	}
}

// state returns the status of the task: the stored one, or the service's if a poll is due. However many clients request it,
// there is one poll at a time, and none before it is due.
func (t *task) state() (*taskRecord, error) {
	rec, due, err := t.known()
	if err != nil || !due {
		return rec, err
	}
	release, ok := t.begin()
	if !ok {
		if rec.large() { // another request is fetching it
			rec.Status = mcp.TaskWorking
		}
		return rec, nil
	}
	defer release()
	// Another request may have polled or sent an answer meanwhile; reloading keeps this one from writing back an old record.
	if rec, due, err = t.known(); err != nil || !due {
		return rec, err
	}
	if rec.large() {
		if t.look(rec); rec.large() { // it can't be fetched now
			rec.Status = mcp.TaskWorking
		}
		return rec, t.refusal()
	}
	before := *rec
	if t.look(rec); t.refused != nil {
		return nil, t.refused // the next request may poll at once
	}
	if t.ctx.Err() != nil && !rec.final() {
		return &before, nil // the caller has disconnected, which says nothing about the job
	}
	if rec.Status != before.Status || rec.Message != before.Message || len(rec.Questions) != len(before.Questions) {
		rec.Updated = time.Now()
	}
	if err := t.keep(context.WithoutCancel(t.ctx), rec); err != nil {
		return nil, err
	}
	if rec.Status != before.Status || rec.Message != before.Message || len(rec.Questions) != len(before.Questions) {
		t.g.taskChanged(t, rec)
	}
	return rec, nil
}

// refusal returns the error of the status request if the caller's token was not exchanged for it.
func (t *task) refusal() error {
	if t.refused == nil { // a typed nil would make the error non-nil
		return nil
	}
	return t.refused
}

// known returns the record of the task and whether a poll is due.
func (t *task) known() (rec *taskRecord, due bool, err error) {
	rec, err = t.load(t.ctx)
	switch {
	case err != nil:
		return nil, false, err
	case rec == nil:
		return &taskRecord{Status: mcp.TaskWorking, Updated: time.UnixMilli(t.payload.Created)}, true, nil
	case rec.final():
		return rec, rec.large(), nil
	}
	return rec, !time.Now().Before(rec.Next) || t.called(), nil
}

// called reports whether the service has called back, which is a reason to poll at once: as a rule the task has ended.
func (t *task) called() bool {
	rec, err := t.callback(t.ctx)
	return rec != nil && err == nil
}

// begin tries to lock the task across replicas and reports whether it has; if so, release must be called.
func (t *task) begin() (release func(), ok bool) {
	return t.g.tasks.holds.Lock(t.ctx, t.payload.Key)
}

// look polls the service and updates the record.
func (t *task) look(rec *taskRecord) {
	j := t.plan.job
	t.answered = false
	defer t.endReservation()
	l, err := t.call.look(t.ctx, t.begun)
	now := time.Now()
	var missed *lookError
	var failed *failure
	switch untold := isUntold(err); {
	case untold != nil:
		rec.end(mcp.TaskCompleted)
		_ = t.conclude(untold)
		rec.Result = t.kept.members
	case errors.As(err, &missed) && missed.later:
		rec.Next = now.Add(j.Pause(missed.retry))
		t.done(missed.outcome, missed.cause)
	case errors.As(err, &missed) && missed.denied:
		// The failure is due to the caller's permissions, and says nothing about the job.
		t.refused = t.subjectRefused(missed.failure)
		rec.Message, rec.Next = "the service could not be asked how the job stands: "+string(missed.outcome), now.Add(j.Pause(missed.retry))
		t.done(missed.outcome, missed.cause)
	case errors.As(err, &missed) && missed.gone && rec.Called:
		rec.end(mcp.TaskCancelled)
	case errors.As(err, &missed):
		// The status can't be known any more, which is not a result of the tool.
		rec.end(mcp.TaskFailed)
		rec.Failure = missed.text
		t.done(missed.outcome, missed.cause)
	case errors.As(err, &failed):
		rec.end(mcp.TaskCompleted)
		_ = t.conclude(failed) // only the record uses it
		rec.Result = t.kept.members
	case err != nil:
		rec.Next = now.Add(j.Pause(0))
		t.done(telemetry.OutcomeInternal, err)
	case l.State == job.Succeeded:
		rec.end(mcp.TaskCompleted)
		t.done(telemetry.OutcomeOK, nil)
		_ = t.deliver(l.parts, l.resp)
		rec.Result = t.kept.members
	case l.State == job.Failed:
		rec.end(mcp.TaskCompleted)
		_ = t.conclude(t.failedJob(l))
		rec.Result = t.kept.members
	case l.State == job.Cancelled:
		rec.end(mcp.TaskCancelled)
		rec.Message = l.Text()
	default:
		rec.Status, rec.Questions = mcp.TaskWorking, nil
		rec.Message, rec.Next = l.Text(), now.Add(j.Pause(l.retry))
		if t.asks() {
			rec.ask(slices.DeleteFunc(l.Questions, func(q job.Question) bool { return slices.Contains(rec.Answered, q.Key) }))
		}
	}
}

// end marks the task as ended.
func (r *taskRecord) end(status mcp.TaskStatus) {
	r.Status, r.Message, r.Questions, r.Result, r.Failure = status, "", nil, nil, ""
}

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

// allowed tells whether the caller may know of the task: it is who may call its tool, with the arguments of the task. The
// error is for the client.
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
		return mcp.InvalidParams("the gateway's policy has changed since this task began, and does not permit a look at it") // it is about arguments that nobody has kept
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

// refusedByRule counts a look that the rule's condition does not permit, and tells the audit log, which has no record of it yet.
func (t *task) refusedByRule(ctx context.Context, cause error) {
	t.done(telemetry.OutcomeCondition, cause)
	t.g.refuse(ctx, t.endpoint, t.plan, t.caller, t.req, telemetry.OutcomeCondition)
}

// start gives what is asked about the task its deadline, and attaches what its call had attached. It returns what ends that.
func (t *task) start() (end func()) {
	ctx, cancel := context.WithTimeout(t.ctx, t.plan.Timeout)
	t.ctx, t.sent = t.plan.attach(ctx, t.req.HTTP.Header, t.endpoint.guard)
	t.enter()
	return func() {
		t.leave(nil)
		cancel()
	}
}

// state tells how the task stands: as it is known, or as the service says if it is time to ask. However many ask, there is one
// look at a time, and none before its time.
func (t *task) state() (*taskRecord, error) {
	rec, due, err := t.known()
	if err != nil || !due {
		return rec, err
	}
	release, ok := t.begin()
	if !ok {
		if rec.large() { // another has it at hand
			rec.Status = mcp.TaskWorking
		}
		return rec, nil
	}
	defer release()
	// Until now another may have looked, or brought an answer: what was known before is written back by nobody.
	if rec, due, err = t.known(); err != nil || !due {
		return rec, err
	}
	if rec.large() {
		if t.look(rec); rec.large() { // it can't be had now
			rec.Status = mcp.TaskWorking
		}
		return rec, t.refusal()
	}
	before := *rec
	if t.look(rec); t.refused != nil {
		return nil, t.refused // and the next may look at once
	}
	if t.ctx.Err() != nil && !rec.final() {
		return &before, nil // who asked has gone: that says nothing of the job
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

// refusal is what the look came to, if the caller's token was not exchanged for it.
func (t *task) refusal() error {
	if t.refused == nil { // else the interface would not be nil
		return nil
	}
	return t.refused
}

// known returns what is known of the task, and whether it is time to ask the service.
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

// called tells whether the service has called, which is a reason to look at once: as a rule the task has ended.
func (t *task) called() bool {
	rec, err := t.callback(t.ctx)
	return rec != nil && err == nil
}

// begin tells whether the caller is the one to look at the task, of all replicas; he must call release.
func (t *task) begin() (release func(), ok bool) {
	return t.g.tasks.holds.Lock(t.ctx, t.payload.Key)
}

// look asks the service and writes what it says into the record.
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
		// That says something of who looks, and nothing of the job.
		t.refused = t.subjectRefused(missed.failure)
		rec.Message, rec.Next = "the service could not be asked how the job stands: "+string(missed.outcome), now.Add(j.Pause(missed.retry))
		t.done(missed.outcome, missed.cause)
	case errors.As(err, &missed) && missed.gone && rec.Called:
		rec.end(mcp.TaskCancelled)
	case errors.As(err, &missed):
		// Nobody will learn any more how the job stands. That is no result of the tool.
		rec.end(mcp.TaskFailed)
		rec.Failure = missed.text
		t.done(missed.outcome, missed.cause)
	case errors.As(err, &failed):
		rec.end(mcp.TaskCompleted)
		_ = t.conclude(failed) // nobody reads it but the record
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

// end makes the task one that has ended.
func (r *taskRecord) end(status mcp.TaskStatus) {
	r.Status, r.Message, r.Questions, r.Result, r.Failure = status, "", nil, nil, ""
}

package polling

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"drawbridge/gateway/call"
	"drawbridge/gateway/job"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/render"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/upstream"
	"drawbridge/openapi/jsonscan"
)

const (
	// jobSlack is the time reserved for the response of a call when the wait for its job ends.
	jobSlack = 100 * time.Millisecond
	// maxPoll is the maximum factor by which the time between two status requests exceeds the interval.
	maxPoll = 10
	// cancelTime is the timeout of the cancellation of a job whose caller has disconnected.
	cancelTime = 5 * time.Second
)

// Jobs finishes calls whose responses leave something to do. It is immutable.
type Jobs struct {
	Jitter func(time.Duration) time.Duration // randomizes the intervals between status requests
}

// Answer is what the client gets besides the outcome of a call.
type Answer struct {
	Task *mcp.Task // that replaces the result, or nil
	Note string    // beside the result, or ""
}

// Finish finishes a call whose outcome is pending: it makes a task of its job, or waits for the end, or fetches the result that the response
// leads to. webhook is where the caller wants to learn of the end; nil if nowhere. The outcome has ended then, as most have before.
func (w Jobs) Finish(o *call.Outcome, webhook *url.URL) (answer Answer) {
	if o.Pending == nil {
		return Answer{}
	}
	ctx := o.Context()
	c := &waitingCall{JobCall: JobCall{Call: o.Call(), Key: o.Pending.Key}, out: o, handle: o.Pending.Handle, webhook: webhook, jitter: w.Jitter}
	o.Pending = nil
	defer func() {
		if v := recover(); v != nil {
			c.fail(ctx, c.Panicked(ctx, v))
		}
	}()
	if c.handle == nil {
		if err := c.fetchOther(ctx); err != nil {
			c.fail(ctx, err)
		}
		return Answer{}
	}
	answer, err := c.finish(ctx)
	if err != nil {
		c.fail(ctx, err)
	}
	return answer
}

// waitingCall is the call that has started a job, while it waits for the end of it.
type waitingCall struct {
	JobCall
	out     *call.Outcome
	handle  *job.Handle
	webhook *url.URL // of the caller for the end of the job; nil if the caller has none
	jitter  func(time.Duration) time.Duration
}

// finish ends the outcome, or returns the error that does.
func (c *waitingCall) finish(ctx context.Context) (Answer, error) {
	parts, resp := c.out.Parts, c.out.Response
	first := &JobStatus{parts: parts, resp: resp, body: job.JSONOf(parts), Retry: render.RetryTime(resp, time.Now())}
	first.Report = c.Plan.Job.Read(first.body, c.Redactor().Text)
	if resp.StatusCode != http.StatusAccepted {
		switch first.State { // the job has ended already
		case job.Succeeded:
			ended := *first
			c.Retain() // parts of it may be the result
			if err := c.fetchResult(ctx, c.handle, &ended); err != nil {
				return c.leaveInitial(ctx, err)
			}
			c.End(ctx, &ended, nil)
			return Answer{}, nil
		case job.Failed, job.Cancelled:
			return Answer{}, c.failedJob(first)
		case job.Unknown, job.Working:
		}
	}
	if err := c.authorizePoll(ctx, c.handle); err != nil {
		return c.leaveInitial(ctx, err)
	}
	if task, err := c.beginTask(ctx, first); task != nil || err != nil {
		return Answer{Task: task}, err
	}
	return c.wait(ctx, first)
}

// leaveInitial leaves the call with the service's initial response if the caller may not know more about the job; it returns any other
// error.
func (c *waitingCall) leaveInitial(ctx context.Context, err error) (Answer, error) {
	f := IsNotDisclosed(err)
	if f == nil {
		return Answer{}, err
	}
	c.out.Leave(ctx)
	return Answer{Note: f.Text}, nil
}

// beginTask makes a task of a job. It returns nil if the client does not support tasks or the job can't be one.
func (c *waitingCall) beginTask(ctx context.Context, first *JobStatus) (*mcp.Task, error) {
	if p := &c.Caller.Protocol; p.Family != mcp.Stateless || !p.Capabilities.Has(mcp.ClientTasks) {
		return nil, nil //nolint:nilnil // no task
	}
	t, ok, err := c.Endpoint.Continuation.BeginTask(ctx, c.started(c.Arguments, first))
	switch {
	case err != nil:
		return nil, c.Internal(ctx, err)
	case !ok:
		return nil, nil //nolint:nilnil // no task
	}
	c.out.Leave(ctx)
	return &t, nil
}

// started returns the job that the call has started, for its continuation.
func (c *waitingCall) started(args []byte, first *JobStatus) *call.StartedJob {
	return &call.StartedJob{
		Plan: c.Plan, Endpoint: c.Endpoint, Caller: c.Caller, Arguments: c.Plan.Arguments.Given(args), Key: c.Key, Webhook: c.webhook, Handle: c.handle,
		Report: first.Report, Retry: first.Retry,
	}
}

// fetchOther follows the redirect in the response of a tool that reports on jobs, so that a caller that polls with that tool gets
// the result at the end, like a caller that waits.
func (c *waitingCall) fetchOther(ctx context.Context) error {
	resp := c.out.Response
	b := &job.Handle{Origin: resp.Request.URL, Base: c.Plan.Job.BaseOf(c.Plan.Base)}
	if c.Plan.PolledJob.Anywhere {
		b.Base = nil
	}
	at := b.Resolve(c.out.Location())
	if at == nil {
		return &call.Failure{Outcome: telemetry.OutcomeRedirect, Text: "The job has ended, and its result is where the gateway does not go" + render.RedirectPath(resp) + "."}
	}
	other, _, err := c.requestJobURL(ctx, http.MethodGet, at) //nolint:bodyclose // the reader closes it
	if err != nil {
		return err
	}
	if other.StatusCode >= 300 {
		return c.ServiceFailure(other, "")
	}
	parts, err := c.readJobResponse(ctx, other)
	if err != nil {
		return err
	}
	c.End(ctx, &JobStatus{parts: parts, resp: other}, nil)
	return nil
}

// wait waits for the end of a job until the call's deadline. first is the response that started it.
func (c *waitingCall) wait(ctx context.Context, first *JobStatus) (Answer, error) {
	j := c.Plan.Job
	begin := time.Now()
	forget := c.Retain()
	end := begin.Add(j.Wait)
	if deadline, ok := ctx.Deadline(); ok && deadline.Add(-jobSlack).Before(end) {
		end = deadline.Add(-jobSlack)
	}
	last, pace := first, pace{job: j, jitter: c.jitter}
	retry := first.Retry
	wake, done := c.Endpoint.Continuation.Expect(c.Key)
	defer done()
	for {
		c.notifyProgress(last, time.Since(begin))
		pause := pace.next(retry)
		if rest := time.Until(end); pause > rest {
			if pause = rest; retry > 0 || pause < j.Interval/2 {
				return c.leaveRunning(ctx, first, last, time.Since(begin)), nil // polling earlier is of no use
			}
		}
		select {
		case <-time.After(pause):
		case <-wake:
		case <-ctx.Done():
		}
		if err := ctx.Err(); err != nil {
			if errors.Is(err, context.DeadlineExceeded) {
				return c.leaveRunning(ctx, first, last, time.Since(begin)), nil
			}
			c.cancelJob(ctx, c.handle)
			return Answer{}, &upstream.Error{Kind: upstream.Canceled, API: c.Plan.Tool.API, Err: err}
		}
		now, err := c.PollStatus(ctx, c.handle)
		var missed *StatusError
		switch {
		case ctx.Err() != nil:
			continue // which ends the call
		case errors.As(err, &missed) && missed.Later:
			retry = missed.Retry
			continue
		case errors.As(err, &missed) && missed.Gone && !j.Declared && last == first:
			// The URL may not be a status URL at all, or not yet.
			return c.leaveRunning(ctx, first, nil, time.Since(begin)), nil
		case err != nil:
			return c.leaveInitial(ctx, err)
		case now.State == job.Succeeded:
			forget()
			fallthrough
		case now.State == job.Failed, now.State == job.Cancelled:
			c.End(ctx, now, nil)
			return Answer{}, nil
		}
		now.parts, now.resp, now.body = nil, nil, nil // the next response may be as large
		if last, retry = now, now.Retry; len(last.Questions) > 0 {
			return c.leaveRunning(ctx, first, last, time.Since(begin)), nil // no one answers while this client waits
		}
	}
}

// pace is the schedule of status requests for a job.
type pace struct {
	job    *job.Definition
	jitter func(time.Duration) time.Duration
	now    time.Duration
}

// next returns the time to the next status request: that requested by the service but at least the interval, or else a time
// that grows with each request. It is jittered, so that clients don't poll together.
func (p *pace) next(asked time.Duration) time.Duration {
	if asked > 0 {
		return max(asked, p.job.Interval)
	}
	if p.now == 0 {
		p.now = p.job.Interval
	} else {
		p.now = min(p.now*3/2, maxPoll*p.job.Interval)
	}
	return p.jitter(p.now)
}

// Jitter returns d plus or minus up to a tenth, so that jobs that started together are not polled together.
func Jitter(d time.Duration) time.Duration { return d - d/10 + rand.N(d/5+1) } //nolint:gosec // no secret

// notifyProgress reports the progress of the job; if the service gives none, that is the elapsed time. A failed notification is
// ignored: a client that has disconnected ends the call or, in the legacy revisions, nothing.
func (c *waitingCall) notifyProgress(l *JobStatus, since time.Duration) {
	text := l.Text()
	if l.Total > 0 || l.Progress > 0 {
		_ = c.Client.Progress(l.Progress, l.Total, text)
		return
	}
	_ = c.Client.Progress(since.Truncate(time.Millisecond).Seconds(), 0, text)
}

// cancelJob cancels the job of a call that its caller has cancelled, if the job has a cancel request. A failure is ignored, since
// no one is left to report it to.
func (c *waitingCall) cancelJob(ctx context.Context, b *job.Handle) {
	if !c.Plan.Job.CanCancel(b) {
		return
	}
	ctx, cancel := call.WithCancelAfter(context.WithoutCancel(ctx), cancelTime)
	defer cancel()
	if resp, _, err := c.requestJob(ctx, c.Plan.Job.Cancel, b, b.Cancel); err == nil {
		_ = resp.Body.Close()
	}
}

// leaveRunning leaves the call with the service's initial response, and how to follow the job. last is the latest status, or nil if the
// service does not know the URL that it returned.
func (c *waitingCall) leaveRunning(ctx context.Context, first, last *JobStatus, after time.Duration) Answer {
	c.out.Leave(ctx)
	j := render.RunningJob{API: c.Plan.Tool.API, After: after, URL: c.handle.URL}
	if last != nil {
		j.Last = &last.Report
	}
	j.StatusTool, j.StatusArgs = c.statusTool(c.handle)
	if c.webhook != nil {
		j.Webhook = c.Endpoint.Continuation.Follow(ctx, c.started(c.out.Arguments(), first))
	}
	return Answer{Note: j.Text(c.Redactor())}
}

// statusTool returns the tool that reports the job's status and its arguments, or "" if there is none that the caller may call.
func (c *waitingCall) statusTool(b *job.Handle) (name string, args []byte) {
	r := c.Plan.Job.Status
	if r == nil || r.Operation == nil || b.Status == nil {
		return "", nil
	}
	for name, t := range c.Endpoint.Tools {
		if p := call.PlanOf(t); p != nil && p.Operation == r.Operation && (c.Endpoint.Guard == nil || c.Endpoint.Allows(c.Caller.Principal, t)) {
			return name, []byte(c.Redactor().Text(string(jsonscan.AppendCompact(nil, b.Status))))
		}
	}
	return "", nil
}

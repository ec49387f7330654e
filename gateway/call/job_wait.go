package call

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"drawbridge/gateway/job"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/render"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/upstream"
	"drawbridge/openapi/answer"
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

// answerAccepted handles a response that may have started a job. If it has not, the response is passed on unchanged.
func (c JobCall) answerAccepted(ctx context.Context, args []byte, resp *http.Response) error {
	c.forwardEvents(resp)
	parts, err := c.gather(ctx, resp, c.Plan.Progress.Reduce)
	if err != nil {
		return err
	}
	for _, part := range parts {
		if err := c.reportedFailure(ctx, resp, part); err != nil {
			return err
		}
	}
	b := c.jobHandle(args, resp, parts)
	if b == nil {
		return c.deliverProjected(ctx, parts, resp)
	}
	first := &JobStatus{parts: parts, resp: resp, body: job.JSONOf(parts), Retry: render.RetryTime(resp, time.Now())}
	first.Report = c.Plan.Job.Read(first.body, c.redactor().Text)
	if resp.StatusCode != http.StatusAccepted {
		switch first.State { // the job has ended already
		case job.Succeeded:
			began := *first
			c.memory.retain() // parts of it may be the result
			if err := c.fetchResult(ctx, b, first); err != nil {
				return c.answerInitial(ctx, err, &began)
			}
			return c.deliverProjected(ctx, first.parts, first.resp)
		case job.Failed, job.Cancelled:
			return c.failedJob(first)
		case job.Unknown, job.Working:
		}
	}
	if err := c.authorizePoll(ctx, b); err != nil {
		return c.answerInitial(ctx, err, first)
	}
	if tasked, err := c.beginTask(ctx, c.startedJob(b, args, first)); tasked {
		return err
	}
	return c.waitForJob(ctx, b, first)
}

// answerInitial responds with the service's initial response if the caller may not know more about the job; it returns any other error.
func (c JobCall) answerInitial(ctx context.Context, err error, first *JobStatus) error {
	f := IsNotDisclosed(err)
	if f == nil {
		return err
	}
	c.Done(ctx, telemetry.OutcomeJob, nil)
	c.note = f.Text
	return c.deliver(ctx, first.parts, first.resp)
}

// beginTask makes a task of a job and responds with it. It returns false, without a response, if the client does not support
// tasks or the job can't be one.
func (c JobCall) beginTask(ctx context.Context, j *StartedJob) (bool, error) {
	if c.Request.RequireCapabilities(mcp.ClientTasks) != nil {
		return false, nil
	}
	t, ok, err := c.Endpoint.Continuation.BeginTask(ctx, j)
	switch {
	case err != nil:
		return true, c.internal(ctx, err)
	case !ok:
		return false, nil
	}
	c.Done(ctx, telemetry.OutcomeJob, nil)
	c.answered = true
	t.Meta = render.AppendDropped(nil, c.dropped)
	return true, c.reply.Task(t)
}

// startedJob returns the job that the call has started, for its continuation.
func (c JobCall) startedJob(h *job.Handle, args []byte, first *JobStatus) *StartedJob {
	return &StartedJob{
		Plan: c.Plan, Endpoint: c.Endpoint, Request: c.Request, Arguments: c.Plan.Arguments.Given(args), Key: c.key, Webhook: c.notify, Handle: h, Report: first.Report, Retry: first.Retry,
	}
}

// withoutTasks returns the error of a call whose job takes longer than a call can wait, for a client that does not support tasks. The legacy
// revisions know neither the error code nor the extension, so their clients get a text.
func (c *Call) withoutTasks(lacks error) error {
	var fault *mcp.Error
	if c.Request.Family == mcp.Stateless && errors.As(lacks, &fault) {
		c.countRejected(telemetry.OutcomeNoTasks)
		reworded := *fault
		reworded.Message = "this tool begins a job that takes long, and answers with a task: the client needs the extension io.modelcontextprotocol/tasks"
		return &reworded
	}
	return &Failure{Outcome: telemetry.OutcomeNoTasks, Text: "This tool begins a job that takes long, and answers with a task, which is for clients with the extension " +
		"io.modelcontextprotocol/tasks (2026-07-28). This client does not have it. Nothing was sent. Tell the user that the call has to be made in another way."}
}

// jobHandle returns the handle of the job that a 2xx response has started, or nil if there is none.
func (c JobCall) jobHandle(args []byte, resp *http.Response, parts []answer.Part) *job.Handle {
	a := job.Answer{
		Operation: c.Plan.Requests, Arguments: args, Response: resp, Location: c.location, Body: job.JSONOf(parts), Base: c.Plan.Base,
		HasCallback: c.key != "",
	}
	if c.Plan.InvalidatesCache {
		a.Target = &url.URL{Scheme: c.target.Scheme, Host: c.target.Host, Path: c.target.Path, RawPath: c.target.RawPath}
	}
	return c.Plan.Job.Begun(&a)
}

// waitForJob waits for the end of a job until the call's deadline, and responds with its result or its status. first is the response
// that started it.
func (c JobCall) waitForJob(ctx context.Context, b *job.Handle, first *JobStatus) error {
	j := c.Plan.Job
	begin := time.Now()
	forget := c.memory.retain()
	end := begin.Add(j.Wait)
	if deadline, ok := ctx.Deadline(); ok && deadline.Add(-jobSlack).Before(end) {
		end = deadline.Add(-jobSlack)
	}
	last, pace := first, pace{job: j, jitter: c.r.Jitter}
	retry := first.Retry
	wake, done := c.Endpoint.Continuation.Expect(c.key)
	defer done()
	for {
		c.notifyProgress(last, time.Since(begin))
		pause := pace.next(retry)
		if rest := time.Until(end); pause > rest {
			if pause = rest; retry > 0 || pause < j.Interval/2 {
				return c.answerStillRunning(ctx, b, first, last, time.Since(begin)) // polling earlier is of no use
			}
		}
		select {
		case <-time.After(pause):
		case <-wake:
		case <-ctx.Done():
		}
		if err := ctx.Err(); err != nil {
			if errors.Is(err, context.DeadlineExceeded) {
				return c.answerStillRunning(ctx, b, first, last, time.Since(begin))
			}
			c.cancelJob(ctx, b)
			return c.failed(ctx, &upstream.Error{Kind: upstream.Canceled, API: c.Plan.Tool.API, Err: err})
		}
		now, err := c.PollStatus(ctx, b)
		var missed *StatusError
		switch {
		case ctx.Err() != nil:
			continue // which ends the call
		case errors.As(err, &missed) && missed.Later:
			retry = missed.Retry
			continue
		case errors.As(err, &missed) && missed.Gone && !j.Declared && last == first:
			// The URL may not be a status URL at all, or not yet.
			return c.answerStillRunning(ctx, b, first, nil, time.Since(begin))
		case err != nil:
			return c.answerInitial(ctx, err, first)
		case now.State == job.Succeeded:
			forget()
			return c.deliverProjected(ctx, now.parts, now.resp)
		case now.State == job.Failed, now.State == job.Cancelled:
			return c.failedJob(now)
		}
		now.parts, now.resp, now.body = nil, nil, nil // the next response may be as large
		if last, retry = now, now.Retry; len(last.Questions) > 0 {
			return c.answerStillRunning(ctx, b, first, last, time.Since(begin)) // no one answers while this client waits
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
func (c JobCall) notifyProgress(l *JobStatus, since time.Duration) {
	text := l.Text()
	if l.Total > 0 || l.Progress > 0 {
		_ = c.reply.Progress(l.Progress, l.Total, text)
		return
	}
	_ = c.reply.Progress(since.Truncate(time.Millisecond).Seconds(), 0, text)
}

// cancelJob cancels the job of a call that its caller has cancelled, if the job has a cancel request. A failure is ignored, since
// no one is left to report it to.
func (c JobCall) cancelJob(ctx context.Context, b *job.Handle) {
	if !c.Plan.Job.CanCancel(b) {
		return
	}
	ctx, cancel := WithCancelAfter(context.WithoutCancel(ctx), cancelTime)
	defer cancel()
	if resp, _, err := c.requestJob(ctx, c.Plan.Job.Cancel, b, b.Cancel); err == nil {
		_ = resp.Body.Close()
	}
}

// answerStillRunning responds with the service's initial response and how to follow the job. last is the latest status, or nil if the
// service does not know the URL that it returned.
func (c JobCall) answerStillRunning(ctx context.Context, b *job.Handle, first, last *JobStatus, after time.Duration) error {
	c.Done(ctx, telemetry.OutcomeJob, nil)
	j := render.RunningJob{API: c.Plan.Tool.API, After: after, URL: b.URL}
	if last != nil {
		j.Last = &last.Report
	}
	j.StatusTool, j.StatusArgs = c.statusTool(b)
	if c.notify != nil {
		j.Webhook = c.Endpoint.Continuation.Follow(ctx, c.startedJob(b, c.args, first))
	}
	c.note = j.Text(c.redactor())
	return c.deliver(ctx, first.parts, first.resp)
}

// statusTool returns the tool that reports the job's status and its arguments, or "" if there is none that the caller may call.
func (c JobCall) statusTool(b *job.Handle) (name string, args []byte) {
	r := c.Plan.Job.Status
	if r == nil || r.Operation == nil || b.Status == nil {
		return "", nil
	}
	for _, p := range c.Endpoint.Plans {
		if p.Operation == r.Operation && (c.Endpoint.Guard == nil || c.Endpoint.Allows(c.Caller, p)) {
			return p.Tool.Name, []byte(c.redactor().Text(string(jsonscan.AppendCompact(nil, b.Status))))
		}
	}
	return "", nil
}

// WithCancelAfter returns a context that is cancelled after d. It has no deadline, because the circuit breaker counts an expired
// deadline as a failure of the service, and this timeout is the gateway's own.
func WithCancelAfter(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(d, cancel)
	return ctx, func() {
		timer.Stop()
		cancel()
	}
}

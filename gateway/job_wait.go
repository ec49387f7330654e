package gateway

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"drawbridge/gateway/job"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/upstream"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/truncate"
)

const (
	// jobSlack is what is left of the time of a call for its answer when the wait for the job ends.
	jobSlack = 100 * time.Millisecond
	// maxPoll is how much longer than the interval the time between two looks becomes.
	maxPoll = 10
	// cancelTime is the time that the cancellation of a job may take when its caller has gone.
	cancelTime = 5 * time.Second
)

// accepted goes on after an answer that may have begun a job. Without one it is passed on as it is.
func (c *call) accepted(args []byte, resp *http.Response) error {
	c.watch(resp)
	parts, err := c.gather(resp, c.result)
	if err != nil {
		return err
	}
	b := c.begun(args, resp, parts)
	if b == nil {
		c.done(telemetry.OutcomeOK, nil)
		return c.deliver(parts, resp)
	}
	first := &look{parts: parts, resp: resp, body: job.JSONOf(parts), retry: retryTime(resp, time.Now())}
	first.Report = c.plan.job.Read(first.body, c.redactor().Text)
	if resp.StatusCode != http.StatusAccepted {
		switch first.State { // it has ended as it began
		case job.Succeeded:
			began := *first
			c.retainResponse() // parts of it may be the result
			if err := c.fetch(c.ctx, b, first); err != nil {
				return c.ends(err, &began)
			}
			c.done(telemetry.OutcomeOK, nil)
			return c.deliver(first.parts, first.resp)
		case job.Failed, job.Cancelled:
			return c.failedJob(first)
		case job.Unknown, job.Working:
		}
	}
	if err := c.mayLook(b); err != nil {
		return c.ends(err, first)
	}
	if tasked, err := c.beginTask(b, args, first); tasked {
		return err
	}
	return c.wait(b, first)
}

// ends answers with what the service said when it began the job, if the caller may not know more; else the error is passed on.
func (c *call) ends(err error, first *look) error {
	f := isUntold(err)
	if f == nil {
		return err
	}
	c.done(telemetry.OutcomeJob, nil)
	c.note = f.text
	return c.deliver(first.parts, first.resp)
}

// tellUntold answers with the words of [call.untold] alone.
func (c *call) tellUntold(text string) error {
	c.done(telemetry.OutcomeJob, nil)
	c.answered = true
	chunks := []mcp.Chunk{{Bytes: textOpen}, {Bytes: []byte(text), Escape: true}, {Bytes: textClose}}
	if c.structured() {
		chunks = append(chunks, mcp.Chunk{Bytes: structuredEmpty})
	}
	return c.give(nil, chunks...)
}

// begun returns the handle of the job that an answer of 2xx has begun; nil if there is none.
func (c *call) begun(args []byte, resp *http.Response, parts []answer.Part) *job.Handle {
	a := job.Answer{
		Operation: c.plan.Operation, Arguments: args, Response: resp, Location: c.location, Body: job.JSONOf(parts), Base: c.plan.base,
		HasCallback: c.key != "",
	}
	if c.plan.changes {
		a.Target = &url.URL{Scheme: c.target.Scheme, Host: c.target.Host, Path: c.target.Path, RawPath: c.target.RawPath}
	}
	return c.plan.job.Begun(&a)
}

// wait waits for the end of a job as long as the call may, and answers with its result, or with how it stands. first is the
// answer that began it.
func (c *call) wait(b *job.Handle, first *look) error {
	j := c.plan.job
	begin := time.Now()
	forget := c.retainResponse()
	end := begin.Add(j.Wait)
	if deadline, ok := c.ctx.Deadline(); ok && deadline.Add(-jobSlack).Before(end) {
		end = deadline.Add(-jobSlack)
	}
	last, pace := first, pace{job: j, jitter: c.g.jitter}
	retry := first.retry
	wake, done := c.g.tasks.expect(c.key)
	defer done()
	for {
		c.tellJob(last, time.Since(begin))
		pause := pace.next(retry)
		if rest := time.Until(end); pause > rest {
			if pause = rest; retry > 0 || pause < j.Interval/2 {
				return c.goesOn(b, first, last, time.Since(begin)) // it is of no use to look before
			}
		}
		select {
		case <-time.After(pause):
		case <-wake:
		case <-c.ctx.Done():
		}
		if err := c.ctx.Err(); err != nil {
			if errors.Is(err, context.DeadlineExceeded) {
				return c.goesOn(b, first, last, time.Since(begin))
			}
			c.abandon(b)
			return c.failed(&upstream.Error{Kind: upstream.Canceled, API: c.plan.Tool.API, Err: err})
		}
		now, err := c.look(c.ctx, b)
		var missed *lookError
		switch {
		case c.ctx.Err() != nil:
			continue // which ends it
		case errors.As(err, &missed) && missed.later:
			retry = missed.retry
			continue
		case errors.As(err, &missed) && missed.gone && !j.Declared && last == first:
			// The place may not be one to ask at all, or not yet.
			return c.goesOn(b, first, nil, time.Since(begin))
		case err != nil:
			return c.ends(err, first)
		case now.State == job.Succeeded:
			forget()
			c.done(telemetry.OutcomeOK, nil)
			return c.deliver(now.parts, now.resp)
		case now.State == job.Failed, now.State == job.Cancelled:
			return c.failedJob(now)
		}
		now.parts, now.resp, now.body = nil, nil, nil // the next one may be as large
		if last, retry = now, now.retry; len(last.Questions) > 0 {
			return c.goesOn(b, first, last, time.Since(begin)) // nobody will answer while this client waits
		}
	}
}

// pace is how often a job is looked at.
type pace struct {
	job    *job.Definition
	jitter func(time.Duration) time.Duration
	now    time.Duration
}

// next returns the time to the next look: what the service asks for, but no less than the interval, else more each time, and
// never the same for all.
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

// about returns a time that is up to a tenth shorter or longer, so that who began together does not ask together.
func about(d time.Duration) time.Duration { return d - d/10 + rand.N(d/5+1) } //nolint:gosec // no secret

// tellJob tells how far the job is. Where the service does not say, it is the time that has passed. Who can't be told does
// not wait for it: that ends the call, or, in the legacy revisions, nothing.
func (c *call) tellJob(l *look, since time.Duration) {
	text := l.Text()
	if l.Total > 0 || l.Progress > 0 {
		_ = c.reply.Progress(l.Progress, l.Total, text)
		return
	}
	_ = c.reply.Progress(since.Truncate(time.Millisecond).Seconds(), 0, text)
}

// abandon stops a job whose caller has called off the call, if it is known how. That it can't be stopped is nobody's
// business any more.
func (c *call) abandon(b *job.Handle) {
	if !c.plan.job.CanCancel(b) {
		return
	}
	ctx, cancel := cancelledAfter(context.WithoutCancel(c.ctx), cancelTime)
	defer cancel()
	if resp, _, err := c.askAbout(ctx, c.plan.job.Cancel, b, b.Cancel); err == nil {
		_ = resp.Body.Close()
	}
}

// goesOn answers with what the service said when it began the job, and with how to go on. last is what it said since; nil:
// that it does not know the place that it has named.
func (c *call) goesOn(b *job.Handle, first, last *look, after time.Duration) error {
	c.done(telemetry.OutcomeJob, nil)
	text := c.plan.Tool.API + " has taken this call as a job, which goes on"
	switch {
	case last == nil:
		text = c.plan.Tool.API + " has taken this call as a job, and does not say how it stands"
	case last.Word != "":
		text += fmt.Sprintf(": after %s its state is %q", roughly(after), last.Word)
	default:
		text += fmt.Sprintf(": it had not ended after %s", roughly(after))
	}
	if last != nil && last.Message != "" {
		text += fmt.Sprintf(" (%s)", last.Message)
	}
	if last != nil && last.Progress > 0 && last.Total > 0 {
		text += fmt.Sprintf(", %.0f of %.0f", last.Progress, last.Total)
	}
	if last != nil && len(last.Questions) > 0 {
		text += ". It waits for answers that this client can't give (it does not support tasks)"
		for _, q := range last.Questions {
			text += "; it asks: " + q.Message
		}
	}
	text += ". Do not make the same call again, which would begin another job. "
	if name, args := c.asking(b); name != "" {
		text += fmt.Sprintf("To see how it stands, call the tool %s with the arguments %s.", name, args)
	} else {
		text += "Tell the user that the result is not known yet"
		if b.URL != nil {
			text += ", and that the service has it at " + truncate.Bytes(c.redactor().Text(b.URL.EscapedPath()), 200)
		}
		text += "; a tool that reads it may be among yours."
	}
	if c.notify != nil {
		if t, _, err := c.newTask(b, c.args, first); err == nil && c.follow(t) {
			text += " The URL that the caller gave will be called with the result."
		}
	}
	c.note = text
	return c.deliver(first.parts, first.resp)
}

// asking returns the tool that tells how a job stands, and its arguments; "" if there is none that the caller may call.
func (c *call) asking(b *job.Handle) (name string, args []byte) {
	r := c.plan.job.Status
	if r == nil || r.Operation == nil || b.Status == nil {
		return "", nil
	}
	for _, p := range c.endpoint.plans {
		if p.Operation == r.Operation && (c.endpoint.guard == nil || c.endpoint.allows(c.caller, p)) {
			return p.Tool.Name, []byte(c.redactor().Text(string(jsonscan.AppendCompact(nil, b.Status))))
		}
	}
	return "", nil
}

// roughly says how long something took.
func roughly(d time.Duration) string {
	switch {
	case d < time.Second:
		return "less than a second"
	case d < 2*time.Second:
		return "1 second"
	case d < 2*time.Minute:
		return fmt.Sprintf("%d seconds", int(d.Seconds()))
	}
	return fmt.Sprintf("%d minutes", int(d.Minutes()))
}

// deliver answers with parts of an answer that was read before, and with the call's note if there is one.
func (c *call) deliver(parts []answer.Part, resp *http.Response) error {
	c.answered = true
	if isUnended(parts, resp) {
		c.noteUnended()
	}
	c.readHeaders(resp)
	switch len(parts) {
	case 0:
		return c.empty(resp)
	case 1:
		return c.part(parts[0])
	}
	c.parts = parts
	return c.manyParts()
}

// noted adds what is said beside the answer to the content of a result: text is what stands before its end.
func (c *call) noted(chunks []mcp.Chunk, next []byte) []mcp.Chunk {
	text := c.beside()
	if text == "" {
		return chunks
	}
	return append(chunks, mcp.Chunk{Bytes: next}, mcp.Chunk{Bytes: []byte(text), Escape: true})
}

// beside is what is said beside the answer: of its headers, and the call's note.
func (c *call) beside() string {
	if c.note == "" || c.headText == "" {
		return c.headText + c.note
	}
	return c.headText + "\n" + c.note
}

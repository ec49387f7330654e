package call

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/url"

	"drawbridge/gateway/job"
	"drawbridge/gateway/render"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi/answer"
)

// receive reads the response of the call into its outcome.
func (c *Call) receive(ctx context.Context, resp *http.Response) error {
	c.out.Response = resp
	if resp.StatusCode >= 300 {
		c.compareResponse(resp.StatusCode, nil)
	}
	if c.Policy.Response == Whole {
		return c.receiveWhole(ctx, resp)
	}
	switch {
	case c.Plan.Job.MayBegin(resp.StatusCode):
		return c.receiveJob(ctx, resp)
	case resp.StatusCode < 300:
		return c.receiveParts(ctx, resp)
	case c.Plan.PolledJob != nil && job.IsElsewhere(resp.StatusCode):
		c.out.Pending = &Pending{}
		return resp.Body.Close()
	case render.IsRedirect(resp.StatusCode) && c.Plan.Operation.Answers.Redirects(resp.StatusCode):
		// The document declares it, so the call has succeeded. The gateway does not follow it (E3).
		c.Done(ctx, telemetry.OutcomeOK, nil)
		return resp.Body.Close()
	}
	return c.ServiceFailure(resp, c.Plan.Operation.Answers.Meaning(resp.StatusCode))
}

// receiveWhole reads a response for a caller that wants all of it.
func (c *Call) receiveWhole(ctx context.Context, resp *http.Response) error {
	switch {
	case resp.StatusCode == http.StatusNotModified && c.Validators != nil:
		c.Done(ctx, telemetry.OutcomeOK, nil)
		return resp.Body.Close()
	case resp.StatusCode >= 300:
		return c.ServiceFailure(resp, c.Plan.Operation.Answers.Meaning(resp.StatusCode))
	}
	parts, err := c.gatherSuccess(ctx, resp)
	if err != nil {
		return err
	}
	c.out.Parts, c.out.Shown = parts, parts
	c.Done(ctx, telemetry.OutcomeOK, nil)
	return nil
}

// receiveParts reads a response with a status below 300, whose parts stay where they were read.
func (c *Call) receiveParts(ctx context.Context, resp *http.Response) error {
	if stored, err := c.storeResponse(ctx, resp); stored || err != nil {
		return err
	}
	c.forwardEvents(resp)
	if err := c.read(resp, &c.out.read); err != nil {
		return err
	}
	parts := c.out.read.List
	c.compareResponse(resp.StatusCode, parts)
	for i := range parts {
		c.Plan.Progress.Reduce(&parts[i])
		c.redactPart(ctx, &parts[i])
		if err := c.reportedFailure(ctx, resp, parts[i]); err != nil {
			return err
		}
	}
	c.out.Succeed(ctx, parts, resp)
	return nil
}

// receiveJob reads a response that may have started a job. If it has not, it is a result like any other.
func (c *Call) receiveJob(ctx context.Context, resp *http.Response) error {
	c.forwardEvents(resp)
	parts, err := c.gatherSuccess(ctx, resp)
	if err != nil {
		return err
	}
	c.out.OfJob = true
	h := c.jobHandle(resp, parts)
	if h == nil {
		c.out.Succeed(ctx, parts, resp)
		return nil
	}
	c.out.Parts, c.out.Pending = parts, &Pending{Handle: h, Key: c.key}
	return nil
}

// jobHandle returns the handle of the job that a 2xx response has started, or nil.
func (c *Call) jobHandle(resp *http.Response, parts []answer.Part) *job.Handle {
	a := job.Answer{
		Operation: c.Plan.Requests, Arguments: c.Arguments, Response: resp, Location: c.location, Body: job.JSONOf(parts), Base: c.Plan.Base,
		HasCallback: c.key != "",
	}
	if c.Plan.InvalidatesCache {
		a.Target = &url.URL{Scheme: c.target.Scheme, Host: c.target.Host, Path: c.target.Path, RawPath: c.target.RawPath}
	}
	return c.Plan.Job.Begun(&a)
}

// addCallbackURL adds the callback URL for the service to the arguments of a call.
func (c *Call) addCallbackURL() error {
	key, at, err := c.Endpoint.Continuation.NewCallback(c.Plan, c.Caller.ID)
	if err != nil {
		return err
	}
	c.key, c.Arguments = key, c.Plan.Job.Callback.Arguments(c.Arguments, at)
	return nil
}

// read reads a response to the plan's request as [answer.Plan.Read] does. Sensitive fields of its parts are hidden. Invisible characters
// are removed before that, because a zero-width character would make another name or another secret of it. Error responses are always
// cleaned, since only a model reads their texts.
func (c *Call) read(resp *http.Response, into *answer.Parts) error {
	if err := c.Plan.Operation.Answers.Read(resp, into); err != nil {
		return err
	}
	s, clean := c.Plan.Sensitive, c.Plan.Clean || resp.StatusCode >= 300
	for i := range into.List {
		part := &into.List[i]
		if clean {
			part.Clean()
		}
		if s != nil {
			s.Part(part)
		}
		for _, more := range c.jobSensitive {
			more.Part(part)
		}
	}
	return nil
}

// Gather reads a response to its end and returns its parts, without the gateway's secrets, and in memory of their own.
// prepare is called for each part first.
func (c *Call) Gather(ctx context.Context, resp *http.Response, prepare func(*answer.Part)) ([]answer.Part, error) {
	var read answer.Parts
	defer read.Release()
	if err := c.read(resp, &read); err != nil {
		return nil, err
	}
	var parts []answer.Part
	for _, part := range read.List {
		prepare(&part)
		c.redactPart(ctx, &part)
		part.Data = bytes.Clone(part.Data)
		parts = append(parts, part)
	}
	return parts, nil
}

// gatherSuccess gathers a response with a status below 300, unless it reports a failure.
func (c *Call) gatherSuccess(ctx context.Context, resp *http.Response) ([]answer.Part, error) {
	parts, err := c.Gather(ctx, resp, c.Plan.Progress.Reduce)
	if err != nil {
		return nil, err
	}
	c.compareResponse(resp.StatusCode, parts)
	for _, part := range parts {
		if err := c.reportedFailure(ctx, resp, part); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// redactPart removes the credential of the service from a part of its answer.
func (c *Call) redactPart(ctx context.Context, part *answer.Part) {
	if c.Redactor().Part(part) {
		c.r.Log.LogAttrs(ctx, slog.LevelWarn, "the response of the service contained its credential, which was redacted",
			slog.String("api", c.Plan.Tool.API), slog.String("tool", c.Plan.Tool.Name))
	}
}

// forwardEvents forwards the events of a streamed response to the client as they arrive, if the client asked for progress by a
// token, or for log messages by a level.
func (c *Call) forwardEvents(resp *http.Response) {
	p := c.Plan
	if p.Progress.Hide() || !c.Client.Listens() {
		return
	}
	f := &render.EventForwarder{Client: c.Client, Tool: p.Tool.Name, Rules: p.Progress, Redactor: c.Redactor(), Sensitive: p.Sensitive, Clean: p.Clean}
	p.Operation.Answers.OnEvent(resp, f.Forward)
}

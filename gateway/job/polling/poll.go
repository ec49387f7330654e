package polling

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"drawbridge/auth/credential"
	"drawbridge/gateway/call"
	"drawbridge/gateway/job"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/render"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/upstream"
	"drawbridge/openapi"
	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
)

// JobStatus is the result of a status request for a job.
type JobStatus struct {
	job.Report
	Retry time.Duration // as requested by the service; 0 if it gives none
	body  []byte        // JSON text that the report was read from, or nil

	// parts and resp are the result of a job that has succeeded. For a failed job, parts is the same if the service's message
	// is all there is.
	parts []answer.Part
	resp  *http.Response
}

// StatusError is the error of a status request that found no status.
type StatusError struct {
	*call.Failure
	Gone bool // the service does not know the job any more
	// Denied is set if the request lacked a token or a permission; that of another caller, or a later one, may succeed.
	Denied bool
	// Later is set if a later request may succeed, after retry if the service gives a time.
	Later bool
	Retry time.Duration
}

func (e *StatusError) Unwrap() error { return e.Failure }

// PollStatus sends a status request for a job, and fetches the result of one that has succeeded. The error is a [*StatusError] or, for a
// result that can't be fetched, a [*call.Failure].
func (c *JobCall) PollStatus(ctx context.Context, b *job.Handle) (*JobStatus, error) {
	l, err := c.pollOnce(ctx, b)
	if c.Plan.InvalidatesCache && b.Target != nil && hasEnded(l, err) {
		c.Changed(ctx, b.Target)
	}
	return l, err
}

// hasEnded reports whether a status request has found the end of a job, or that its end can't be known any more.
func hasEnded(l *JobStatus, err error) bool {
	var missed *StatusError
	if errors.As(err, &missed) {
		return !missed.Later && !missed.Denied
	}
	return err != nil || l.State.Ended()
}

func (c *JobCall) pollOnce(ctx context.Context, b *job.Handle) (*JobStatus, error) {
	called, err := c.webhook(ctx)
	if err != nil {
		return nil, c.statusFailure(ctx, err)
	}
	if called != nil {
		if l, err := c.webhookStatus(ctx, b, called); l != nil || err != nil {
			return l, err
		}
	}
	if b.URL == nil && b.Status == nil {
		return &JobStatus{Report: job.Report{State: job.Working}}, nil // the service reports by callback
	}
	resp, location, err := c.requestJob(ctx, c.Plan.Job.Status, b, b.Status)
	if err != nil {
		return nil, c.statusFailure(ctx, err)
	}
	retry := render.RetryTime(resp, time.Now())
	switch {
	case job.IsElsewhere(resp.StatusCode):
		// The result is elsewhere (RFC 9110 section 15.4.4). The gateway follows the redirect, not the HTTP client: only to the
		// same origin, and only once.
		_ = resp.Body.Close()
		if b.Result = b.Resolve(location); b.Result == nil {
			return nil, &call.Failure{Outcome: telemetry.OutcomeRedirect, Text: "The job has ended, and its result is at another server" + render.RedirectPath(resp) +
				", which the gateway does not call."}
		}
		l := &JobStatus{Report: job.Report{State: job.Succeeded}}
		return l, c.fetchResult(ctx, b, l)
	case resp.StatusCode >= 300:
		return nil, c.statusRefused(ctx, resp, retry)
	}
	parts, err := c.readJobResponse(ctx, resp)
	if err != nil {
		return nil, c.statusFailure(ctx, err)
	}
	l := &JobStatus{Retry: retry, parts: parts, resp: resp, body: job.JSONOf(parts)}
	l.Report = c.Plan.Job.Read(l.body, c.Redactor().Text)
	switch {
	case l.hasState(resp.StatusCode, b.Plain):
	case c.Plan.Job.HasState:
		return nil, &StatusError{Failure: &call.Failure{Outcome: telemetry.Outcome(upstream.Protocol.String()), Text: c.Plan.Tool.API +
			" answered the question how the job stands with something in which no state is."}}
	default:
		l.State = job.Succeeded // the response is the resource that the job has made
		return l, nil
	}
	if l.State == job.Succeeded {
		return l, c.fetchResult(ctx, b, l)
	}
	return l, nil
}

// statusRefused returns the error for a response to a status request that has another status than 2xx, and does not lead to the
// result.
func (c *JobCall) statusRefused(ctx context.Context, resp *http.Response, retry time.Duration) *StatusError {
	status := resp.StatusCode
	e := c.statusFailure(ctx, c.ServiceFailure(resp, ""))
	e.Gone = status == http.StatusNotFound || status == http.StatusGone
	if e.Gone {
		e.Failure = &call.Failure{Outcome: e.Outcome, Cause: e.Cause, Text: c.Plan.Tool.API + " took the call as a job, and does not know it any more: it answered " +
			render.StatusText(status) + ". What became of it is not known; look before you repeat the call."}
	}
	e.Denied = status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusProxyAuthRequired
	e.Later = status == http.StatusRequestTimeout || status == http.StatusTooEarly || status == http.StatusTooManyRequests || status >= 500 && status != http.StatusNotImplemented
	e.Retry = retry
	return e
}

// hasState reports whether a response has the state of the job. Without a known word for it, the job is still running if the status is
// 202, if there is an unknown word, as in Azure's convention, or if there are questions.
func (l *JobStatus) hasState(status int, plain bool) bool {
	if l.State != job.Unknown { // true and false are known words too
		return true
	}
	if status == http.StatusAccepted || l.Word != "" && !plain || len(l.Questions) > 0 {
		l.State = job.Working
		return true
	}
	return false
}

// requestJob sends one request about a job and returns the response and its Location header, unresolved. A nil r is GET on the
// job's URL.
func (c *JobCall) requestJob(ctx context.Context, r *job.Request, b *job.Handle, args json.RawMessage) (resp *http.Response, location string, err error) {
	if r != nil && r.Operation != nil && args != nil {
		c.HideAlso(nil)
		if !r.Named || r == c.Plan.Job.Status || r == c.Plan.Job.Result {
			if err := c.authorizeResponses(ctx, []plan.ResponseOf{{Operation: r.Operation, Arguments: args}}); err != nil {
				return nil, "", err
			}
		}
		op, args, err := c.Plan.JobRequest(r.Operation, args, c.Caller.Principal)
		if err != nil {
			return nil, "", c.Failed(ctx, err)
		}
		req, err := op.NewRequest(c.Plan.Source.Context(c.Plan.CredentialOf(r).Context(ctx), r.Operation), c.Plan.BaseOf(r.Operation), args)
		if err != nil {
			var bad *openapi.ArgumentError
			if errors.As(err, &bad) {
				return nil, "", &call.Failure{Outcome: telemetry.Outcome(upstream.Protocol.String()), Cause: err, Text: c.Plan.Tool.API +
					" told of the job what does not fit the arguments of the operation that asks for it."}
			}
			return nil, "", c.Failed(ctx, err)
		}
		return c.SendOnce(ctx, req)
	}
	method := http.MethodGet
	if r != nil && r.Operation == nil {
		method = r.Method
	}
	return c.requestJobURL(ctx, method, b.URL)
}

// requestJobURL sends a request for a URL that the service has returned and that is of its origin.
func (c *JobCall) requestJobURL(ctx context.Context, method string, u *url.URL) (resp *http.Response, location string, err error) {
	c.HideAlso(nil)
	if method == http.MethodGet || c.Plan.Job.FromDocument {
		if err := c.authorizeResponses(ctx, c.Plan.ResponsesAt(method, u)); err != nil {
			return nil, "", err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), nil)
	if err != nil {
		return nil, "", c.Internal(ctx, err)
	}
	req.Header.Set("Accept", "application/json, */*;q=0.8")
	return c.SendOnce(ctx, req)
}

// statusFailure converts err to the error of a status request.
func (c *JobCall) statusFailure(ctx context.Context, err error) *StatusError {
	var e *upstream.Error
	var token *credential.TokenError
	var header *credential.HeaderError
	denied := errors.As(err, &token) || errors.As(err, &header)
	later := false
	if errors.As(err, &e) {
		switch e.Kind {
		case upstream.Timeout, upstream.Connect, upstream.ProxyFailed, upstream.Truncated, upstream.Overloaded, upstream.BreakerOpen:
			later = true
		default:
		}
		denied = denied || e.Kind == upstream.Credential || e.Kind == upstream.TLS || e.Kind == upstream.Canceled
	}
	var f *call.Failure
	if !errors.As(err, &f) {
		errors.As(c.Failed(ctx, err), &f)
	}
	later = later || f.Outcome == telemetry.Outcome(upstream.Overloaded.String()) // no capacity
	return &StatusError{Failure: f, Later: later, Denied: denied}
}

// fetchResult gets the result of a job that has succeeded, which may be in the body of its status. The error is a [*call.Failure] or, if the
// gateway had no capacity, a [*StatusError].
func (c *JobCall) fetchResult(ctx context.Context, b *job.Handle, l *JobStatus) error {
	j := c.Plan.Job
	at := j.ResultIn(b, l.body)
	var resp *http.Response
	var err error
	switch {
	case j.Result != nil && j.Result.Operation != nil && b.Fetch != nil:
		resp, _, err = c.requestJob(ctx, j.Result, b, j.Result.Complete(b.Fetch, l.body)) //nolint:bodyclose // the reader closes it
	case j.Result != nil && j.Result.Operation == nil && b.URL != nil:
		resp, _, err = c.requestJobURL(ctx, http.MethodGet, b.URL) //nolint:bodyclose // the same
	case at != nil:
		resp, _, err = c.requestJobURL(ctx, http.MethodGet, at) //nolint:bodyclose // the same
	default:
		return c.resultInStatus(ctx, l)
	}
	if err == nil && resp.StatusCode >= 300 {
		err = c.ServiceFailure(resp, "")
	}
	if err == nil {
		l.resp = resp
		l.parts, err = c.readJobResponse(ctx, resp)
	}
	if err != nil {
		if e := c.statusFailure(ctx, err); e.Outcome == telemetry.Outcome(upstream.Overloaded.String()) {
			return e
		}
		return c.Failed(ctx, err)
	}
	return nil
}

// resultInStatus takes the result out of the body of the job's status. Without a configured location for the result, the whole body is
// the result.
func (c *JobCall) resultInStatus(ctx context.Context, l *JobStatus) error {
	value := c.Plan.Job.Output(l.body)
	if value == nil {
		return nil
	}
	media, data := "application/json", value
	if jsonscan.KindOf(value) == jsonscan.String {
		media, data = "text/plain; charset=utf-8", jsonscan.Unquote(value)
	}
	found, err := c.parseStatus(ctx, media, data)
	if err != nil {
		return c.Failed(ctx, err)
	}
	l.parts, l.resp = found.parts, found.resp
	return nil
}

// parseStatus interprets bytes as if they were the service's response.
func (c *JobCall) parseStatus(ctx context.Context, media string, data []byte) (*JobStatus, error) {
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, ContentLength: int64(len(data)), Body: io.NopCloser(bytes.NewReader(data))}
	if media != "" {
		resp.Header.Set("Content-Type", media)
	}
	parts, err := c.readJobResponse(ctx, resp)
	if err != nil {
		return nil, err
	}
	l := &JobStatus{parts: parts, resp: resp, body: job.JSONOf(parts)}
	l.Report = c.Plan.Job.Read(l.body, c.Redactor().Text)
	return l, nil
}

// readJobResponse returns the parts of a 2xx response about a job. The published schema describes the response that starts a job, so a
// response that does not match it is no violation.
func (c *JobCall) readJobResponse(ctx context.Context, resp *http.Response) (parts []answer.Part, err error) {
	return c.Gather(ctx, resp, func(part *answer.Part) { part.Declared = true })
}

// failedJob returns the failure of a job that has ended without success, in the service's words.
func (c *JobCall) failedJob(l *JobStatus) *call.Failure {
	return &call.Failure{Outcome: telemetry.OutcomeJobFailed, Text: render.FailedJob(c.Plan.Tool.API, &l.Report, l.body, c.ErrorRedactor(http.StatusOK))}
}

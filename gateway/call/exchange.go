package call

import (
	"context"
	"errors"
	"net/http"
	"time"

	"drawbridge/gateway/audit"
	"drawbridge/gateway/redact"
	"drawbridge/gateway/render"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/upstream"
)

// receivedCounter is a body that counts the bytes read from it.
type receivedCounter interface{ Received() int64 }

// replyError is an error of the client that a call tells of its progress. The call ends with it.
type replyError struct{ error }

// unaudited is the text for the model if the audit log can't be written.
const unaudited = "The gateway can't write its audit log now, and makes no call without it. Nothing was sent. Try again in a minute; if that does " +
	"not help, tell the user that the operator of the gateway must look at the audit log."

// awaitAudit waits until the audit log has capacity for the call's record, before anything is sent to a service.
func (c *Call) awaitAudit(ctx context.Context) error {
	if c.r.Audit == nil {
		return nil
	}
	err := c.r.Audit.Ready(ctx)
	if errors.Is(err, audit.ErrFull) {
		return &Failure{telemetry.OutcomeUnaudited, err, unaudited}
	}
	return err
}

// transmit sends the request to the service, and follows redirects if follow_redirects is set.
func (c *Call) transmit(req *http.Request) (*http.Response, error) {
	resp, err := c.transmitOnce(req, c.Plan.Retry)
	if err == nil && c.mayFollow(resp) {
		return c.followRedirects(req, resp)
	}
	return resp, err
}

// SendOnce sends a further request of the call, about its job, and returns the response and its Location header, unresolved. It does not
// repeat the request, since the code that follows a job has a schedule. The error is a [*Failure], or that of the audit log.
func (c *Call) SendOnce(ctx context.Context, req *http.Request) (resp *http.Response, location string, err error) {
	c.sentSecrets = nil // the token may have changed
	if err := c.awaitAudit(ctx); err != nil {
		return nil, "", c.Failed(ctx, err)
	}
	resp, err = c.transmitOnce(req, upstream.NoRetry)
	if err != nil {
		return nil, "", c.Failed(ctx, err)
	}
	c.memory.limit(ctx, resp)
	location = resp.Header.Get("Location")
	render.HideLocation(resp, c.Redactor())
	return resp, location, nil
}

// HideAlso sets the fields that are hidden from the next responses besides those of the plan, since they are responses of other
// operations.
func (c *Call) HideAlso(fields []*redact.Sensitive) { c.jobSensitive = fields }

// Retain keeps the memory of the last response reserved while further ones are read. The returned function releases it.
func (c *Call) Retain() (release func()) { return c.memory.retain() }

// transmitOnce sends the request to the service, and records the exchange in the metrics and the audit record.
func (c *Call) transmitOnce(req *http.Request, retry upstream.RetryPolicy) (*http.Response, error) {
	var shown *trialExchange
	if c.Trial != nil {
		req, shown = c.Trial.begin(req)
	}
	resp, requests, err := c.Plan.Client.Send(req, retry, c.Plan.HeaderTimeout)
	c.endBody()
	c.status = 0
	if resp != nil {
		c.received, _ = resp.Body.(receivedCounter)
	}
	if shown != nil {
		c.Trial.end(shown, resp, c.Redactor(), c.Plan.Sensitive)
	}
	if resp != nil {
		c.body, c.status = resp.Body, resp.StatusCode
	}
	sent := int64(requests) * max(0, req.ContentLength)
	c.Plan.Metrics.Traffic.Exchanged(sent, resp)
	u := &c.out.Usage
	u.Attempted, u.Requests, u.Sent = true, u.Requests+requests, u.Sent+sent
	if resp != nil {
		u.Status = resp.StatusCode
	}
	return resp, err
}

// endBody records how many bytes of the last response were received.
func (c *Call) endBody() {
	if c.received == nil {
		return
	}
	n := c.received.Received()
	c.received = nil
	c.Plan.Metrics.Traffic.Received(n)
	c.out.Usage.Received += n
}

// observe records the time from sending the request to the end of its response.
func (c *Call) observe() {
	if elapsed := c.elapsed(); elapsed > 0 {
		telemetry.Observe(c.Plan.Metrics.Duration, c.span, elapsed)
	}
}

// elapsed returns the time since the request was sent, or 0 if none was.
func (c *Call) elapsed() time.Duration {
	if c.start.IsZero() {
		return 0
	}
	return time.Since(c.start)
}

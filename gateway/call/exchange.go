package call

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"go.opentelemetry.io/otel/trace"

	"drawbridge/auth"
	"drawbridge/auth/credential"
	"drawbridge/gateway/audit"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/redact"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/upstream"
)

// exchange is what a call has to do with the service: its requests, and their responses from the service or the cache.
// It knows nothing of results and jobs. Only the call's goroutine uses it.
type exchange struct {
	r        *Runner
	Plan     *plan.Plan
	Request  *mcp.Request
	reply    *mcp.Reply // nil if no client is told about the exchange
	Endpoint *Endpoint
	Caller   *auth.Principal // nil if no token was required
	record   *callRecord     // for the audit log and the history; nil if there is none
	span     trace.Span      // nil if tracing is off
	trial    *Trial          // shows the exchange to an operator; nil if nobody watches

	// The request.

	args        json.RawMessage  // the arguments as last validated or built into a request
	target      *url.URL         // URL of the request as built
	header      http.Header      // additional header fields; nil if there are none
	bypassCache bool             // of responses
	start       time.Time        // when the request was sent; zero if none was
	sent        *credential.Sent // attached credentials that are in no configuration; nil if there can't be any
	sentSecrets *redact.Forms    // redacts sent; nil until it is needed

	// The response.

	status           int                 // status of the last response; 0 if there was none
	body             io.ReadCloser       // unwrapped body of the last response; nil if there was none
	received         receivedCounter     // counts the bytes read from body; nil once they are recorded
	memory           responseMemory      // of large bodies
	location         string              // Location header as the service sent it; only its path is shown
	locationResponse *http.Response      // response that location belongs to
	unfollowed       string              // why a redirect was not followed; "" if none was to be followed
	jobSensitive     []*redact.Sensitive // sensitive fields of operations that report on a job, besides those of the plan
}

// receivedCounter is a body that counts the bytes read from it.
type receivedCounter interface{ Received() int64 }

// replyError is an error of the client that a call tells of its progress. The call ends with it.
type replyError struct{ error }

// unaudited is the text for the model if the audit log can't be written.
const unaudited = "The gateway can't write its audit log now, and makes no call without it. Nothing was sent. Try again in a minute; if that does " +
	"not help, tell the user that the operator of the gateway must look at the audit log."

// awaitAudit waits until the audit log has capacity for the call's record, before anything is sent to a service.
func (x *exchange) awaitAudit(ctx context.Context) error {
	if x.r.Audit == nil {
		return nil
	}
	err := x.r.Audit.Ready(ctx)
	if errors.Is(err, audit.ErrFull) {
		return &Failure{telemetry.OutcomeUnaudited, err, unaudited}
	}
	return err
}

// transmit sends the request to the service, and follows redirects if follow_redirects is set.
func (x *exchange) transmit(req *http.Request) (*http.Response, error) {
	resp, err := x.transmitOnce(req, x.Plan.Retry)
	if err == nil && x.mayFollow(resp) {
		return x.followRedirects(req, resp)
	}
	return resp, err
}

// transmitOnce sends the request to the service, and records the exchange in the metrics and the audit record.
func (x *exchange) transmitOnce(req *http.Request, retry upstream.RetryPolicy) (*http.Response, error) {
	var shown *trialExchange
	if x.trial != nil {
		req, shown = x.trial.begin(req)
	}
	resp, requests, err := x.Plan.Client.Send(req, retry, x.Plan.HeaderTimeout)
	x.endBody()
	x.status = 0
	if resp != nil {
		x.received, _ = resp.Body.(receivedCounter)
	}
	if shown != nil {
		x.trial.end(shown, resp, x.redactor(), x.Plan.Sensitive)
	}
	if resp != nil {
		x.body, x.status = resp.Body, resp.StatusCode
	}
	sent := int64(requests) * max(0, req.ContentLength)
	x.Plan.Metrics.Traffic.Exchanged(sent, resp)
	x.record.exchanged(requests, sent, resp)
	return resp, err
}

// endBody records how many bytes of the last response were received.
func (x *exchange) endBody() {
	if x.received == nil {
		return
	}
	n := x.received.Received()
	x.received = nil
	x.Plan.Metrics.Traffic.Received(n)
	if x.record != nil {
		x.record.received += n
	}
}

// observe records the time from sending the request to the end of its response.
func (x *exchange) observe() {
	if elapsed := x.elapsed(); elapsed > 0 {
		telemetry.Observe(x.Plan.Metrics.Duration, x.span, elapsed)
	}
}

// elapsed returns the time since the request was sent, or 0 if none was.
func (x *exchange) elapsed() time.Duration {
	if x.start.IsZero() {
		return 0
	}
	return time.Since(x.start)
}

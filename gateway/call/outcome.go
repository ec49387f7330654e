package call

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"drawbridge/gateway/filestore"
	"drawbridge/gateway/job"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/projection"
	"drawbridge/gateway/redact"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/upstream"
	"drawbridge/openapi"
	"drawbridge/openapi/answer"
)

// Outcome is what became of a call. It must be closed; until then the call occupies its part of the limits, and its record is not written.
// Only the goroutine of the call uses it.
type Outcome struct {
	// Failure is why the call failed; nil if it did not.
	Failure *Failure
	// Response is the last response of the service, whose body has been read; nil if there was none.
	Response *http.Response
	// Parts are those of a response with a status below 300, without the secrets of the gateway.
	Parts []answer.Part
	// Shown are the parts that the projection of the tool has left; Parts if it has none.
	Shown []answer.Part
	// Projected is how each part was projected; nil without a projection.
	Projected []Projected
	// File is the file that the response was stored as; nil if it was not. The only part has its beginning then.
	File *filestore.File
	// Pending is what the response leaves to do: to follow the job that it started, or to fetch the result that it leads to. Such an
	// outcome is open: [Outcome.Succeed], [Outcome.Fail] or [Outcome.Leave] ends it. It is nil for most responses.
	Pending *Pending
	// OfJob reports that the parts are the result of a job or may be, which the same request would not yield again.
	OfJob bool
	// Usage is what the call took.
	Usage Usage

	call *Call
	read answer.Parts // the memory of Parts, unless they have their own
}

// Usage is what a call took.
type Usage struct {
	Attempted      bool // a request was to be sent
	Requests       int  // that were sent, with repetitions
	Redirects      int  // that were followed
	Status         int  // of the last response; 0 if there was none
	Cache          string
	Sent, Received int64 // bytes of bodies
	Delivered      int64 // bytes of the texts of the result
	// Tokens are those of the result, as far as the ceiling had to count them; 0 if it had not, because the result is far below the ceiling.
	Tokens int
}

// Projected is how one part of a response was projected.
type Projected struct {
	*projection.Answer        // nil if there was nothing to project
	Note               string // on a part of which no fields can be selected, or ""
}

// NotShown ends a sentence about a response whose projection can't be made.
func (p *Projected) NotShown() string {
	return fmt.Sprintf("is not shown, because the fields that the operator selects could not be selected: the expression %v", p.Failed)
}

// Call returns the call, for further requests about its job.
func (o *Outcome) Call() *Call { return o.call }

// Context returns the context of the call, which has its deadline and its credentials.
func (o *Outcome) Context() context.Context { return o.call.ctx }

// Close ends the call and writes its record. It may be called again.
func (o *Outcome) Close() {
	if o.Failure != nil { // a typed nil would make the error non-nil
		o.call.close(o.Failure)
		return
	}
	o.call.close(nil)
}

// Rendered ends the call's part in the limit of calls in flight, so that a client that reads slowly holds up no other call.
func (o *Outcome) Rendered() { o.call.ticket.Stop() }

// Delivered counts a text of the result.
func (o *Outcome) Delivered(text []byte) {
	c := o.call
	c.Tool.Metrics().Results.Delivered(text)
	o.Usage.Delivered += int64(len(text))
	c.record.deliver(text, c.r.History.Bodies())
}

// Target returns the URL of the request as it was built; nil if none was.
func (o *Outcome) Target() *url.URL { return o.call.target }

// Location returns the Location header of [Outcome].Response as the service sent it. It is not to be shown.
func (o *Outcome) Location() string {
	if o.call.locationResponse == o.Response {
		return o.call.location
	}
	return ""
}

// Arguments returns the arguments as last validated or built into a request.
func (o *Outcome) Arguments() []byte { return o.call.args }

// Dropped returns the JSON Pointers of the arguments that counted as absent, and those of them that are in the request's body.
func (o *Outcome) Dropped() (all, unsent []string) { return o.call.Dropped, o.call.unsent }

// Mistyped returns the members of the request's body that were sent although the document declares another type.
func (o *Outcome) Mistyped() []openapi.Fault { return o.call.mistyped }

// Invocation returns what was called, as it was at last.
func (o *Outcome) Invocation() *Invocation { return &o.call.Invocation }

// Redactor returns the redactor that removes everything the gateway attached to the requests.
func (o *Outcome) Redactor() redact.Redactor { return o.call.Redactor() }

// Invalidate makes cached responses to the request of the call stale, because a poll has found a newer one.
func (o *Outcome) Invalidate(ctx context.Context) {
	if c := o.call; c.Plan.Cache != nil {
		c.r.Cache.Changed(ctx, c.Plan.Source.CacheGroup, c.target)
	}
}

// Succeed ends the call with parts of a response, which are projected. A projection that can't be made may be a failure.
func (o *Outcome) Succeed(ctx context.Context, parts []answer.Part, resp *http.Response) {
	c := o.call
	o.Parts, o.Response, o.Failure = parts, resp, nil
	if f := c.project(ctx); f != nil {
		o.Fail(ctx, f)
		return
	}
	c.Done(ctx, telemetry.OutcomeOK, nil)
}

// Answer sets the texts with which a tool that is no operation answers. The memory must be the call's own.
func (c *Call) Answer(texts [][]byte) {
	c.out.Shown = make([]answer.Part, len(texts))
	for i, text := range texts {
		c.out.Shown[i] = answer.Part{Kind: answer.Text, MediaType: "text/plain", Data: text}
	}
	c.out.Parts = c.out.Shown
}

// AnswerValue sets the JSON value with which a tool that is no operation answers. The memory must be the call's own.
func (c *Call) AnswerValue(value json.RawMessage) {
	c.out.Shown = []answer.Part{{Kind: answer.JSON, MediaType: "application/json", Data: value}}
	c.out.Parts = c.out.Shown
}

// Fail ends the call with a failure.
func (o *Outcome) Fail(ctx context.Context, f *Failure) {
	o.Failure = f
	o.call.Done(ctx, f.Outcome, f.Cause)
}

// Leave ends the call while its job goes on. Its parts are those of the response that started the job.
func (o *Outcome) Leave(ctx context.Context) {
	o.Shown = o.Parts
	o.call.Done(ctx, telemetry.OutcomeJob, nil)
}

// Pending is what a response leaves to do.
type Pending struct {
	// Handle is that of the job; nil if the response leads to the result of an earlier one, by a redirect.
	Handle *job.Handle
	// Key identifies the call in the service's webhook; "" if the service does not call back.
	Key string
}

// conclude turns a failure into the outcome of the call; any other error is returned.
func (c *Call) conclude(err error) error {
	if err == nil { // fast path without allocations
		return nil
	}
	f := failureIn(err)
	if f == nil {
		if f, err = c.unanswered(err); f == nil {
			return err
		}
	}
	c.out.Fail(c.ctx, f)
	return nil
}

// Done counts the outcome and writes the call's log line: at debug level if all went well, at warning level if the
// service or the gateway is at fault, subject to [telemetry.LogSampler]. Arguments and answers are never logged.
func (c *Call) Done(ctx context.Context, o telemetry.Outcome, cause error) {
	if c.Policy.Report == Unreported {
		return
	}
	c.Tool.Metrics().Count(o)
	c.record.setOutcome(o)
	if c.Policy.Report == Counted {
		return
	}
	if o != telemetry.OutcomeAsked { // the client learns of it
		logOutcome(c.Client, o)
	}
	level := slog.LevelInfo
	switch o {
	case telemetry.OutcomeOK, telemetry.OutcomeArguments, telemetry.OutcomeAsked, telemetry.OutcomeJob:
		level = slog.LevelDebug
	case telemetry.OutcomeRedirect, telemetry.OutcomeClientError, telemetry.OutcomeSubjectRefused, telemetry.OutcomeUnconfirmed,
		telemetry.OutcomeUnanswered, telemetry.OutcomeJobFailed, telemetry.OutcomeNoTasks, telemetry.Outcome(upstream.Canceled.String()):
	default:
		level = slog.LevelWarn
	}
	if c.span != nil {
		telemetry.SetOutcome(c.span, c.Method, o)
	}
	if c.r.Operations != nil { // an allocation that nobody else needs
		c.Client.Called(mcp.Called{Tool: c.Tool.Metrics().Label(), Failed: !o.Good(), Traced: c.span != nil})
	}
	tool, line := c.Tool.Definition(), telemetry.Sampled{Logged: true}
	if level == slog.LevelWarn {
		if line = c.r.faults.Sample(tool.API, string(o), time.Now()); !line.Logged {
			level = slog.LevelDebug
		}
	}
	if !c.r.Log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("api", tool.API), slog.String("tool", tool.Name), slog.String("outcome", string(o)),
		slog.String("principal", c.r.Audit.Principal(c.Caller.ID)),
	}
	if c.status != 0 {
		attrs = append(attrs, slog.Int("status", c.status))
	}
	if cause != nil {
		attrs = append(attrs, slog.Any("error", cause))
	}
	if c.Trial != nil {
		attrs = append(attrs, slog.String("operator", c.Trial.Actor))
	}
	c.r.Log.LogAttrs(ctx, level, "call", line.Attrs(attrs, "calls are only counted, by drawbridge_tool_calls_total")...)
}

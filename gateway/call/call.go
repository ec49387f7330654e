package call

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"time"

	"go.opentelemetry.io/otel/trace"

	"drawbridge/auth/credential"
	"drawbridge/gateway/admission"
	"drawbridge/gateway/history"
	"drawbridge/gateway/inbound"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/redact"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi"
)

// Invoke makes a call that its caller is authorized to make, and returns its outcome, which must be closed. A call that has failed has
// an outcome, too. The error means that there is none: the call was refused, the user is asked (an [*mcp.InputRequired], with the state in
// which the call goes on, by [Invocation].Input), or the client has left. It is for the client.
func (r *Runner) Invoke(ctx context.Context, inv Invocation) (out *Outcome, err error) {
	c := r.New(ctx, inv)
	defer func() {
		if out == nil {
			c.close(err)
		}
	}()
	if err := c.resume(); err != nil {
		return nil, err
	}
	if err := c.run(ctx); err != nil {
		return nil, err
	}
	return &c.out, nil
}

// run is the life of a call that its caller is authorized to make. Each step goes on or returns the error that ends the
// call; most of these are a [*Failure], which conclude turns into the outcome.
func (c *Call) run(ctx context.Context) (err error) {
	if err = c.admit(ctx); err != nil {
		return err
	}
	c.record.reach(history.Admission)
	if c.Verify != nil {
		if err = c.Verify(ctx); err != nil {
			return c.conclude(err)
		}
	}
	return c.conclude(c.runTool(ctx))
}

// runTool runs the tool. A panic is a failure.
func (c *Call) runTool(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = c.Panicked(ctx, v)
		}
	}()
	return c.Tool.Run(ctx, c)
}

// Call is one call that is under way. Only the goroutine that makes it uses it. [Runner.Invoke] makes one from its beginning to its
// outcome. The code that follows the job of a call continues with it: it has the deadline, the credentials and the memory of further requests,
// and redacts their responses.
type Call struct {
	Invocation
	Plan      *plan.Plan // of an operation, at the server of the caller; nil for a tool of another kind
	r         *Runner
	out       Outcome
	record    *callRecord      // for the history; nil if there is neither an audit log nor a history
	span      trace.Span       // nil if tracing is off
	ctx       context.Context  //nolint:containedctx // of the call, from its beginning until it is closed
	ticket    admission.Ticket // the capacity that the call occupies until its result is rendered
	stop      func()           // ends what begin began; nil if nothing did
	questions *questions       // to the user; nil if there were none
	counted   bool             // as in flight
	// serverless is the reason why the call has no server: a claim of the caller, or an argument, selects none of several.
	serverless error
	ended      bool

	// The request.

	files       []*fileArgument  // stored files that the arguments refer to
	args        json.RawMessage  // as last validated or built into a request
	mistyped    []openapi.Fault  // members of the body that are sent although the document declares another type
	unsent      []string         // JSON Pointers of the arguments in the body that were dropped
	key         string           // identifies the call in the service's callback; "" if the service does not call back
	target      *url.URL         // URL of the request as built
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

// New returns a call without beginning it, for requests about the job of an earlier one.
func (r *Runner) New(ctx context.Context, inv Invocation) *Call {
	var c *Call
	if r.recorded() {
		both := new(struct { // in one allocation
			Call
			callRecord
		})
		c, both.callRecord.start = &both.Call, time.Now()
		c.record = &both.callRecord
	} else {
		c = new(Call)
	}
	c.Invocation, c.r, c.ctx, c.out.call = inv, r, ctx, c
	if c.Plan = inv.Plan(); c.Plan != nil && c.Plan.Servers != nil {
		c.Plan, c.Arguments, c.serverless = c.Plan.For(inv.Caller.Principal, inv.Arguments)
		c.Tool = Operation(c.Plan)
	}
	if c.Client == nil {
		c.Client = nobody{}
	}
	if c.Request == nil {
		c.Request = new(inbound.ID)
	}
	c.memory = responseMemory{budget: r.Responses, call: c}
	return c
}

// Begin counts the call of a tool that is no operation as running, and returns its context, which has its span. The error means that the
// gateway is at capacity, which other calls may have taken since it was checked.
func (c *Call) Begin(ctx context.Context) (context.Context, error) {
	c.record.reach(history.Arguments)
	if err := c.reject(c.ticket.Start()); err != nil {
		return nil, err
	}
	c.stop = func() {}
	c.trace(ctx)
	return c.ctx, nil
}

// trace sets the context of the call, which has its span.
func (c *Call) trace(ctx context.Context) {
	c.Client.KeepAlive()
	t := c.Tool.Definition()
	c.ctx, c.span = c.r.Tracer.StartCall(ctx, telemetry.CallSpan{Message: c.Message, Method: c.Method, Tool: t.Name, API: t.API, Via: c.Via, Header: c.Caller.Header}, c.Check)
}

// close ends the call with err, which is nil if it has an outcome, and writes its record.
func (c *Call) close(err error) {
	if c.ended {
		return
	}
	c.ended = true
	c.observe()
	if c.stop != nil {
		if c.body != nil {
			_ = c.body.Close() // a second time unless there was a panic; the call occupies the bulkhead of the API until then
		}
		if c.span != nil {
			c.span.End()
		}
		c.stop()
		c.ticket.Stop()
		c.memory.end()
	}
	c.out.read.Release()
	c.closeFiles()
	if c.counted {
		c.r.Metrics.InFlight.Dec()
	}
	c.endRecord(err)
}

// Resume begins requests about the job of an earlier call, and returns their context, which has the deadline and the credentials of a call.
// [Call.Close] ends them.
func (c *Call) Resume(ctx context.Context) context.Context {
	ctx, c.stop = context.WithTimeout(ctx, c.Plan.Timeout)
	c.ctx, c.sent = c.Plan.Attach(ctx, c.Caller.Header, c.Endpoint.Guard)
	return c.ctx
}

// Close ends a call that [Runner.New] has made, and writes its record.
func (c *Call) Close() { c.out.Close() }

// Release releases the memory of the responses so far. The call can go on.
func (c *Call) Release() { c.memory.end() }

// Outcome returns the outcome, which is open until [Outcome.Succeed], [Outcome.Fail] or [Outcome.Leave].
func (c *Call) Outcome() *Outcome { return &c.out }

// Changed makes cached responses of a URL of the service stale, because its job has ended.
func (c *Call) Changed(ctx context.Context, at *url.URL) {
	c.r.Cache.Changed(ctx, c.Plan.Source.CacheGroup, at)
}

// Accepted sets the outcome of a request without a result.
func (c *Call) Accepted() { c.record.setOutcome(telemetry.OutcomeOK) }

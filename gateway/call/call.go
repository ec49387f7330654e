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
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/redact"
	"drawbridge/gateway/telemetry"
)

// Invoke makes a call that its caller is authorized to make, and returns its outcome, which must be closed. A call that has failed has
// an outcome, too. The error means that there is none: the call was refused, the user is asked ([mcp.ErrInputRequired]), or the client
// has left. It is for the client.
func (r *Runner) Invoke(ctx context.Context, inv Invocation) (out *Outcome, err error) {
	c := r.New(ctx, inv)
	defer func() {
		if out == nil {
			c.close(err)
		}
	}()
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
	if c.Policy.Arguments == Given {
		if err = c.prepare(ctx); err != nil {
			return c.conclude(err)
		}
	}
	c.record.reach(history.Arguments)
	if err = c.begin(ctx); err != nil {
		return err
	}
	return c.conclude(c.execute(c.ctx))
}

// prepare is the part of a call's life before its request is built: the user is asked for arguments, the arguments are
// validated, the condition of the plan must hold, and the user must confirm. It has no deadline but the caller's, since
// a user takes time. The call continues with the arguments that the condition and the user have seen. The error is a
// [*Failure], or the error of the answer, which includes [mcp.ErrInputRequired].
func (c *Call) prepare(ctx context.Context) error {
	if err := c.validate(ctx); err != nil {
		return err
	}
	return c.confirm(ctx)
}

// execute is the part of a call's life that has a deadline: the request is sent unless the cache has the response, and
// the response is read. A panic is a failure, too.
func (c *Call) execute(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = c.Panicked(ctx, v)
		}
	}()
	if c.Plan.Job.Callback != nil {
		if err = c.addCallbackURL(); err != nil {
			return c.Internal(ctx, err)
		}
	}
	resp, err := c.send(ctx)
	c.record.reach(history.Service)
	if err != nil {
		return err
	}
	if err = c.receive(ctx, resp); err != nil {
		return c.Failed(ctx, err)
	}
	return nil
}

// Call is one call that is under way. Only the goroutine that makes it uses it. [Runner.Invoke] makes one from its beginning to its
// outcome. Whoever follows the job of a call goes on with it: it has the deadline, the credentials and the memory of further requests,
// and redacts their responses.
type Call struct {
	Invocation
	r       *Runner
	out     Outcome
	record  *callRecord      // for the history; nil if there is neither an audit log nor a history
	span    trace.Span       // nil if tracing is off
	ctx     context.Context  //nolint:containedctx // of the call, from its beginning until it is closed
	ticket  admission.Ticket // the capacity that the call occupies until its result is rendered
	stop    func()           // ends what begin began; nil if nothing did
	counted bool             // as in flight
	ended   bool

	// The request.

	args        json.RawMessage  // as last validated or built into a request
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
	if c.Client == nil {
		c.Client = nobody{}
	}
	if c.Request == nil {
		c.Request = new(inbound.ID)
	}
	c.memory = responseMemory{budget: r.Responses, call: c}
	return c
}

// begin counts the call as running, and sets its context, which has its deadline, its credentials and its span. The error means that
// the gateway is at capacity, which other calls may have taken since it was checked.
func (c *Call) begin(ctx context.Context) error {
	p := c.Plan
	if err := c.reject(c.ticket.Start()); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	c.stop = cancel
	if c.Caller.Protocol.Family == mcp.Legacy && p.Safe && c.Endpoint.cancelOnDisconnect {
		// In the legacy revisions a closed connection is no cancellation. A safe call can be stopped nevertheless:
		// its answer can no longer be read, and the service is spared the work.
		stop := c.Client.OnDisconnect(cancel)
		c.stop = func() {
			stop()
			cancel()
		}
	}
	ctx, c.sent = p.Attach(ctx, c.Caller.Header, c.Endpoint.Guard)
	c.Client.KeepAlive()
	c.ctx, c.span = c.r.Tracer.StartCall(ctx, telemetry.CallSpan{Method: c.Method, Tool: p.Tool.Name, Revision: c.Caller.Protocol.Revision, API: p.Tool.API,
		TraceParent: c.Trace.Parent, TraceState: c.Trace.State, Header: c.Caller.Header}, c.Check)
	return nil
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

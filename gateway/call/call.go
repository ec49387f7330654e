package call

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"time"

	"drawbridge/auth"
	"drawbridge/gateway/history"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/render"
	"drawbridge/gateway/telemetry"
)

// CallTool answers tools/call.
func (r *Runner) CallTool(ctx context.Context, e *Endpoint, req *mcp.Request, reply *mcp.Reply) error {
	if req.Name == "" {
		return mcp.InvalidParams("params.name is missing: it must be the name of a tool")
	}
	return r.CallIndirectly(ctx, e, nil, req, reply)
}

// CallIndirectly answers a tools/call whose name and arguments are those of the called tool. via is nil if the client has
// called it by its own name.
func (r *Runner) CallIndirectly(ctx context.Context, e *Endpoint, via *Indirect, req *mcp.Request, reply *mcp.Reply) error {
	p := e.Tool(req.Name)
	if p == nil {
		caller := auth.FromContext(ctx)
		r.recordDenied(ctx, e, nil, caller, req, telemetry.OutcomeUnknown)
		return e.answerUnknown(caller, via, req.Name, reply)
	}
	c := r.newCall(ctx, e, p, req, reply)
	c.indirect = via
	if denied := c.Authorize(ctx); denied != nil {
		if e.HideUnauthorized {
			return e.answerUnknown(c.Caller, via, req.Name, reply)
		}
		return denied
	}
	c.takeFields()
	req.Arguments, c.dropped = p.Drop(req.Arguments) // everything from here on sees only the others
	return c.run(ctx, req.Arguments)
}

// run is the life of a call that its caller is authorized to make. Each step goes on or returns the error that ends the
// call; most of these are a [*Failure], which conclude turns into the result.
func (c *Call) run(ctx context.Context, args json.RawMessage) (err error) {
	defer func() { c.endRecord(ctx, err) }()
	if c.background {
		c.ticket = c.r.Admission.Ticket(c.Endpoint.MaxCalls)
	} else {
		if err = c.admit(ctx); err != nil {
			return err
		}
		c.r.Metrics.InFlight.Inc()
		defer c.r.Metrics.InFlight.Dec()
	}
	c.record.reach(history.Admission)
	if !c.buffered {
		if err = c.checkRequest(ctx); err != nil {
			return c.conclude(ctx, err)
		}
	}
	if !c.prepared {
		if args, err = c.prepare(ctx, args); err != nil {
			return c.conclude(ctx, err)
		}
	}
	c.record.reach(history.Arguments)
	running, end, err := c.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	ctx = running // so that the record names the trace
	return c.execute(ctx, args)
}

// prepare is the part of a call's life before its request is built: the user is asked for arguments, the arguments are
// validated, the condition of the plan must hold, and the user must confirm. It has no deadline but the caller's, since
// a user takes time. The call continues with the returned arguments, which are those that the condition and the user
// have seen. The error is a [*Failure], or the error of the answer, which includes [mcp.ErrInputRequired].
func (c *Call) prepare(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
	args, err := c.validate(ctx, args)
	if err != nil {
		return nil, err
	}
	if err := c.confirm(ctx, args); err != nil {
		return nil, err
	}
	c.prepared = true
	return args, nil
}

// execute is the part of a call's life that has a deadline: the request is sent unless the cache has the response, and
// the response is read and rendered. A panic is a failure, too.
func (c *Call) execute(ctx context.Context, args json.RawMessage) (err error) {
	defer func() {
		if v := recover(); v != nil {
			c.r.Metrics.Panics.Inc()
			err = c.conclude(ctx, c.internal(ctx, fmt.Errorf("panic: %v", v), slog.String("stack", string(debug.Stack()))))
		}
	}()
	if c.Plan.Job.Callback != nil {
		if args, err = c.addCallbackURL(args); err != nil {
			return c.conclude(ctx, c.internal(ctx, err))
		}
	}
	resp, err := c.send(ctx, args)
	c.record.reach(history.Service)
	if err != nil {
		return c.conclude(ctx, err)
	}
	defer c.observe()
	if c.buffered {
		err = BufferedCall{c}.readAll(ctx, resp)
	} else {
		err = c.render(ctx, args, resp)
	}
	if err != nil && !c.answered {
		err = c.failed(ctx, err)
	}
	return c.conclude(ctx, err)
}

// render reads the response and writes the result of tools/call.
func (c *Call) render(ctx context.Context, args json.RawMessage, resp *http.Response) error {
	c.readHeaders(resp)
	switch {
	case c.Plan.Job.MayBegin(resp.StatusCode):
		return JobCall{c}.answerAccepted(ctx, args, resp)
	case resp.StatusCode < 300:
		return c.answerSuccess(ctx, resp)
	case c.Plan.PolledJob != nil && seesOther(resp.StatusCode):
		return JobCall{c}.answerSeeOther(ctx, resp)
	case render.IsRedirect(resp.StatusCode) && c.Plan.Operation.Answers.Redirects(resp.StatusCode):
		return c.answerRedirect(ctx, resp)
	}
	return c.serviceFailure(resp)
}

// Call is one run of a tool's operation. Only the goroutine of its request uses it. It has three parts: what goes between
// the gateway and the service is the embedded exchange, what the client gets is the embedded resultWriter, and Call itself
// has the steps in between. A call for another request than tools/call is a [BufferedCall] or a [JobCall].
type Call struct {
	resultWriter

	// How the call differs from tools/call.

	background bool      // no caller waits for it: it is not admitted and asks nobody, and only the audit log has its outcome
	prepared   bool      // arguments are validated and the call is confirmed
	indirect   *Indirect // nil if the tool is called by its own name

	buffered bool           // the call is a BufferedCall: parts and response are what it is made for, and the client gets nothing
	response *http.Response // the response that is buffered

	fieldsFault error // what is wrong with the model's list of fields

	// The job that the call starts.

	key    string   // identifies the call in the service's callback; "" if the service does not call back
	notify *url.URL // webhook of the caller for the end of the job; nil if the caller has none
}

// newCall returns a call of a plan for the caller of a request.
func (r *Runner) newCall(ctx context.Context, e *Endpoint, p *plan.Plan, req *mcp.Request, reply *mcp.Reply) *Call {
	var c *Call
	if r.recorded() {
		both := new(struct { // in one allocation
			Call
			callRecord
		})
		c, both.start = &both.Call, time.Now()
		c.record = &both.callRecord
	} else {
		c = new(Call)
	}
	c.exchange = exchange{
		r: r, record: c.record, Plan: p, Request: req, reply: reply, Endpoint: e,
		memory: responseMemory{budget: r.Responses, req: req, maxAnswer: p.MaxResponse, safe: p.ChangesNothing()},
	}
	if e.Guard != nil {
		c.Caller = auth.FromContext(ctx)
	}
	return c
}

// checkRequest checks the parts of tools/call that other requests don't have: the list of fields, the caller's webhook, tasks,
// and arguments that are repeated in headers.
func (c *Call) checkRequest(ctx context.Context) (err error) {
	if err := c.checkIndirect(); err != nil {
		return err
	}
	if c.fieldsFault != nil {
		return c.fieldsFault
	}
	if c.notify, err = c.Endpoint.Continuation.CallerWebhook(c.Request); err != nil {
		return err
	}
	if c.Plan.Job.RequiresTasks {
		if err := c.Request.RequireCapabilities(mcp.ClientTasks); err != nil {
			return c.withoutTasks(err)
		}
	}
	if c.Plan.Repeated != nil && c.Request.Family == mcp.Stateless && !c.r.Local && !InfoFrom(ctx).Operator {
		return checkRepeated(c.Request, c.Plan.Repeated)
	}
	return nil
}

// begin counts the call as running, and returns its context, which has its deadline, its credentials and its span, and
// the function that ends them. The error means that the gateway is at capacity, which other calls may have taken since it was
// checked.
func (c *Call) begin(ctx context.Context) (_ context.Context, end func(), err error) {
	p := c.Plan
	if err := c.reject(c.ticket.Start()); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	stop := func() bool { return false }
	if c.Request.Family == mcp.Legacy && p.Safe && c.Endpoint.cancelOnDisconnect {
		// In the legacy revisions a closed connection is no cancellation. A safe call can be stopped nevertheless:
		// its answer can no longer be read, and the service is spared the work.
		stop = context.AfterFunc(c.Request.HTTP.Context(), cancel)
	}
	ctx, c.sent = p.Attach(ctx, c.Request.HTTP.Header, c.Endpoint.Guard)
	c.reply.KeepAlive()
	ctx, c.span = c.r.Tracer.StartCall(ctx, telemetry.CallSpan{Method: c.Request.Method, Tool: p.Tool.Name, Revision: c.Request.Revision, API: p.Tool.API,
		TraceParent: c.Request.Meta.TraceParent, TraceState: c.Request.Meta.TraceState, Header: c.Request.HTTP.Header}, PendingCheckOf(ctx))
	return ctx, func() {
		if c.body != nil {
			_ = c.body.Close() // a second time unless there was a panic; the call occupies the bulkhead of the API until then
		}
		if c.span != nil {
			c.span.End()
		}
		stop()
		cancel()
		c.ticket.Stop()
		c.memory.end()
	}, nil
}

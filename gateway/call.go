package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"time"

	"go.opentelemetry.io/otel/trace"

	"drawbridge/auth"
	"drawbridge/auth/credential"
	"drawbridge/gateway/admission"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/redact"
	"drawbridge/gateway/render"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/upstream"
	"drawbridge/openapi"
	"drawbridge/openapi/answer"
)

// callTool answers tools/call: it finds the plan, checks the caller's scopes, and runs it.
func (g *Gateway) callTool(ctx context.Context, req *mcp.Request, reply *mcp.Reply) (err error) {
	e := endpointFrom(ctx)
	p := e.tool(req.Name)
	if p == nil {
		if req.Name == "" {
			return mcp.InvalidParams("params.name is missing: it must be the name of a tool")
		}
		g.refuse(ctx, e.callEndpoint, nil, auth.FromContext(ctx), req, telemetry.OutcomeUnknown)
		return unknownTool(req.Name)
	}
	var caller *auth.Principal
	if e.guard != nil {
		caller = auth.FromContext(ctx)
		if denied := e.authorize(caller, p); denied != nil {
			g.refuseScope(ctx, e.callEndpoint, p, caller, req)
			return denied
		}
	}
	c := call{g: g, ctx: ctx, req: req, reply: reply, plan: p, endpoint: e.callEndpoint, caller: caller}
	c.dropArguments()
	c.enter()
	defer func() { c.leave(err) }()
	if err = c.allowed(); err != nil {
		return err
	}
	if out := e.outbound; out != nil {
		if c.notify, err = out.wanted(req); err != nil {
			return err
		}
	}
	g.metrics.InFlight.Inc()
	defer g.metrics.InFlight.Dec()

	if p.job.RequiresTasks {
		if err := req.RequireCapabilities(mcp.ClientTasks); err != nil {
			return c.withoutTasks(err)
		}
	}
	if p.repeated != nil {
		if err := c.checkRepeated(); err != nil {
			return err
		}
	}
	args, err := c.permit(ctx, req.Arguments)
	if err != nil {
		return c.conclude(err)
	}
	end, err := c.begin()
	if err != nil {
		return err
	}
	defer end()
	return c.run(args)
}

// call is one run of a tool's operation: a tools/call, or a request that is answered by one, such as resources/read.
type call struct {
	g        *Gateway
	ctx      context.Context
	req      *mcp.Request
	reply    *mcp.Reply
	plan     *Plan
	endpoint *callEndpoint
	caller   *auth.Principal // nil if no token was required
	span     trace.Span      // nil if tracing is off

	// The arguments.

	args    json.RawMessage // the arguments as last validated or built into a request
	dropped []string        // JSON Pointers of the arguments that were dropped

	// The request to the service.

	target      *url.URL         // URL of the request as built
	extra       http.Header      // additional header fields; nil if there are none
	anew        bool             // bypasses the response cache
	start       time.Time        // when the request was sent; zero if none was
	sent        *credential.Sent // attached credentials that are in no configuration; nil if there can't be any
	sentSecrets *redact.Forms    // redacts sent; nil until it is needed

	// The response of the service.

	status     int                 // status of the last response; 0 if there was none
	body       io.ReadCloser       // unwrapped body of the last response; nil if there was none
	received   receivedCounter     // counts the bytes read from body; nil once they are recorded
	parts      []answer.Part       // parts of an answer with several, collected until the last one arrives
	location   string              // Location header as the service sent it; only its path is shown
	locator    *http.Response      // response that location belongs to
	unfollowed string              // why a redirect was not followed; "" if none was to be followed
	hiding     []*redact.Sensitive // sensitive fields of operations that report on a job, besides those of the plan

	// The result.

	answered bool               // the result was begun, so that no other can be given
	headers  render.HeaderNotes // headers of the response that the client sees
	note     string             // text that is given beside the answer; "" if there is none
	kept     *kept              // receives the result instead of the client; nil if the client gets it

	// The job that the call starts.

	key    string   // identifies the call in the service's callback; "" if the service does not call back
	notify *url.URL // webhook of the caller for the end of the job; nil if the caller has none

	// Limits and records.

	running         bool                   // counts against limits.max_calls
	large           budgetBody             // body of the last response, if memory is limited
	reservation     *admission.Reservation // memory of the request's large responses; nil until there is one
	ownsReservation bool
	callRecord      *callRecord // for the audit log; nil if there is none
}

// begin counts the call as running, and gives it its deadline, its credentials and its span. It returns the function
// that ends them. The error means that the gateway is at capacity, which other calls may have taken since it was
// checked.
func (c *call) begin() (end func(), err error) {
	p := c.plan
	if e := c.startRunning(); e != nil {
		return nil, e
	}
	ctx, cancel := context.WithTimeout(c.ctx, p.Timeout)
	stop := func() bool { return false }
	if c.req.Family == mcp.Legacy && p.safe && c.endpoint.cancelOnDisconnect {
		// In the legacy revisions a closed connection is no cancellation. A safe call can be stopped nevertheless:
		// its answer can no longer be read, and the service is spared the work.
		stop = context.AfterFunc(c.req.HTTP.Context(), cancel)
	}
	c.ctx, c.sent = p.attach(ctx, c.req.HTTP.Header, c.endpoint.guard)
	if p.Timeout > silence {
		c.reply.KeepAlive(silence)
	}
	c.ctx, c.span = c.g.tracer.StartCall(c.ctx, telemetry.CallSpan{Method: c.req.Method, Tool: p.Tool.Name, Revision: c.req.Revision, API: p.Tool.API,
		TraceParent: c.req.Meta.TraceParent, TraceState: c.req.Meta.TraceState, Header: c.req.HTTP.Header}, pendingCheckOf(c.ctx))
	return func() {
		if c.body != nil {
			_ = c.body.Close() // a second time unless there was a panic; the call occupies the bulkhead of the API until then
		}
		if c.span != nil {
			c.span.End()
		}
		stop()
		cancel()
		c.stopRunning()
		c.endReservation()
	}, nil
}

// run executes the plan. Every failure of the call itself becomes a result with isError, worded for the model; an error
// is returned only if the answer can't be delivered.
func (c *call) run(args json.RawMessage) (err error) {
	defer func() {
		if v := recover(); v != nil {
			c.g.metrics.Panics.Inc()
			err = c.conclude(c.internal(fmt.Errorf("panic: %v", v), slog.String("stack", string(debug.Stack()))))
		}
	}()
	if c.plan.job.Callback != nil {
		if args, err = c.calledBack(args); err != nil {
			return c.conclude(c.internal(err))
		}
	}
	resp, err := c.send(args)
	if err != nil {
		return c.conclude(err)
	}
	defer c.observe()
	c.readHeaders(resp)
	switch {
	case c.plan.job.MayBegin(resp.StatusCode):
		err = c.accepted(args, resp)
	case resp.StatusCode < 300:
		err = c.succeed(resp)
	case c.plan.polled != nil && seesOther(resp.StatusCode):
		err = c.seeOther(resp)
	case render.IsRedirect(resp.StatusCode) && c.plan.Operation.Answers.Redirects(resp.StatusCode):
		err = c.redirected(resp)
	default:
		err = c.refused(resp)
	}
	if err != nil && !c.answered {
		err = c.failed(err)
	}
	return c.conclude(err)
}

// send builds the request and sends it. The receiver of the response closes its body, or has answer.Plan.Read do so,
// and then calls observe.
func (c *call) send(args json.RawMessage) (*http.Response, error) {
	key := ""
	if c.plan.key != nil {
		args, key = c.plan.key.prepare(args)
	}
	ctx := c.ctx
	if c.span != nil {
		ctx = upstream.WithTemplate(ctx, c.plan.Operation.Path)
	}
	built, err := c.plan.Operation.Build(ctx, c.plan.base, args)
	if err != nil {
		return nil, c.unbuilt(err)
	}
	req := built.Request
	c.addDropped(built.Dropped)
	if key != "" {
		c.plan.key.attach(req.Header, key)
	}
	c.args, c.target = built.Args, req.URL
	for name, values := range c.extra {
		req.Header[name] = values
	}
	if err := c.accountable(c.ctx); err != nil {
		return nil, err
	}
	c.start = time.Now()
	resp, err := c.obtain(req)
	if err != nil {
		return nil, err
	}
	c.limitBody(resp)
	c.location, c.locator = resp.Header.Get("Location"), resp
	render.HideLocation(resp, c.redactor())
	waited := c.took()
	if waited > 0 {
		telemetry.Observe(c.plan.metrics.Traffic.Wait, c.span, waited)
	}
	if err := c.tellAnswer(resp.StatusCode, waited); err != nil {
		_ = resp.Body.Close()
		c.observe()
		return nil, err
	}
	return resp, nil
}

// observe records the time from sending the request to the end of its response.
func (c *call) observe() {
	if took := c.took(); took > 0 {
		telemetry.Observe(c.plan.metrics.Duration, c.span, took)
	}
}

// took returns the time since the request was sent, or 0 if none was.
func (c *call) took() time.Duration {
	if c.start.IsZero() {
		return 0
	}
	return time.Since(c.start)
}

// permit decides whether a call may proceed before anything of it is sent: the user is asked for arguments if the plan
// has an elicitation, the arguments are validated, the condition of the plan must hold, and the user must confirm. It
// has no deadline but the caller's, since a user takes time. The call continues with the returned arguments, which are
// those that the condition and the user have seen. The error is a *failure, or the error of the answer, which includes
// [mcp.ErrInputRequired].
func (c *call) permit(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
	p := c.plan
	c.args = args
	if p.condition == nil && !p.consent.needed && p.elicitation == nil && p.given() == p.Operation || requestInfoFrom(ctx).operator {
		return args, nil
	}
	var err error
	if p.elicitation != nil {
		if args, err = c.fill(ctx, args); err != nil {
			return nil, err
		}
	}
	var dropped []string
	if args, dropped, err = p.given().Check(args); err != nil {
		return nil, c.unbuilt(err)
	}
	c.addDropped(dropped)
	c.args = args
	if p.condition != nil {
		caller := c.caller
		if caller == nil && c.g.o.Local {
			caller = &auth.Principal{} // an unknown principal: conditions on arguments hold nevertheless
		}
		if allowed, err := p.permitted(ctx, caller, args); !allowed {
			return nil, &failure{telemetry.OutcomeCondition, err, notPermitted}
		}
	}
	if p.consent.needed {
		if err := c.confirm(ctx, args); err != nil {
			return nil, c.unasked(err)
		}
	}
	return args, nil
}

// failure is the error of a call that failed: the outcome for the metrics, the cause for the log and the text for the
// model.
type failure struct {
	outcome telemetry.Outcome
	cause   error // nil if the outcome says everything
	text    string
}

func (f *failure) Error() string {
	if f.cause != nil {
		return string(f.outcome) + ": " + f.cause.Error()
	}
	return string(f.outcome)
}

func (f *failure) Unwrap() error { return f.cause }

// conclude turns a failure into a result with isError; any other error is returned as the error of the answer.
func (c *call) conclude(err error) error {
	if err == nil { // fast path without allocations
		return nil
	}
	var f *failure
	if errors.As(err, &f) && !c.answered {
		if f.outcome == telemetry.OutcomeJob {
			return c.tellUntold(f.text)
		}
		if mcp.IsShutdown(c.ctx) && f.outcome == telemetry.Outcome(upstream.Canceled.String()) {
			c.done(f.outcome, f.cause)
			c.answered = true
			return f.cause // mcp turns it into an error that names the shutdown
		}
		var look *lookError // the job continues, and repeating the call would start another
		if refused := c.subjectRefused(f); refused != nil && c.kept == nil && !errors.As(err, &look) {
			c.done(f.outcome, f.cause)
			return refused
		}
		return c.fail(f.outcome, f.cause, f.text)
	}
	return err
}

// unbuilt returns the failure of a call whose request could not be built.
func (c *call) unbuilt(err error) error {
	var bad *openapi.ArgumentError
	var homeless *openapi.BaseError
	switch {
	case errors.As(err, &bad):
		return &failure{telemetry.OutcomeArguments, nil, bad.ToolMessage()}
	case errors.As(err, &homeless):
		return &failure{telemetry.OutcomeNoBase, err, homeless.ToolMessage()}
	}
	return c.internal(err)
}

// failed returns the failure of a call that the service did not answer, or not completely.
func (c *call) failed(err error) error {
	var f *failure
	if errors.As(err, &f) {
		return err
	}
	var e *upstream.Error
	known := errors.As(err, &e)
	var token *credential.TokenError
	var header *credential.HeaderError
	switch {
	case known && e.Kind == upstream.Canceled:
	case errors.As(err, &token):
		return &failure{telemetry.Outcome("token_" + token.Failure.String()), err, c.tokenMessage(token)}
	case errors.As(err, &header):
		return &failure{telemetry.OutcomeHeader, err, header.ToolMessage()}
	}
	if known {
		return &failure{telemetry.Outcome(e.Kind.String()), err, e.ToolMessage()}
	}
	var broken *answer.Error
	if errors.As(err, &broken) {
		kind := upstream.Protocol
		if broken.Truncated {
			kind = upstream.Truncated
		}
		return &failure{telemetry.Outcome(kind.String()), err, broken.ToolMessage()}
	}
	return c.internal(err)
}

// tokenMessage returns the text for the model about a missing token for the service. A call from the command line has
// no caller in the sense of a token exchange.
func (c *call) tokenMessage(e *credential.TokenError) string {
	if e.Failure == credential.NoCaller && c.caller == nil {
		return "The credential of the API is of type token_exchange: the service gets a token for that of the caller, and a call" +
			" without a login, such as one from the command line, has no caller. Nothing was sent to the service."
	}
	return e.ToolMessage()
}

// subjectRefused returns the error for a caller whose token the authorization server does not exchange: HTTP 401 with
// the challenge for an invalid token, so that the client gets another one and calls again. A model could do nothing
// about it. It returns nil if the call failed for another reason.
func (c *call) subjectRefused(f *failure) *mcp.Error {
	var e *credential.TokenError
	if f.outcome != telemetry.OutcomeSubjectRefused || c.endpoint.guard == nil || !errors.As(f.cause, &e) {
		return nil
	}
	return &mcp.Error{
		Code: mcp.CodeInvalidRequest, Message: "the authorization server does not accept the access token: get another one",
		HTTPStatus: http.StatusUnauthorized, Header: c.endpoint.guard.InvalidToken(c.caller),
	}
}

// internal returns the failure for an error that should not happen: the model gets a reference, the log the cause.
func (c *call) internal(cause error, attrs ...slog.Attr) error {
	reference := mcp.NewReference()
	c.g.log.LogAttrs(c.ctx, slog.LevelError, "internal error in a call", append(attrs,
		slog.String("reference", reference), slog.String("tool", c.plan.Tool.Name), slog.Any("error", cause))...)
	if c.answered {
		return fmt.Errorf("answer was begun: %w", cause)
	}
	return &failure{outcome: telemetry.OutcomeInternal, text: "Internal error of the gateway, reference " + reference +
		". The operator finds the cause in the log under this reference; calling again with other arguments may help."}
}

// done counts the outcome and writes the call's log line: at debug level if all went well, at warning level if the
// service or the gateway is at fault, subject to [telemetry.LogSampler]. Arguments and answers are never logged.
func (c *call) done(o telemetry.Outcome, cause error) {
	c.plan.metrics.Count(o)
	if cause != nil {
		if v := requestInfoOf(c.ctx); v != nil && v.operator {
			v.cause = cause
		}
	}
	if c.callRecord != nil {
		c.callRecord.outcome = o
	}
	c.tellOutcome(o)
	level := slog.LevelInfo
	switch o {
	case telemetry.OutcomeOK, telemetry.OutcomeArguments, telemetry.OutcomeAsked, telemetry.OutcomeJob:
		level = slog.LevelDebug
	case telemetry.OutcomeRedirect, telemetry.OutcomeClientError, telemetry.OutcomeSubjectRefused, telemetry.OutcomeUnconfirmed, telemetry.OutcomeUnanswered, telemetry.OutcomeJobFailed, telemetry.OutcomeNoTasks, telemetry.Outcome(upstream.Canceled.String()):
	default:
		level = slog.LevelWarn
	}
	if c.span != nil {
		telemetry.SetOutcome(c.span, c.req.Method, o)
	}
	line := telemetry.Sampled{Logged: true}
	if level == slog.LevelWarn {
		if line = c.g.faults.Sample(c.plan.Tool.API, string(o), time.Now()); !line.Logged {
			level = slog.LevelDebug
		}
	}
	if !c.g.log.Enabled(c.ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("api", c.plan.Tool.API), slog.String("tool", c.plan.Tool.Name), slog.String("outcome", string(o)),
		slog.String("principal", c.req.Principal),
	}
	if c.status != 0 {
		attrs = append(attrs, slog.Int("status", c.status))
	}
	if cause != nil {
		attrs = append(attrs, slog.Any("error", cause))
	}
	c.g.log.LogAttrs(c.ctx, level, "call", line.Attrs(attrs, "calls are only counted, by drawbridge_tool_calls_total")...)
}

package endpoint

import (
	"context"
	"log/slog"
	"net/http"

	"drawbridge/gateway/admission"
	"drawbridge/gateway/audit"
	"drawbridge/gateway/clientip"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/state"
	"drawbridge/gateway/telemetry"
)

// RequestAdmission refuses requests that exceed a rate limit or the capacity of the process, before they are served. The limits are those
// of package admission; this type applies them to HTTP requests and reports refusals. It is safe for concurrent use.
type RequestAdmission struct {
	Denials     *Denials
	Clients     *clientip.Resolver
	Addresses   *state.LocalRateCounters // rate counters per client address; local, since they protect this process
	Principals  state.RateCounters       // rate counters per principal
	MemoryShort func() bool
	Calls       *admission.Calls
	Log         *slog.Logger
}

// admitCall refuses a request that exceeds capacity before its token and its body are read, if its header names it as a
// tools/call. A refusal costs the least there, and a flood beyond capacity consists of such requests. It returns false
// if the request was refused and answered.
func (a *RequestAdmission) admitCall(w http.ResponseWriter, r *http.Request, v *Request) bool {
	if named := r.Header["Mcp-Method"]; len(named) != 1 || named[0] != "tools/call" {
		return true
	}
	if rejected := a.Calls.Check(v.Endpoint.MaxCalls, false); rejected != nil {
		a.Denials.count(rejected.Reason)
		v.setRequestIDHeader()
		mcp.WriteError(w, nil, rejected.Error)
		a.Denials.Record(r.Context(), r, telemetry.Outcome(rejected.Reason), rejected.Error.HTTPStatus, audit.Line{})
		return false
	}
	v.MemoryChecked = true
	return true
}

// keyPrefixNotification is the key prefix under which notifications and responses of a caller are counted: elicitation
// results, cancellations, ends of sessions. Their limit equals that of requests and is separate from it, so that a caller
// that sends too many requests does not lose the answers of its user.
const keyPrefixNotification = "said|"

// admit counts a request of an identified caller against its rate limit, and all requests of a batch but the first
// against that of the address as well.
func (a *RequestAdmission) admit(ctx context.Context, req *mcp.Request, reply *mcp.Reply) error {
	v := requestFrom(ctx)
	rates := &v.Endpoint.rates
	if req.BatchIndex > 1 && rates.Address != nil && v.Address != (clientip.Key{}) {
		if d := a.Addresses.TakeBytes(v.Address[:], rates.Address.Limit(), 1); !d.Allowed {
			return a.refuseRate(ctx, req, rates.Address, d)
		}
	}
	prefix := ""
	if req.ID == nil {
		prefix = keyPrefixNotification
	}
	return a.admitPrincipal(ctx, req, prefix, reply.Header())
}

// admitPlain is admit for a request that is no message of MCP. h is the header of its response.
func (a *RequestAdmission) admitPlain(ctx context.Context, req *mcp.Request, h http.Header) error {
	return a.admitPrincipal(ctx, req, "", h)
}

func (a *RequestAdmission) admitPrincipal(ctx context.Context, req *mcp.Request, prefix string, h http.Header) error {
	limit, key := requestFrom(ctx).Endpoint.rates.Of(ctx, req.Principal)
	if limit == nil || key == "" {
		return nil
	}
	key = prefix + key
	// The decision is valid even if the counter could not be reached.
	d, _ := a.Principals.Take(ctx, key, limit.Limit(), 1)
	if !d.Allowed {
		return a.refuseRate(ctx, req, limit, d)
	}
	limit.SetHeader(h, d.Remaining)
	return nil
}

// refuseRate counts a request of an identified caller that exceeds a rate limit, and writes its audit record.
func (a *RequestAdmission) refuseRate(ctx context.Context, req *mcp.Request, r *admission.RateLimit, d state.Decision) *mcp.Error {
	e, because := r.Refuse(d)
	a.Denials.count(because)
	a.Denials.Record(ctx, req.HTTP, telemetry.Outcome(because), e.HTTPStatus, audit.Line{RPC: req.Method})
	return e
}

// lowMemory reports whether memory is short, so that a request for a stream, or with a large body, is refused. A stream
// is long-lived: new ones are refused before the kernel kills the process, and with it those that are open.
func (a *RequestAdmission) lowMemory(r *http.Request) bool {
	if !a.MemoryShort() {
		return false
	}
	a.Denials.count(telemetry.RefusedMemory)
	a.Denials.Record(r.Context(), r, telemetry.Outcome(telemetry.RefusedMemory), http.StatusServiceUnavailable, audit.Line{})
	return true
}

// refuseStream counts a request for a notification stream that exceeds the limit of all streams, or of its caller's, and
// writes its audit record.
func (a *RequestAdmission) refuseStream(req *mcp.Request, ofCaller bool, status int) {
	because := telemetry.RefusedStreams
	if ofCaller {
		because = telemetry.RefusedCallerStreams
	}
	a.Denials.count(because)
	a.Denials.Record(req.HTTP.Context(), req.HTTP, telemetry.Outcome(because), status, audit.Line{RPC: req.Method})
}

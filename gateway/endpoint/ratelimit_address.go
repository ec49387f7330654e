package endpoint

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"time"

	"drawbridge/gateway/admission"
	"drawbridge/gateway/audit"
	"drawbridge/gateway/clientip"
	"drawbridge/gateway/listener"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/state"
	"drawbridge/gateway/telemetry"
)

// admitAddress counts a request against the rate limit of its address before its token is verified. It returns false if
// the request was refused and answered.
//
// All requests are counted, but a handshake is never refused by this limit: a client that can't even start does not
// know what to wait for. Only the body tells a handshake from other requests, and it is read only for requests that
// would be refused. The remaining cost of a flood of handshakes is bounded elsewhere: invalid tokens have a budget of
// their own ([auth.BadTokens]).
func (a *RequestAdmission) admitAddress(w http.ResponseWriter, r *http.Request, v *Request, limit *admission.RateLimit) bool {
	if v.Address == (clientip.Key{}) {
		return true
	}
	d := a.Addresses.TakeBytes(v.Address[:], limit.Limit(), 1)
	if d.Allowed {
		if v.Endpoint.Guard == nil { // otherwise the header is about the rate limit of the principal
			limit.SetHeader(w.Header(), d.Remaining)
		}
		return true
	}
	method, id := peek(r, v)
	if mcp.IsHandshake(method) {
		return true
	}
	a.refuseAddress(w, r, limit, d, id)
	return false
}

// refuseAddress counts and answers a request that exceeds the rate limit of its address, and writes its audit record.
func (a *RequestAdmission) refuseAddress(w http.ResponseWriter, r *http.Request, limit *admission.RateLimit, d state.Decision, id []byte) {
	e, because := limit.Refuse(d)
	a.Denials.count(because)
	setRequestIDHeader(r.Context())
	mcp.WriteError(w, id, e)
	a.Denials.Record(r.Context(), r, telemetry.Outcome(because), e.HTTPStatus, audit.Line{})
	if a.Log.Enabled(r.Context(), slog.LevelDebug) {
		client, _ := a.Clients.Address(r)
		a.Log.LogAttrs(r.Context(), slog.LevelDebug, "refused", slog.Any("client", client), slog.String("reason", string(because)))
	}
}

const (
	// maxPeekedBody is the maximum size in bytes of a body that may be a handshake.
	maxPeekedBody = 16 << 10
	// peekTimeout is the time limit for the body of a request that is about to be refused.
	peekTimeout = time.Second
)

// peek returns the method and the id of a request that is about to be refused; the method is "" if it can't be a
// handshake. The body can be read again afterwards.
func peek(r *http.Request, v *Request) (method string, id []byte) {
	if r.Method != http.MethodPost || v.transport == legacyStream || r.ContentLength > maxPeekedBody {
		return "", nil
	}
	// The header of newer clients suffices to rule a handshake out, but not to prove one: it is not compared with the
	// body of an older client.
	if named := r.Header["Mcp-Method"]; len(named) > 0 && !mcp.IsHandshake(named[0]) {
		return "", nil
	}
	listener.HurryBody(r, peekTimeout)
	body, err := io.ReadAll(io.LimitReader(r.Body, maxPeekedBody+1))
	if err != nil || len(body) > maxPeekedBody {
		return "", nil
	}
	method, id = mcp.PeekMethod(body, v.Endpoint.maxDepth)
	r.Body = &replayedBody{Reader: bytes.NewReader(body), Closer: r.Body}
	return method, id
}

// replayedBody is a body that can be read again.
type replayedBody struct {
	io.Reader
	io.Closer
}

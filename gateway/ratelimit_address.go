package gateway

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

// admitAddress counts a request for its address, before anybody looks at its token. False: it was refused, and answered.
//
// All requests are counted, but a handshake is never refused for their number: a client that can't even begin does not know what to
// wait for. Whether a request is one stands in its body, which is read for those alone that would be refused. What a flood of
// handshakes can still cost is bounded elsewhere: tokens that are no good have a budget of their own ([auth.BadTokens]).
func (g *Gateway) admitAddress(w http.ResponseWriter, r *http.Request, v *requestInfo, limit *admission.Rate) bool {
	if v.address == (clientip.Key{}) {
		return true
	}
	d := g.addresses.TakeBytes(v.address[:], limit.Limit(), 1)
	if d.Allowed {
		if v.endpoint.guard == nil { // else the rate of the principal is what concerns the caller
			limit.SetHeader(w.Header(), d.Remaining)
		}
		return true
	}
	method, id := peek(r, v)
	if mcp.IsHandshake(method) {
		return true
	}
	g.refuseAddress(w, r, limit, d, id)
	return false
}

func (g *Gateway) refuseAddress(w http.ResponseWriter, r *http.Request, limit *admission.Rate, d state.Decision, id []byte) {
	e, because := g.refuseByRate(limit, d)
	tellRequest(r.Context())
	mcp.WriteError(w, id, e)
	g.accountRefused(r.Context(), r, telemetry.Outcome(because), e.HTTPStatus, audit.Line{})
	if g.log.Enabled(r.Context(), slog.LevelDebug) {
		client, _ := g.clients.Address(r)
		g.log.LogAttrs(r.Context(), slog.LevelDebug, "refused", slog.Any("client", client), slog.String("reason", string(because)))
	}
}

const (
	// maxPeeked is the most bytes of a body that may be a handshake.
	maxPeeked = 16 << 10
	// peekPatience is how long the body of a request may take that is about to be refused.
	peekPatience = time.Second
)

// peek reads the method and the id of a request that is about to be refused; "" if it can't be a handshake. The body is there
// again afterwards.
func peek(r *http.Request, v *requestInfo) (method string, id []byte) {
	if r.Method != http.MethodPost || v.transport == oldStream || r.ContentLength > maxPeeked {
		return "", nil
	}
	// The header of newer clients may say that it is none. That it is one it can't say alone: nobody holds it against the body of an older client.
	if named := r.Header["Mcp-Method"]; len(named) > 0 && !mcp.IsHandshake(named[0]) {
		return "", nil
	}
	listener.HurryBody(r, peekPatience)
	body, err := io.ReadAll(io.LimitReader(r.Body, maxPeeked+1))
	if err != nil || len(body) > maxPeeked {
		return "", nil
	}
	method, id = mcp.PeekMethod(body, v.endpoint.gen.config.Limits.MaxDepth)
	r.Body = &reread{Reader: bytes.NewReader(body), Closer: r.Body}
	return method, id
}

// reread is a body that was read.
type reread struct {
	io.Reader
	io.Closer
}

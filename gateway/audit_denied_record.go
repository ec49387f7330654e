package gateway

import (
	"context"
	"net"
	"net/http"
	"time"

	"drawbridge/auth"
	"drawbridge/gateway/audit"
	"drawbridge/gateway/listener"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
)

// accountRefused writes the audit record of a request that was refused before it became a call. line has the fields
// that only the caller of accountRefused knows. Its outcomes are those for requests of unknown purpose, and the reasons
// of drawbridge_refused_total.
func (g *Gateway) accountRefused(ctx context.Context, r *http.Request, o telemetry.Outcome, status int, line audit.Line) {
	if g.audit == nil {
		return
	}
	line.Time, line.Decision, line.Outcome, line.Answered = time.Now(), audit.Refused, string(o), status
	line.Address, _ = g.clients.Address(r)
	if v := requestInfoOf(ctx); v != nil {
		line.Request = v.request()
		if v.endpoint != nil {
			line.Endpoint = v.endpoint.name
		}
	}
	if p := auth.FromContext(ctx); p != nil {
		line.Issuer, line.Subject, line.Client, line.Scopes = p.Issuer, p.Subject, p.ClientID, p.Scopes
	}
	g.audit.Refuse(&line)
}

// refuseConnection counts a connection that is closed because too many are open, and writes its audit record. The
// record has the address only if that address has too many. If all connections together are too many, no address is at
// fault, and the addresses of all that are turned away would displace those refused for other reasons.
func (g *Gateway) refuseConnection(why listener.Reason, from net.Addr) {
	because := telemetry.RefusalReason(why)
	g.metrics.Refused[because].Inc()
	if g.audit == nil {
		return
	}
	line := audit.Line{Time: time.Now(), Connection: true, Decision: audit.Refused, Outcome: string(because)}
	if because == telemetry.RefusedAddressConnections {
		line.Address = listener.AddressOf(from)
	}
	g.audit.Refuse(&line)
}

// refuseToken counts a request without a valid token, and writes its audit record and the request id in the response
// header.
func (g *Gateway) refuseToken(r *http.Request, reason string, status int) {
	tellRequest(r.Context())
	word := telemetry.ReasonLabel(reason)
	g.metrics.TokenRefused(word)
	g.accountRefused(r.Context(), r, telemetry.OutcomeUnauthenticated, status, audit.Line{Reason: word})
}

// refuseForeign writes the audit record of a request with a foreign Host or Origin, and the request id in the response
// header.
func (g *Gateway) refuseForeign(r *http.Request, origin bool) {
	tellRequest(r.Context())
	o := telemetry.OutcomeForeignHost
	if origin {
		o = telemetry.OutcomeForeignOrigin
	}
	g.accountRefused(r.Context(), r, o, http.StatusForbidden, audit.Line{})
}

// refusePrompt writes the audit record of a prompt that is refused for a scope. It returns the error, which may be that
// there is no such prompt.
func (g *Gateway) refusePrompt(ctx context.Context, req *mcp.Request, denied *mcp.Error) error {
	status := denied.HTTPStatus
	switch {
	case status != 0:
	case req.Family == mcp.Legacy:
		status = http.StatusOK // errors of the legacy revisions are ordinary responses
	default:
		status = http.StatusBadRequest
	}
	g.accountRefused(ctx, req.HTTP, telemetry.OutcomeScope, status, audit.Line{RPC: req.Method})
	return denied
}

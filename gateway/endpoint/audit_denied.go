package endpoint

import (
	"context"
	"net"
	"net/http"
	"time"

	"drawbridge/auth"
	"drawbridge/gateway/audit"
	"drawbridge/gateway/clientip"
	"drawbridge/gateway/inbound"
	"drawbridge/gateway/listener"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
)

// Denials counts what is refused before it becomes a call, and writes its audit records. It is safe for concurrent use.
type Denials struct {
	Metrics *telemetry.Metrics
	Audit   *audit.Log // nil if there is no audit log
	Clients *clientip.Resolver
}

// count counts a refusal in drawbridge_refused_total.
func (d *Denials) count(because telemetry.RefusalReason) { d.Metrics.Refused[because].Inc() }

// Record writes the audit record of a request that was refused before it became a call. line has the fields that only
// the caller of record knows. Its outcomes are those for requests of unknown purpose, and the reasons of
// drawbridge_refused_total.
func (d *Denials) Record(ctx context.Context, r *http.Request, o telemetry.Outcome, status int, line audit.Line) {
	if d.Audit == nil {
		return
	}
	line.Time, line.Decision, line.Outcome, line.Answered = time.Now(), audit.Refused, string(o), status
	line.Address, _ = d.Clients.Address(r)
	if v := inbound.Of(ctx); v != nil {
		line.Request, line.Endpoint = v.ID(), v.EndpointName
	}
	if p := auth.FromContext(ctx); p != nil {
		line.Credential, line.Issuer, line.Subject, line.Client, line.Scopes = string(p.Credential), p.Issuer, p.Subject, p.ClientID, p.Scopes
	}
	d.Audit.Refuse(&line)
}

// Connection counts a connection that is closed because too many are open, and writes its audit record. The record has
// the address only if that address has too many. If all connections together are too many, no address is at fault, and
// the addresses of all that are turned away would displace those refused for other reasons.
func (d *Denials) Connection(why listener.Reason, from net.Addr) {
	because := telemetry.RefusalReason(why)
	d.count(because)
	if d.Audit == nil {
		return
	}
	line := audit.Line{Time: time.Now(), Connection: true, Decision: audit.Refused, Outcome: string(because)}
	if because == telemetry.RefusedAddressConnections {
		line.Address = listener.AddressOf(from)
	}
	d.Audit.Refuse(&line)
}

// Scope writes the audit record of a prompt or a skill that is refused for a scope. It returns the error, which may be that there is
// none.
func (d *Denials) Scope(ctx context.Context, req *mcp.Request, denied *mcp.Error) error {
	status := denied.HTTPStatus
	switch {
	case status != 0:
	case req.Family == mcp.Legacy:
		status = http.StatusOK // errors of the legacy revisions are ordinary responses
	default:
		status = http.StatusBadRequest
	}
	d.Record(ctx, req.HTTP, telemetry.OutcomeScope, status, audit.Line{RPC: req.Method})
	return denied
}

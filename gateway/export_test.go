package gateway

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"drawbridge/gateway/admission"
	"drawbridge/gateway/audit"
	"drawbridge/gateway/call"
	"drawbridge/gateway/console"
	"drawbridge/gateway/diskcache"
	"drawbridge/gateway/endpoint"
	"drawbridge/gateway/generation"
	"drawbridge/gateway/listener"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/recovery"
	"drawbridge/gateway/reload"
	"drawbridge/gateway/resource"
	"drawbridge/gateway/state"
	"drawbridge/gateway/task"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/upstream"
)

// These are the parts of a gateway that its tests look at, or put into a state that no request brings about.

func (g *Gateway) Current() *generation.Generation        { return g.current.Load() }
func (g *Gateway) Table() *endpoint.Table                 { return g.endpoints() }
func (g *Gateway) Counters() *telemetry.Metrics           { return g.metrics }
func (g *Gateway) Tracer() *telemetry.Tracer              { return g.tracer }
func (g *Gateway) Recoverer() *recovery.Recoverer         { return g.recovery }
func (g *Gateway) Overload() *admission.LoadShedder       { return &g.admission.overload }
func (g *Gateway) Responses() *admission.ResponseBudget   { return g.admission.responses }
func (g *Gateway) CallRunner() *call.Runner               { return g.calls }
func (g *Gateway) Connections() *listener.Limiter         { return g.connections }
func (g *Gateway) Deployer() *generation.Deployer         { return g.deployer }
func (g *Gateway) Publish(d *generation.Deployment)       { g.publisher.Publish(d, reload.NotInUse{}) }
func (g *Gateway) Registry() *prometheus.Registry         { return g.o.Metrics }
func (g *Gateway) Builder() *generation.Builder           { return g.publisher.builder }
func (g *Gateway) MCPHandlers() *endpoint.Handlers        { return g.mcpHandlers }
func (g *Gateway) ReloadRunner() *reload.Runner           { return g.runner }
func (g *Gateway) Links() *mcp.SealedHandles              { return g.links }
func (g *Gateway) Store() *diskcache.Store                { return g.store }
func (g *Gateway) Shared() *state.Stores                  { return g.shared }
func (g *Gateway) Subscriptions() *resource.Subscriptions { return g.subscriptions }
func (g *Gateway) Tasks() *task.Tasks                     { return g.tasks }
func (g *Gateway) Trials() console.Trials                 { return trials{g.inProcess} }
func (g *Gateway) Public() *http.Handler                  { return &g.public }

// Clients returns the clients of the services by the names of their APIs.
func (g *Gateway) Clients() map[string]*upstream.Client { return *g.traffic.Load() }

// SetResponses replaces the memory budget of large responses.
func (g *Gateway) SetResponses(b *admission.ResponseBudget) {
	g.admission.responses, g.calls.Responses, g.tasks.Responses = b, b, b
}

// SetAudit gives a gateway an audit log after it was made.
func (g *Gateway) SetAudit(log *audit.Log) { g.denials.Audit, g.calls.Audit = log, log }

// SetRates replaces the rate counters of a gateway.
func (g *Gateway) SetRates(rates state.RateCounters) {
	g.shared.Rates, g.server.Admission.Principals, g.calls.Admission.Rates = rates, rates, rates
}

// Around is around, and ColumnsAround the columns that it shows.
var Around = around

const ColumnsAround = columnsAround

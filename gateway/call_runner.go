package gateway

import (
	"log/slog"
	"time"

	"drawbridge/gateway/admission"
	"drawbridge/gateway/audit"
	"drawbridge/gateway/cache"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/state"
	"drawbridge/gateway/telemetry"
)

// callRunner runs calls of tools. Its fields are everything that calls need of the process; what they need of the
// endpoint that they came in by is in [callEndpoint], and what they need of the tool in [plan.Plan]. It is safe for concurrent
// use.
type callRunner struct {
	log       *slog.Logger
	metrics   *telemetry.Metrics
	tracer    *telemetry.Tracer    // nil if tracing is off
	audit     *audit.Log           // nil if there is no audit log
	faults    telemetry.LogSampler // samples the log lines of failed calls
	cache     *cache.Cache         // response cache
	links     *mcp.SealedHandles   // seals the URIs of responses that are read later
	rates     state.Rates          // rate counters of tools and APIs
	overload  *admission.Controller
	responses *admission.ResponseBudget
	jitter    func(time.Duration) time.Duration // randomizes the intervals between job polls
	local     bool                              // serves the user that runs the program: no token is required
}

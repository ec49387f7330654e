package call

import (
	"log/slog"

	"drawbridge/gateway/admission"
	"drawbridge/gateway/audit"
	"drawbridge/gateway/cache"
	"drawbridge/gateway/driftcount"
	"drawbridge/gateway/filestore"
	"drawbridge/gateway/history"
	"drawbridge/gateway/telemetry"
)

// Runner runs calls of tools. Its fields are everything that calls need of the process; what they need of the
// endpoint that they came in by is in [Endpoint], and what they need of the tool in [plan.Plan]. It is safe for concurrent
// use.
type Runner struct {
	Log        *slog.Logger
	Metrics    *telemetry.Metrics
	Tracer     *telemetry.Tracer        // nil if tracing is off
	Operations *telemetry.MCPOperations // learn what a request has called; nil if nobody asks
	Audit      *audit.Log               // nil if there is no audit log
	faults     telemetry.LogSampler     // samples the log lines of failed calls
	History    *history.Recorder        // the calls of the last hour
	Cache      *cache.Cache             // response cache
	Files      *filestore.Store         // keeps responses that are too large for a model; nil if they are not kept
	Inline     int                      // the size in bytes from which a response is kept in Files
	FilePairs  []FilePair               // APIs between which callers may pass files on, besides those of one API
	Admission  *admission.Calls
	Responses  *admission.ResponseBudget
	Drift      *driftcount.Recorder // how calls and answers differ from the documents
	Local      bool                 // serves the user that runs the program: no token is required
}

// FilePair allows callers to pass files of one API on to another.
type FilePair struct{ From, To string }

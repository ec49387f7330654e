package gateway

import (
	"cmp"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"drawbridge/config"
	"drawbridge/gateway/audit"
	"drawbridge/gateway/diskcache"
	"drawbridge/gateway/generation"
	"drawbridge/gateway/inbound"
	"drawbridge/gateway/job/polling"
)

// Options configures a [Gateway].
type Options struct {
	// Config is the first configuration.
	Config *config.Config
	// LoadConfig rereads the configuration for [Gateway.Reload]. If it is nil, the configuration never changes and a
	// reload rereads only the documents.
	LoadConfig func(kept *config.Kept) (*config.Config, error)
	// Version is the program version reported in serverInfo.
	Version string
	// Logger receives all log records. Records are discarded if it is nil.
	Logger *slog.Logger
	// Metrics is the registry for the gateway's metrics, and the one that /metrics serves. If it is nil, New creates
	// one.
	Metrics *prometheus.Registry
	// TracerProvider creates the spans of requests and upstream calls. Tracing is off if it is nil.
	TracerProvider trace.TracerProvider
	// MeterProvider measures the operations of MCP by the names of OpenTelemetry's conventions. Nothing is measured there if it is nil.
	MeterProvider metric.MeterProvider
	// Audit receives one record per call. There is no audit log if it is nil. The caller of New runs its writer, for
	// longer than calls run.
	Audit *audit.Log
	// Advise makes [Gateway.Load] also compare the documents with the OpenAPI standard, which takes time.
	Advise bool
	// TryUsualPaths makes [Gateway.Load] look for a document at the usual paths if its location has none. The outcome names the URL.
	TryUsualPaths bool
	// CompareStored makes [Gateway.Load] also tell which documents a start would hold, in place of those in server.state_dir.
	CompareStored bool
	// Local makes a gateway for the user that runs the program: no token is required, whatever the configuration says,
	// and [Gateway.ServeLines] serves. [Gateway.Handler] must not be served then.
	Local bool
	// InUse, if not nil, is called by [Gateway.Run] with each reloaded configuration once it is in use.
	InUse func(*config.Config)
	// Unlocked serves all tools regardless of tools.lock. The commands that write that file need it.
	Unlocked bool
	// ConfigFile is the path of the configuration file. The access that it grants is recorded in server.state_dir, and
	// [New] rejects a configuration that grants more access than the last one that ran. Nothing is recorded or rejected
	// if it is empty.
	ConfigFile string
	// Accept makes [New] accept a configuration that grants more access than the last one that ran.
	Accept bool
	// StateDirs lists further directories for that record, because a truncated configuration file may name none.
	StateDirs []string
	// Progress, if not nil, is called by [Gateway.Load] after each document, from several goroutines.
	Progress func(done, all int)

	// Test replaces parts of the gateway that tests can't have as they are. It is zero in the program.
	Test TestOptions
}

// TestOptions replace the clock, the network and the state of a [Gateway] in tests.
type TestOptions struct {
	// Now is the clock for tokens, keys and certificates of services; [time.Now] if nil.
	Now func() time.Time
	// Jitter randomizes the intervals between job polls; ±10 % if nil.
	Jitter func(time.Duration) time.Duration
	// ReplaceFor is [reload.Options.ReplaceFor].
	ReplaceFor time.Duration
	// Store adjusts the last-known-good store.
	Store func(*diskcache.Options)
	// Service sends calls to services instead of the network.
	Service http.RoundTripper
	// FirstDeployment adjusts the deployment of Config before it is served.
	FirstDeployment func(*generation.Deployment)
}

// withDefaults returns the options with the defaults of those that are not set.
func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Logger = slog.New(inbound.LogHandler{Handler: o.Logger.Handler()})
	if o.Test.Jitter == nil {
		o.Test.Jitter = polling.Jitter
	}
	o.Metrics = cmp.Or(o.Metrics, prometheus.NewRegistry())
	return o
}

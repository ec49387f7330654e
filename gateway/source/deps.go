package source

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/trace"

	"drawbridge/config"
	"drawbridge/gateway/account"
	"drawbridge/gateway/admission"
	"drawbridge/gateway/diskcache"
	"drawbridge/gateway/filewatch"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi"
)

// Instances are the current addresses (host:port) of the instances of a discovered service.
type Instances interface {
	// Load returns all addresses.
	Load() []string
	// Documents returns the addresses that serve the document.
	Documents() []string
	// Having returns the addresses that serve an operation, such as "GET /orders/{id}"; nil if all do.
	Having(operation string) []string
	// Own reports whether a host, host[:port] as in a URL, is or recently was that of an instance.
	Own(host string) bool
	// Moved returns a channel that is closed when the document changes.
	Moved() <-chan struct{}
	// Came returns a channel that is closed when an instance is added.
	Came() <-chan struct{}
}

// Deps are the dependencies that all sources of a process share.
type Deps struct {
	// Version is the program version in the User-Agent header.
	Version string
	Logger  *slog.Logger
	Metrics *telemetry.Metrics
	// TracerProvider creates the spans of requests to services. Tracing is off if it is nil.
	TracerProvider trace.TracerProvider
	// Now is the clock for tokens, keys and certificates of services; time.Now if nil.
	Now func() time.Time
	// Panicked reports a recovered panic.
	Panicked func(what string, v any)
	// Keep runs f until it returns normally or ctx ends, and restarts it after a panic.
	Keep func(ctx context.Context, what string, f func())

	// Pace makes the work on documents yield to calls.
	Pace *openapi.Pace
	// MaxDocument is the maximum memory of one document while it is read, in bytes, or 0 if it is unlimited.
	MaxDocument int64
	// Documents is the memory budget of compiled documents.
	Documents *admission.DocumentBudget
	// LargeTexts holds a token for each document above [SmallText] that is being read; nil if memory is unlimited.
	LargeTexts chan struct{}

	// Instances returns the instances of a discovered service; nil if no service is discovered.
	Instances func(service config.ServiceID) Instances

	// Accounts are the accounts that callers have at services.
	Accounts *account.Accounts

	// Files is the notifier of changes of documents that are files.
	Files *filewatch.Notifier
	// Store is the last-known-good store; nil if documents are kept in memory only.
	Store *diskcache.Store
	// Updates receives the outcomes of attempts to load documents.
	Updates chan<- Update
	// SharedCache makes cache groups equal on all replicas, which share a response cache.
	SharedCache bool
	// Advise makes each load also compare the document with the OpenAPI standard, which takes time.
	Advise bool
	// TryUsualPaths makes a load search the usual paths if there is no document at its location, and report the URL.
	TryUsualPaths bool
	// Transport sends calls instead of the network; nil except in tests.
	Transport http.RoundTripper
}

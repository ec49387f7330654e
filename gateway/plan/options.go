package plan

import (
	"log/slog"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/job"
	"drawbridge/gateway/source"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi"
)

// Options are the parameters of [Compile].
type Options struct {
	// Config is the configuration.
	Config *config.Config
	// APIs are the configured APIs. Those without a document have no tools.
	APIs *source.Set
	// Count is the number of APIs for naming tools.
	Count int
	// Conditions are the compiled conditions of rules, by their text, see [CompileConditions].
	Conditions map[string]*auth.Condition
	// Programs are the compiled expressions of rules, see [CompilePrograms].
	Programs Programs
	// DefaultScopes are required where neither a rule nor a document names scopes; nil if no token is required.
	DefaultScopes []string
	// Lock holds the approved tools; nil if approval is off.
	Lock *config.Lock
	// Published are the names under which operations were published earlier.
	Published catalog.Published
	// Reserved are names that no operation gets, besides those of the built-in tools.
	Reserved []string
	// Before is the compilation before this one; nil if there is none. The plans of sources that have not changed since are
	// taken over. Metrics and GuessedJob are the same in all compilations.
	Before *Set
	// GuessedJob is the definition of jobs that neither a rule nor a document describes.
	GuessedJob *job.Definition
	// PublicURL returns the URL at which services reach the gateway, without a path.
	PublicURL func() string
	// Pace makes the compilation yield to calls.
	Pace *openapi.Pace
	// Metrics count calls and cached responses.
	Metrics *telemetry.Metrics
	// Logger receives a warning for each setting that can't be applied.
	Logger *slog.Logger
}

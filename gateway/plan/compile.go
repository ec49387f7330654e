package plan

import (
	"log/slog"
	"net/http"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/elicit"
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
	// Conditions are the compiled conditions of rules, by their text.
	Conditions map[string]*auth.Condition
	// DefaultScopes are required where neither a rule nor a document names scopes; nil if no token is required.
	DefaultScopes []string
	// Lock holds the approved tools; nil if approval is off.
	Lock *config.Lock
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

// Set is the result of a compilation: all tools of a configuration with their plans. It is immutable.
type Set struct {
	// Catalog has the definitions of all tools that are served.
	Catalog *catalog.Catalog
	// ByTool and ByOperation are the plans.
	ByTool      map[string]*Plan
	ByOperation map[*openapi.Operation]*Plan
	// Readable names the tools that are resources, in the order of the documents.
	Readable []string
	// Unapproved gives the reason why a tool is held back for lack of approval; HeldBack are these tools, sorted by name.
	Unapproved map[*openapi.Operation]string
	HeldBack   []*catalog.Tool
	// RenamedApprovals describes the tools that are approved under their former names.
	RenamedApprovals []string
	// Rejected are the settings that can't be applied, by name of the API.
	Rejected map[string]*Rejected
}

// Compile compiles the plans of all tools of a configuration from the documents that its APIs have loaded so far.
func Compile(o Options) *Set {
	set := &Set{ByTool: map[string]*Plan{}, ByOperation: map[*openapi.Operation]*Plan{}, Rejected: map[string]*Rejected{}}
	r := &rejections{config: o.Config, log: o.Logger, entries: o.APIs.Entries, byAPI: set.Rejected}
	e := newExposure(&o, r)
	set.Catalog = catalog.Build(e.apis(), catalog.Options{
		Prefix: namePrefix(o.Config.Tools.Prefix), APIs: o.Count, MaxName: o.Config.Tools.MaxName, Pace: o.Pace,
	})
	sources := map[string]*source.Source{}
	for _, s := range o.APIs.Sources {
		sources[s.Name] = s
	}
	holdBack(o.Lock, sources, set)
	for n, t := range set.Catalog.All() {
		o.Pace.Step()
		settings := e.settings[t.Operation]
		p := newPlan(&o, sources[t.API], t, settings, o.DefaultScopes)
		p.Elicitation, p.Job, p.Key = e.elicitations[t.Operation], e.jobs[t.Operation], e.keys[t.Operation]
		p.dropped = droppedArguments(r, p.Source, t, p.PublishedOperation())
		p.Retry = retryPolicyOf(settings, p.Key)
		p.Metrics = o.Metrics.Call(t.API, metricLabel(n, t.Name))
		checkParamHeaders(r, p.Source, t, settings.ParamHeaders)
		if len(p.Scopes) == 0 {
			o.Logger.Warn("no token can have the scopes that the document asks for; give them others with scope_map",
				"api", t.API, "tool", t.Name, "method", t.Operation.Method, "path", t.Operation.Path)
		}
		set.ByTool[t.Name], set.ByOperation[t.Operation] = p, p
	}
	setResponseHeaders(set.ByOperation)
	checkJobRequests(r, o.Pace, o.GuessedJob, set)
	setCachePolicies(r, o.Metrics, set.ByOperation, e.settings)
	setResources(r, o.APIs.Sources, set, e.settings)
	return set
}

// metricLabel returns the label of the n-th tool in metrics: only so many have one of their own.
func metricLabel(n int, name string) string {
	if n >= telemetry.MaxToolLabels {
		return telemetry.OtherTools
	}
	return name
}

// exposure decides which operations become tools, and compiles the settings that change their definitions.
type exposure struct {
	options      *Options
	rejections   *rejections
	settings     map[*openapi.Operation]config.Settings
	elicitations map[*openapi.Operation]*elicit.Operation
	jobs         map[*openapi.Operation]*job.Definition
	keys         map[*openapi.Operation]*IdempotencyKey
}

func newExposure(o *Options, r *rejections) *exposure {
	return &exposure{
		options: o, rejections: r, settings: map[*openapi.Operation]config.Settings{}, elicitations: map[*openapi.Operation]*elicit.Operation{},
		jobs: map[*openapi.Operation]*job.Definition{}, keys: map[*openapi.Operation]*IdempotencyKey{},
	}
}

// apis returns the APIs whose documents are loaded, for the catalog.
func (e *exposure) apis() (apis []catalog.API) {
	for _, s := range e.options.APIs.Sources {
		if s.Document != nil {
			apis = append(apis, catalog.API{Name: s.Name, Former: s.FormerName, Operations: s.Document.API.Operations,
				Choose: func(op *openapi.Operation) (catalog.Choice, bool) { return e.choose(s, op) }})
		}
	}
	return apis
}

// choose returns the choices of the configuration for a tool, or false if the operation does not become one.
func (e *exposure) choose(s *source.Source, op *openapi.Operation) (catalog.Choice, bool) {
	subject := source.Subject(s.Name, op)
	if !s.Config.Exposes(subject) {
		return catalog.Choice{}, false
	}
	set := e.options.Config.Settings(subject, s.Document.Extensions.Settings[op])
	e.settings[op] = set
	choice := catalog.Choice{
		Name: set.Name, Title: set.Title, Description: set.Description,
		Hidden:       set.Resource.On() && !set.Resource.Tool && op.Method == http.MethodGet,
		ParamHeaders: paramHeaders(op, set.ParamHeaders),
		Shapeless:    set.Progress.On() && set.Progress.Result != "",
	}
	given := op // with the arguments that callers pass
	e.jobs[op] = jobOf(e.rejections, e.options.GuessedJob, s, op, set)
	if callback := e.jobs[op].Callback; callback != nil {
		given, choice.Shown = callback.Given, callback.Given
	}
	e.keys[op] = idempotencyKeyOf(e.rejections, s, op, given, set)
	if key := e.keys[op]; key != nil && key.given != nil {
		given, choice.Shown = key.given, key.given
	}
	if len(set.Inputs) > 0 {
		if e.elicitations[op] = elicitationOf(e.rejections, s, op, given, set.Inputs); e.elicitations[op] != nil {
			choice.Shown = e.elicitations[op].Shown()
		}
	}
	return choice, true
}

func namePrefix(p config.Prefix) catalog.Prefix {
	switch p {
	case config.PrefixAlways:
		return catalog.Always
	case config.PrefixNever:
		return catalog.Never
	case config.PrefixAuto:
	}
	return catalog.Auto
}

package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"drawbridge/auth"
	"drawbridge/auth/credential"
	"drawbridge/config"
	"drawbridge/gateway/admission"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/elicit"
	"drawbridge/gateway/job"
	"drawbridge/gateway/projection"
	"drawbridge/gateway/redact"
	"drawbridge/gateway/render"
	"drawbridge/gateway/source"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/upstream"
	"drawbridge/openapi"
)

// Plan holds everything that calls of one tool need. It is immutable.
type Plan struct {
	// Tool is the definition that clients see.
	Tool *catalog.Tool
	// Operation describes the HTTP request and its responses.
	Operation *openapi.Operation
	// Scopes are alternatives: the caller needs all scopes of one set. An empty set means auth.default_scopes. Without any set no
	// caller may call.
	Scopes [][]string
	// Timeout is the time limit for the whole call.
	Timeout time.Duration
	// Source is the API of the operation, at the server of the plan.
	Source *source.Source
	// Servers are those that claims of callers select among; nil if there is nothing to select. See [Plan.For].
	Servers *source.Servers
	// Server identifies the server that was selected; "" if all calls have the same.
	Server string
	// Metrics count the calls.
	Metrics telemetry.CallMetrics

	// Before the request.

	// Condition must hold for a call; nil if there is none.
	Condition *auth.Condition
	// Consent is the policy by which the user must confirm calls.
	Consent Consent
	// Elicitation asks the user for arguments; nil if the user is not asked.
	Elicitation *elicit.Operation
	// Repeated are the arguments that clients repeat in headers (SEP-2243).
	Repeated []RepeatedArgument
	// Rates are the rate limits of the tool and its API, in addition to those of all requests.
	Rates []*admission.RateLimit

	// The request.

	// Requests builds the requests: Operation itself, unless rules change its arguments.
	Requests *openapi.Operation
	// Arguments are the changes that rules make to arguments; nil without changes.
	Arguments *Arguments
	// Claims are the claims of the caller's token that every request of the API needs.
	Claims []string
	// Client sends the requests.
	Client *upstream.Client
	// Base is the base URL; nil if the operation has none, see [openapi.Operation].BaseProblem.
	Base *url.URL
	// Safe reports whether a call changes nothing, by its method (RFC 9110 section 9.2.1) or annotations, so that it may be stopped at any time.
	Safe bool
	// Key makes idempotency keys; nil if requests carry none.
	Key *IdempotencyKey
	// Retry is the policy by which a request may be sent again.
	Retry upstream.RetryPolicy
	// HeaderTimeout decides whether the response header may take as long as the call.
	HeaderTimeout upstream.HeaderTimeout
	// FollowsRedirects reports whether redirects to the same origin are followed, by the rules of package call.
	FollowsRedirects bool
	// Credential is the credential of the operation; nil for the default of the API.
	Credential *credential.Choice
	// Secrets are the configured secrets of the API.
	Secrets *redact.Configured
	// PublicHosts are the hosts that the document names for its readers; nil if there are none.
	PublicHosts *redact.Hosts
	// PassesHeaders reports whether headers of the caller's request go on to the service.
	PassesHeaders bool
	// Personal reports whether the request carries values that depend on the caller.
	Personal bool

	// The response.

	// MaxResponse is the maximum size of a response, in bytes.
	MaxResponse int64
	// Sensitive are the fields that are hidden from responses; nil if there are none.
	Sensitive *redact.Sensitive
	// Clean removes invisible characters from responses.
	Clean bool
	// ResponseHeaders are those that are passed on.
	ResponseHeaders *render.Headers
	// Progress locates progress and results in streamed responses; nil if the default rules apply.
	Progress *render.EventRules
	// ShortText shortens the text beside structuredContent.
	ShortText bool
	// Failure finds responses with status 2xx that report a failure; nil if the status alone decides.
	Failure *projection.Failure
	// Projection reduces responses; nil if they are passed on as they are.
	Projection *Projection
	// Links selects the responses that are returned as resource links; nil if none are.
	Links *Links
	// Resource is the operation as a resource; nil if it can't be read as one.
	Resource *Resource
	// Cache selects the responses that are cached; nil if none are.
	Cache *CachePolicy
	// InvalidatesCache reports whether a call may make cached responses stale.
	InvalidatesCache bool

	// Jobs.

	// Job defines the jobs that calls may start.
	Job *job.Definition
	// PolledJob defines the jobs whose state or result calls report; nil if there are none.
	PolledJob *job.Definition

	number    int                  // among the tools of the compilation, by name
	publicURL func() string        // URL at which the service reaches the gateway, without a path
	given     *openapi.Operation   // Requests with the arguments that callers give
	siblings  []*openapi.Operation // all operations of the document
	// changed are the arguments of operations of the document that rules change.
	changed         map[*openapi.Operation]*changedArguments
	dropped         droppedArguments
	serverArguments serverArguments
	owner           credentialOwner
	// addsSecrets reports whether requests carry values that are in no configuration, such as tokens and identities.
	addsSecrets bool
}

// parts are the parts of a plan that depend on other tools or on the process.
type parts struct {
	metrics   telemetry.CallMetrics
	number    int           // among all tools
	publicURL func() string // without a path
	headers   *render.Headers
	hosts     *redact.Hosts
	job       *job.Definition
	polledJob *job.Definition
	resource  *Resource
	cache     *CachePolicy
	apiCached bool // responses of the API may be cached
	secrets   *redact.Configured
	changed   map[*openapi.Operation]*changedArguments
}

// newPlan returns the plan of a tool.
func newPlan(t *draft, c parts) *Plan {
	s, set := t.source, &t.settings
	p := &Plan{
		Tool: t.definition, Operation: t.operation, Source: s, Servers: t.servers, Scopes: t.scopes,
		Timeout: time.Duration(s.Limits.Timeout), Metrics: c.metrics,

		Condition: t.condition, Consent: t.consent, Elicitation: t.elicitation, dropped: t.dropped,
		Repeated: newRepeatedArguments(t.definition), Rates: admission.NewCallRateLimits(t.definition.Name, set.Rate, s.Name, s.Config.Rate),

		Client: s.Document.Client, Base: t.base(), Safe: t.safe, Key: t.key, Retry: newRetryPolicy(t.operation.Method, t.ruled, t.key),
		FollowsRedirects: s.Config.FollowRedirects == config.FollowSameOrigin, Credential: s.Document.Credentials.Choices[t.operation],
		Secrets: c.secrets, PublicHosts: c.hosts, PassesHeaders: len(s.Config.PassHeaders) > 0, addsSecrets: s.AddsSecrets, Personal: t.personal,

		MaxResponse: int64(s.Config.MaxAnswer), Sensitive: redact.NewSensitive(set.SensitiveFields), Clean: s.Config.Clean,
		ResponseHeaders: c.headers, Progress: render.NewEventRules(set.Progress), ShortText: s.Config.Answers == config.AnswersStructured,
		Failure: t.failure, Projection: t.projection, Links: newLinks(s.Config.Links, t.safe), Resource: c.resource, Cache: c.cache, InvalidatesCache: c.apiCached && !t.changesNothing(),

		Job: c.job, PolledJob: c.polledJob,

		Requests: t.requests, Arguments: t.arguments, Claims: s.Config.Request.Claims(), given: t.given, changed: c.changed,
		serverArguments: t.serverArguments, siblings: s.Document.API.Operations, publicURL: c.publicURL, number: c.number, owner: newCredentialOwner(s, t.operation),
	}
	if set.Clean != nil {
		p.Clean = *set.Clean
	}
	if own := time.Duration(cmp.Or(set.Timeout, s.Config.Timeout)); own > 0 {
		// It is set because the service may take that long to begin its response.
		p.Timeout, p.HeaderTimeout = own, upstream.NoHeaderTimeout
	}
	return p
}

// newResponseHeaders returns the response headers that the plans of each source pass on.
func newResponseHeaders(sources []*source.Source) map[*source.Source]*render.Headers {
	headers := map[*source.Source]*render.Headers{}
	for _, s := range sources {
		if s.Document != nil {
			headers[s] = render.NewHeaders(s.Config.AnswerHeaders, s.Document.API.Operations)
		}
	}
	return headers
}

// newPublicHosts returns the hosts that the document of each source names for its readers.
func newPublicHosts(sources []*source.Source) map[*source.Source]*redact.Hosts {
	hosts := map[*source.Source]*redact.Hosts{}
	for _, s := range sources {
		if s.Document != nil {
			hosts[s] = redact.NewPublicHosts(s.Document.API.Hosts)
		}
	}
	return hosts
}

// CallerOperation returns the operation with the arguments that callers pass, or are asked for.
func (p *Plan) CallerOperation() *openapi.Operation {
	return callerOperation(p.given, p.Job, p.Key)
}

// AsksUser reports whether calls of the plan need consent or input from the user.
func (p *Plan) AsksUser() bool { return asksUser(p.Consent, p.Elicitation) }

// ChangesNothing reports whether a call can't have changed anything, so that it can be repeated: it is safe, and no rule forbids retries.
func (p *Plan) ChangesNothing() bool { return p.Safe && p.Retry != upstream.RetryNever }

// Title returns the tool's title with its name, or the name alone.
func (p *Plan) Title() string {
	if title := strings.TrimSpace(p.Tool.Title); title != "" {
		return fmt.Sprintf("%q (%s)", title, p.Tool.Name)
	}
	return p.Tool.Name
}

// Permits reports whether the condition of the plan allows the call. The arguments must be those that the request is
// built from, so that one interpretation can't be permitted and another sent.
func (p *Plan) Permits(ctx context.Context, caller *auth.Principal, args json.RawMessage) (bool, error) {
	return p.Condition.Allows(ctx, caller, auth.ConditionTool{
		Name: p.Tool.Name, API: p.Tool.API, Method: p.Tool.Method, Path: p.Tool.Path,
	}, p.WithServer(args))
}

// keepApart makes values with slashes, which the plan sends because a parameter seems to be a path, stay away from the paths of operations
// that callers of the plan may not be allowed to call: a service or proxy may decode the slashes (ADR 0069).
func (p *Plan) keepApart(scopes *documentScopes) {
	requests := p.Requests.Apart(func(other *openapi.Operation) bool { return !scopes.cover(p.Scopes, other) })
	if p.given == p.Requests {
		p.given = requests
	}
	p.Requests = requests
}

// WithDefaultScopes returns the plan for an endpoint that has default scopes of its own.
func (p *Plan) WithDefaultScopes(c *config.Config, defaults []string) *Plan {
	own := *p
	s := p.Source
	own.Scopes = s.Document.Scopes(p.Operation, &s.Config, c.Settings(s.Subject(p.Operation), s.Document.Extensions.Settings[p.Operation]), defaults)
	if p.Requests.InfersSlashes() {
		own.keepApart(newDocumentScopes(c, s, defaults))
	}
	return &own
}

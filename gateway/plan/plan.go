package plan

import (
	"cmp"
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
	"drawbridge/gateway/redact"
	"drawbridge/gateway/render"
	"drawbridge/gateway/source"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/upstream"
	"drawbridge/openapi"
	"drawbridge/openapi/httpmethod"
)

// Plan holds everything that calls of one tool need. It is complete when [Compile] returns, and immutable.
type Plan struct {
	// Tool is the definition that clients see.
	Tool *catalog.Tool
	// Operation describes the HTTP request and its responses.
	Operation *openapi.Operation
	// Scopes are alternatives: the caller must have been granted all scopes of one set. An empty set stands for
	// auth.default_scopes; without any set nobody may call.
	Scopes [][]string
	// Timeout is the time limit for the whole call.
	Timeout time.Duration
	// Source is the API of the operation.
	Source *source.Source
	// Metrics count the calls.
	Metrics telemetry.CallMetrics

	// Before the request.

	// Condition must hold for a call; nil if there is none.
	Condition *auth.Condition
	// Consent says whether the user must confirm a call.
	Consent Consent
	// Elicitation asks the user for arguments; nil if there is nothing to ask for.
	Elicitation *elicit.Operation
	// Repeated are the arguments that clients repeat in headers (SEP-2243).
	Repeated []RepeatedArgument
	// Rates are the rate limits of the tool and its API; those of callers come on top.
	Rates []*admission.Rate

	// The request.

	// Client sends the requests.
	Client *upstream.Client
	// Base is the base URL; nil if the operation has none, see [openapi.Operation].BaseProblem.
	Base *url.URL
	// Safe reports whether the method is safe (RFC 9110 section 9.2.1), so that a call may be stopped at any time.
	Safe bool
	// Key makes idempotency keys; nil if requests carry none.
	Key *IdempotencyKey
	// Retry says whether a request may reach the service twice.
	Retry upstream.RetryPolicy
	// HeaderTimeout says whether the response header may take as long as the call.
	HeaderTimeout upstream.HeaderTimeout
	// FollowsRedirects reports whether redirects to the same origin that keep the method are followed.
	FollowsRedirects bool
	// Credential is that of the operation; nil if the default of the API applies.
	Credential *credential.Choice
	// Secrets are the configured secrets of the API.
	Secrets *redact.Configured
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
	// Links says which responses are returned as resource links; nil if none are.
	Links *Links
	// Resource is the operation as a resource; nil if it can't be read as one.
	Resource *Resource
	// Cache says which responses are cached; nil if none are.
	Cache *CachePolicy
	// InvalidatesCache reports whether a call may make cached responses stale.
	InvalidatesCache bool

	// Jobs.

	// Job defines the jobs that calls may start.
	Job *job.Definition
	// PolledJob defines the jobs whose state or result calls report; nil if there are none.
	PolledJob *job.Definition

	publicURL func() string        // URL at which the service reaches the gateway, without a path
	siblings  []*openapi.Operation // all operations of the document
	dropped   []string             // names of arguments that are dropped
	// addsSecrets reports whether requests carry values that are in no configuration, such as tokens and identities.
	addsSecrets bool
}

// newPlan compiles the plan of a tool, but for what depends on other plans. label is the name of the tool in metrics.
func newPlan(o *Options, r *rejections, e *operation, t *catalog.Tool, label string) *Plan {
	s, set := e.source, e.settings
	p := &Plan{
		Tool: t, Operation: t.Operation, Source: s, Metrics: o.Metrics.Call(t.API, label), Timeout: time.Duration(s.Limits.Timeout),

		Scopes: s.Document.Scopes(t.Operation, &s.Config, set, o.DefaultScopes), Condition: o.Conditions[set.Condition],
		Consent: NewConsent(o.Config, set, t.Annotations.Destructive), Elicitation: e.elicitation, dropped: droppedArguments(r, s, t, e.published),
		Repeated: repeatedArguments(t), Rates: admission.NewCallRates(t.Name, set.Rate, s.Name, s.Config.Rate),

		Client: s.Document.Client, Base: s.BaseURL(t.Operation), Safe: httpmethod.IsSafe(t.Operation.Method), Key: e.key,
		Retry: retryPolicyOf(set, e.key), FollowsRedirects: s.Config.FollowRedirects == config.FollowSameOrigin,
		Credential: s.Document.Credentials.Choices[t.Operation], Secrets: s.Secrets, PassesHeaders: len(s.Config.PassHeaders) > 0,
		addsSecrets: s.AddsSecrets, Personal: len(s.Config.PassHeaders) > 0 || s.Config.Exchanges() || s.Config.Identity != nil,
		publicURL: o.PublicURL, siblings: s.Document.API.Operations,

		MaxResponse: int64(s.Config.MaxAnswer), Sensitive: redact.NewSensitive(set.SensitiveFields), Clean: s.Config.Clean,
		Progress: render.NewEventRules(set.Progress), ShortText: s.Config.Answers == config.AnswersStructured,

		Job: e.job,
	}
	p.Links = newLinks(s.Config.Links, p.Safe)
	if set.Clean != nil {
		p.Clean = *set.Clean
	}
	if own := cmp.Or(set.Timeout, s.Config.Timeout); own > 0 {
		p.Timeout, p.HeaderTimeout = time.Duration(own), upstream.NoHeaderTimeout // a timeout of its own is set because the service may take that long to begin its answer
	}
	checkParamHeaders(r, s, t, set.ParamHeaders)
	if len(p.Scopes) == 0 {
		o.Logger.Warn("no token can have the scopes that the document requires; map them with scope_map",
			"api", t.API, "tool", t.Name, "method", t.Operation.Method, "path", t.Operation.Path)
	}
	return p
}

// CallerOperation returns the operation with the arguments that callers pass, or are asked for.
func (p *Plan) CallerOperation() *openapi.Operation {
	switch {
	case p.Key != nil && p.Key.given != nil:
		return p.Key.given
	case p.Job.Callback != nil:
		return p.Job.Callback.Given
	}
	return p.Operation
}

// AsksUser reports whether calls of the plan need consent or input from the user.
func (p *Plan) AsksUser() bool {
	return p.Consent.Needed || p.Elicitation != nil && (p.Elicitation.IsBroken() || p.Elicitation.Always())
}

// Title returns the tool's title with its name, or the name alone.
func (p *Plan) Title() string {
	if title := strings.TrimSpace(p.Tool.Title); title != "" {
		return fmt.Sprintf("%q (%s)", title, p.Tool.Name)
	}
	return p.Tool.Name
}

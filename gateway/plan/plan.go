package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
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
	"drawbridge/gateway/mcp"
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

// newPlan returns the part of a plan that needs nothing but the operation's own settings. defaults are the scopes that
// apply where neither rule nor document names any.
func newPlan(o *Options, s *source.Source, t *catalog.Tool, set config.Settings, defaults []string) *Plan {
	p := &Plan{
		Tool: t, Operation: t.Operation, Scopes: s.Document.Scopes(t.Operation, &s.Config, set, defaults), Condition: o.Conditions[set.Condition],
		Consent: NewConsent(o.Config, set, t.Annotations.Destructive), Progress: render.NewEventRules(set.Progress),
		Timeout: time.Duration(s.Limits.Timeout), Base: s.BaseURL(t.Operation), Client: s.Document.Client, Secrets: s.Secrets,
		Credential: s.Document.Credentials.Choices[t.Operation], PassesHeaders: len(s.Config.PassHeaders) > 0, addsSecrets: s.AddsSecrets,
		Personal:  len(s.Config.PassHeaders) > 0 || s.Config.Exchanges() || s.Config.Identity != nil,
		ShortText: s.Config.Answers == config.AnswersStructured, FollowsRedirects: s.Config.FollowRedirects == config.FollowSameOrigin,
		Safe: httpmethod.IsSafe(t.Operation.Method), Source: s, publicURL: o.PublicURL, siblings: s.Document.API.Operations,
		MaxResponse: int64(s.Config.MaxAnswer), Repeated: repeatedArguments(t), Rates: admission.NewCallRates(t.Name, set.Rate, s.Name, s.Config.Rate),
		Clean: s.Config.Clean, Sensitive: redact.NewSensitive(set.SensitiveFields),
	}
	p.Links = newLinks(s.Config.Links, p.Safe)
	if set.Clean != nil {
		p.Clean = *set.Clean
	}
	if own := cmp.Or(set.Timeout, s.Config.Timeout); own > 0 {
		p.Timeout, p.HeaderTimeout = time.Duration(own), upstream.NoHeaderTimeout // a timeout of its own is set because the service may take that long to begin its answer
	}
	return p
}

// Request builds the HTTP request of a call without sending it, and without the credential. Arguments that don't fit
// are an [*openapi.ArgumentError]. Without a base URL the request is for the host "base-url.invalid" (RFC 6761),
// because a preview of a request must not need one (S7).
func (p *Plan) Request(ctx context.Context, args json.RawMessage) (*http.Request, error) {
	base := p.Base
	if base == nil {
		base = &url.URL{Scheme: "http", Host: "base-url.invalid"}
	}
	args, _ = p.Drop(args)
	if cb := p.Job.Callback; cb != nil {
		args = cb.Arguments(args, p.publicURL()+CallbackPath+"TOKEN")
	}
	if p.Key == nil {
		return p.Operation.NewRequest(ctx, base, args)
	}
	args, key := p.Key.Prepare(args)
	req, err := p.Operation.NewRequest(ctx, base, args)
	if err == nil {
		p.Key.Attach(req.Header, key)
	}
	return req, err
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

// PassedHeaders returns the headers of a caller's request that go on to the service, if the plan passes any on.
func (p *Plan) PassedHeaders(inbound http.Header) http.Header {
	h := http.Header{}
	for _, passed := range p.Source.Config.PassHeaders {
		name := http.CanonicalHeaderKey(passed.From)
		if values := inbound[name]; len(values) > 0 {
			h[name] = values
		}
	}
	return h
}

// Attach returns the context of a call with the values that determine what is attached to its request, and sent, which
// records the attached secrets, or nil if they are all in the configuration. Where the whole API has one credential,
// the context is ctx itself.
func (p *Plan) Attach(ctx context.Context, header http.Header, guard *auth.Guard) (_ context.Context, sent *credential.Sent) {
	if p.Credential != nil {
		ctx = p.Credential.Context(ctx)
	}
	if p.PassesHeaders {
		ctx = (&source.Inbound{Header: header, Guard: guard}).Context(ctx)
	}
	if p.addsSecrets {
		sent = &credential.Sent{}
		ctx = sent.Context(ctx)
	}
	return ctx, sent
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

// CheckPassedHeaders returns an error for the client if a header holds a token for the gateway. It serves requests that are
// sent later, without the caller's request at hand.
func (p *Plan) CheckPassedHeaders(ctx context.Context, in *source.Inbound) error {
	for _, h := range p.Source.Config.PassHeaders {
		for _, value := range in.Header[http.CanonicalHeaderKey(h.From)] {
			if h.IsCredential() && in.HoldsGatewayToken(ctx, value) {
				return mcp.InvalidParams("the header %s holds a token for the gateway, which no service may get", h.From)
			}
		}
	}
	return nil
}

// setResponseHeaders sets the headers that plans pass on; the plans of an API share them.
func setResponseHeaders(plans map[*openapi.Operation]*Plan) {
	of := map[*source.Source]*render.Headers{}
	for _, p := range plans {
		if of[p.Source] == nil {
			of[p.Source] = render.NewHeaders(p.Source.Config.AnswerHeaders, p.siblings)
		}
		p.ResponseHeaders = of[p.Source]
	}
}

// Permits reports whether the condition of the plan allows the call. The arguments must be those that the request is
// built from, so that one interpretation can't be permitted and another sent.
func (p *Plan) Permits(ctx context.Context, caller *auth.Principal, args json.RawMessage) (bool, error) {
	return p.Condition.Allows(ctx, caller, auth.ConditionTool{
		Name: p.Tool.Name, API: p.Tool.API, Method: p.Operation.Method, Path: p.Operation.Path,
	}, args)
}

// CallbackPath is the path at which services report the end of a job; a token follows.
const CallbackPath = "/callbacks/"

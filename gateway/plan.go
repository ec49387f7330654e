package gateway

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

// Plan holds everything that calls of one tool need, compiled when the generation is built. It is immutable.
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

	source    *source.Source
	publicURL func() string        // URL at which the service reaches the gateway, without a path
	siblings  []*openapi.Operation // all operations of the document
	metrics   telemetry.CallMetrics

	// Before the request.

	condition        *auth.Condition   // nil if calls have no condition
	consent          consent           // whether the user must confirm a call
	elicitation      *elicit.Operation // nil if the user is asked for no arguments
	droppedArguments []string          // names of arguments that are dropped
	repeated         []repeated        // arguments that clients repeat in headers (SEP-2243)
	rates            []*admission.Rate // rate limits of the tool and its API; those of callers come on top

	// The request.

	client        *upstream.Client
	base          *url.URL               // base URL; nil if the operation has none, see Operation.BaseProblem
	safe          bool                   // the method is safe (RFC 9110 section 9.2.1), so that a call may be stopped at any time
	key           *requestKey            // idempotency key; nil if requests carry none
	retry         upstream.RetryPolicy   // whether a request may reach the service twice
	headerTimeout upstream.HeaderTimeout // whether the response header may take as long as the call
	follow        bool                   // follows redirects to the same origin that keep the method
	choice        *credential.Choice     // credential of the operation; nil if the API's default applies
	secrets       *redact.Configured     // configured secrets of the API
	inbound       bool                   // passes headers of the caller's request on to the service
	dynamic       bool                   // attaches values that are in no configuration, such as tokens and identities
	personal      bool                   // attaches values that depend on the caller

	// The answer.

	maxAnswer        int64              // maximum size of an answer, in bytes
	sensitive        *redact.Sensitive  // nil if no field of an answer is hidden
	clean            bool               // removes invisible characters from answers
	responseHeaders  *render.Headers    // response headers that are passed on; nil if there are none
	progress         *render.EventRules // nil if the default rules apply
	shortText        bool               // shortens the text beside structuredContent
	links            *links             // nil if no answer is given as a resource link
	resource         *readable          // nil if the operation can't be read as a resource
	cachePolicy      *cachePolicy       // nil if answers are not cached
	invalidatesCache bool               // a call may invalidate cached responses

	// Jobs.

	job    *job.Definition // jobs that calls may start
	polled *job.Definition // jobs whose state or result calls report; nil if there are none
}

// newPlan compiles the plan of a tool. defaults are the scopes that apply where neither rule nor document names any.
func (g *Gateway) newPlan(d *deployment, s *source.Source, t *catalog.Tool, set config.Settings, defaults []string) *Plan {
	p := &Plan{
		Tool: t, Operation: t.Operation, Scopes: s.Document.Scopes(t.Operation, &s.Config, set, defaults), condition: d.conditions[set.Condition],
		consent: consentOf(d.config, set, t.Annotations.Destructive), progress: render.NewEventRules(set.Progress),
		Timeout: time.Duration(s.Limits.Timeout), base: s.BaseURL(t.Operation), client: s.Document.Client, secrets: s.Secrets,
		choice: s.Document.Credentials.Choices[t.Operation], inbound: len(s.Config.PassHeaders) > 0, dynamic: s.AddsSecrets, personal: len(s.Config.PassHeaders) > 0 || s.Config.Exchanges() || s.Config.Identity != nil,
		shortText: s.Config.Answers == config.AnswersStructured, follow: s.Config.FollowRedirects == config.FollowSameOrigin,
		safe: httpmethod.IsSafe(t.Operation.Method), source: s, publicURL: g.base, siblings: s.Document.API.Operations,
	}
	p.maxAnswer = int64(s.Config.MaxAnswer)
	p.repeated, p.rates, p.clean = repeatedOf(t), admission.NewCallRates(t.Name, set.Rate, s.Name, s.Config.Rate), s.Config.Clean
	if set.Clean != nil {
		p.clean = *set.Clean
	}
	p.sensitive, p.links = redact.NewSensitive(set.SensitiveFields), answerLinks(s.Config.Links, p.safe)
	if own := cmp.Or(set.Timeout, s.Config.Timeout); own > 0 {
		p.Timeout, p.headerTimeout = time.Duration(own), upstream.NoHeaderTimeout // a timeout of its own is set because the service may take that long to begin its answer
	}
	return p
}

// Request builds the HTTP request of a call without sending it, and without the credential. Arguments that don't fit
// are an [*openapi.ArgumentError]. Without a base URL the request is for the host "base-url.invalid" (RFC 6761),
// because a preview of a request must not need one (S7).
func (p *Plan) Request(ctx context.Context, args json.RawMessage) (*http.Request, error) {
	base := p.base
	if base == nil {
		base = &url.URL{Scheme: "http", Host: "base-url.invalid"}
	}
	args, _ = p.Drop(args)
	if cb := p.job.Callback; cb != nil {
		args = cb.Arguments(args, p.publicURL()+callbackPath+"TOKEN")
	}
	if p.key == nil {
		return p.Operation.NewRequest(ctx, base, args)
	}
	args, key := p.key.prepare(args)
	req, err := p.Operation.NewRequest(ctx, base, args)
	if err == nil {
		p.key.attach(req.Header, key)
	}
	return req, err
}

// given returns the operation with the arguments that callers pass, or are asked for.
func (p *Plan) given() *openapi.Operation {
	switch {
	case p.key != nil && p.key.given != nil:
		return p.key.given
	case p.job.Callback != nil:
		return p.job.Callback.Given
	}
	return p.Operation
}

// passed returns the headers of a caller's request that go on to the service, if the plan passes any on.
func (p *Plan) passed(inbound http.Header) http.Header {
	h := http.Header{}
	for _, passed := range p.source.Config.PassHeaders {
		name := http.CanonicalHeaderKey(passed.From)
		if values := inbound[name]; len(values) > 0 {
			h[name] = values
		}
	}
	return h
}

// attach returns the context of a call with the values that determine what is attached to its request, and sent, which
// records the attached secrets, or nil if they are all in the configuration. Where the whole API has one credential,
// the context is ctx itself.
func (p *Plan) attach(ctx context.Context, header http.Header, guard *auth.Guard) (_ context.Context, sent *credential.Sent) {
	if p.choice != nil {
		ctx = p.choice.Context(ctx)
	}
	if p.inbound {
		ctx = (&source.Inbound{Header: header, Guard: guard}).Context(ctx)
	}
	if p.dynamic {
		sent = &credential.Sent{}
		ctx = sent.Context(ctx)
	}
	return ctx, sent
}

// giveHeaders determines which response headers each plan passes on.
func (gen *generation) giveHeaders(plans map[*openapi.Operation]*Plan) {
	of := map[*source.Source]*render.Headers{}
	for _, p := range plans {
		if of[p.source] == nil {
			of[p.source] = render.NewHeaders(p.source.Config.AnswerHeaders, p.siblings)
		}
		p.responseHeaders = of[p.source]
	}
}

// asksUser reports whether calls of the plan need consent or input from the user.
func (p *Plan) asksUser() bool {
	return p.consent.needed || p.elicitation != nil && (p.elicitation.IsBroken() || p.elicitation.Always())
}

// title returns the tool's title with its name, or the name alone.
func (p *Plan) title() string {
	if title := strings.TrimSpace(p.Tool.Title); title != "" {
		return fmt.Sprintf("%q (%s)", title, p.Tool.Name)
	}
	return p.Tool.Name
}

// checkPassed returns an error for the client if a header holds a token for the gateway. It serves requests that are
// sent later, without the caller's request at hand.
func (p *Plan) checkPassed(ctx context.Context, in *source.Inbound) error {
	for _, h := range p.source.Config.PassHeaders {
		for _, value := range in.Header[http.CanonicalHeaderKey(h.From)] {
			if h.IsCredential() && in.HoldsGatewayToken(ctx, value) {
				return mcp.InvalidParams("the header %s holds a token for the gateway, which no service may get", h.From)
			}
		}
	}
	return nil
}

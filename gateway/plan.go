package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"drawbridge/auth"
	"drawbridge/auth/credential"
	"drawbridge/config"
	"drawbridge/gateway/admission"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/elicit"
	"drawbridge/gateway/job"
	"drawbridge/gateway/redact"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/upstream"
	"drawbridge/openapi"
	"drawbridge/openapi/httpmethod"
)

// Plan is all that a call of one tool needs, worked out when its generation was built. It is immutable.
type Plan struct {
	// Tool is the definition, Operation the wire.
	Tool      *catalog.Tool
	Operation *openapi.Operation
	// Scopes are sets of which the caller must have been granted one. An empty set stands for auth.default_scopes; without
	// any set nobody may call.
	Scopes [][]string
	// Timeout is the time for the whole call.
	Timeout time.Duration

	condition   *auth.Condition // nil: there is none
	consent     consent
	elicitation *elicit.Operation // nil if the user is asked for no arguments
	sensitive   *redact.Sensitive // nil if no field of an answer is hidden
	clean       bool              // what nobody sees goes out of answers
	cachePolicy *cachePolicy      // keeps answers; nil: nobody does
	changes     bool              // the call may make kept answers stale
	resource    *readable         // nil: it can't be read as one
	links       *links            // nil: all answers are given as they are
	heads       *answerHeads      // nil: no headers of answers are passed on
	progress    *eventRules       // nil: the usual ones
	job         *job.Definition   // what is known of the jobs that calls begin
	polled      *job.Definition   // the rule's jobs of which calls tell the state or the result; nil: there are none

	drop      []string          // arguments that are dropped
	repeated  []repeated        // that stand in headers too
	maxAnswer int64             // bytes of an answer
	rates     []*admission.Rate // that its calls count against, besides those of their callers

	client   *upstream.Client
	key      *requestKey            // by which the service knows a request that it has seen; nil: there is none
	repeat   upstream.RetryPolicy   // whether a request may reach the service twice
	patience upstream.HeaderTimeout // whether the head of an answer may take as long as the call
	secrets  *redact.Configured     // of the API
	choice   *credential.Choice     // what authenticates the call; nil: the API's default does
	inbound  bool                   // headers of the caller's request go on to the service
	dynamic  bool                   // what is attached is in no configuration: tokens, identities
	personal bool                   // what is attached depends on the caller
	follow   bool                   // redirects to the same origin that keep the method are followed
	short    bool                   // where an answer goes out as structuredContent, the text beside it is short
	base     *url.URL               // nil: the operation has none, see Operation.BaseProblem
	safe     bool                   // the method is safe (RFC 9110 section 9.2.1): it may be stopped at any time
	metrics  telemetry.CallMetrics
	source   *source
	siblings []*openapi.Operation // all of its document
}

// newPlan works out what a tool's calls need. defaults are the scopes where nothing else says which.
func (g *Gateway) newPlan(d *deployment, s *source, t *catalog.Tool, set config.Settings, defaults []string) *Plan {
	p := &Plan{
		Tool: t, Operation: t.Operation, Scopes: s.scopesOf(t.Operation, set, defaults), condition: d.conditions[set.Condition],
		consent: consentOf(d.config, set, t.Annotations.Destructive), progress: eventRulesOf(set.Progress),
		Timeout: time.Duration(s.limits.Timeout), base: s.base(t.Operation), client: s.loaded.client, secrets: s.secrets,
		choice: s.loaded.choices.of[t.Operation], inbound: s.attached.inbound, dynamic: s.attached.dynamic, personal: s.attached.inbound || s.config.Exchanges() || s.config.Identity != nil,
		short: s.config.Answers == config.AnswersStructured, follow: s.config.FollowRedirects == config.FollowSameOrigin,
		safe: httpmethod.IsSafe(t.Operation.Method), source: s, siblings: s.loaded.api.Operations,
	}
	p.maxAnswer = int64(s.config.MaxAnswer)
	p.repeated, p.rates, p.clean = repeatedOf(t), admission.NewCallRates(t.Name, set.Rate, s.name, s.config.Rate), s.config.Clean
	if set.Clean != nil {
		p.clean = *set.Clean
	}
	p.sensitive, p.links = redact.NewSensitive(set.SensitiveFields), answerLinks(s.config.Links, p.safe)
	if own := cmp.Or(set.Timeout, s.config.Timeout); own > 0 {
		p.Timeout, p.patience = time.Duration(own), upstream.NoHeaderTimeout // that the service may think for so long is why it is set
	}
	return p
}

// Request builds the HTTP request of a call without sending it, and without the credential. Arguments that don't
// fit are an [*openapi.ArgumentError]. Without a base URL the request is for the host "base-url.invalid" (RFC 6761), because
// looking at a request must not need one (S7).
func (p *Plan) Request(ctx context.Context, args json.RawMessage) (*http.Request, error) {
	base := p.base
	if base == nil {
		base = &url.URL{Scheme: "http", Host: "base-url.invalid"}
	}
	args, _ = p.Drop(args)
	if cb := p.job.Callback; cb != nil {
		args = cb.Arguments(args, p.source.g.base()+callbackPath+"TOKEN")
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

// given is the operation with the arguments that callers give, or are asked for.
func (p *Plan) given() *openapi.Operation {
	switch {
	case p.key != nil && p.key.given != nil:
		return p.key.given
	case p.job.Callback != nil:
		return p.job.Callback.Given
	}
	return p.Operation
}

// passed returns those headers of a caller's request that go on to the service, where the plan has any.
func (p *Plan) passed(inbound http.Header) http.Header {
	h := http.Header{}
	for _, passed := range p.source.config.PassHeaders {
		name := http.CanonicalHeaderKey(passed.From)
		if values := inbound[name]; len(values) > 0 {
			h[name] = values
		}
	}
	return h
}

// attach returns the context of a call with what decides what is attached to its request, and sent, which then knows what
// was; nil if the configuration says it. Where there is one credential for the whole API, ctx is as it was.
func (p *Plan) attach(ctx context.Context, header http.Header, guard *auth.Guard) (_ context.Context, sent *credential.Sent) {
	if p.choice != nil {
		ctx = p.choice.Context(ctx)
	}
	if p.inbound {
		ctx = context.WithValue(ctx, inboundKey{}, &inbound{header, guard})
	}
	if p.dynamic {
		sent = &credential.Sent{}
		ctx = sent.Context(ctx)
	}
	return ctx, sent
}

package plan

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"drawbridge/auth"
	"drawbridge/auth/credential"
	"drawbridge/config"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/redact"
	"drawbridge/gateway/source"
)

// CallbackPath is the path at which services report the end of a job; a token follows.
const CallbackPath = "/callbacks/"

// Request builds the HTTP request of a call without sending it, and without the credential; secrets that the API adds to
// requests are redacted, and claims have a placeholder. Arguments that don't fit
// are an [*openapi.ArgumentError]. Without a base URL, or if a claim selects it, the request is for the host "base-url.invalid" (RFC 6761),
// because a preview of a request must not need one (S7).
func (p *Plan) Request(ctx context.Context, args json.RawMessage) (*http.Request, error) {
	if selected, err := p.For(nil); err == nil {
		p = selected
	}
	base := p.Base
	if base == nil || p.Servers != nil {
		base = &url.URL{Scheme: "http", Host: "base-url.invalid"}
	}
	args, _ = p.Drop(args)
	if p.Arguments != nil {
		var err error
		if args, _, err = p.CallerOperation().Check(args); err != nil {
			return nil, err
		}
		if args, err = p.Arguments.Preview(args); err != nil {
			return nil, err
		}
	}
	if cb := p.Job.Callback; cb != nil {
		args = cb.Arguments(args, p.publicURL()+CallbackPath+"TOKEN")
	}
	key := ""
	if p.Key != nil {
		args, key = p.Key.Prepare(args)
	}
	req, err := p.Requests.NewRequest(ctx, base, args)
	if err != nil {
		return nil, err
	}
	if p.Key != nil {
		p.Key.Attach(req.Header, key)
	}
	if r := p.Source.Config.Request; r != nil && p.Base != nil && p.Servers == nil && p.Source.HasOrigin(p.Base) {
		previewValues(req, r)
	}
	return req, nil
}

// previewValues adds the headers and query parameters of an API to a request that is not sent.
func previewValues(req *http.Request, r *config.APIRequest) {
	text := func(v *config.RequestValue) string {
		switch {
		case v.Claim != "":
			return previewedClaim
		case !v.Secret.IsZero():
			return redact.Placeholder
		}
		return v.Value
	}
	for name, v := range r.Headers {
		req.Header.Set(name, text(v))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Query)) {
		if req.URL.RawQuery != "" {
			req.URL.RawQuery += "&"
		}
		req.URL.RawQuery += url.QueryEscape(name) + "=" + url.QueryEscape(text(r.Query[name]))
	}
}

// Drop removes the arguments that are dropped. It returns the others, and the sorted JSON Pointers of the dropped ones.
func (p *Plan) Drop(args json.RawMessage) (kept json.RawMessage, dropped []string) {
	return p.dropped.drop(args)
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

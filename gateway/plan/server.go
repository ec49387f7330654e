package plan

import (
	"net/url"

	"drawbridge/auth"
	"drawbridge/auth/credential"
	"drawbridge/gateway/admission"
	"drawbridge/gateway/job"
	"drawbridge/openapi"
)

// unselected is the base URL of a plan whose server is not selected yet. Its host has no address (RFC 6761 section 6.4), so that a request
// that is built without a selection goes nowhere.
var unselected = &url.URL{Scheme: "https", Host: "unselected.invalid"}

// For returns the plan with the server of a caller, who may be nil: the plan itself if all calls have the same server. The error is a
// [*credential.ServerError]; the plan then has no server that could be called.
func (p *Plan) For(caller *auth.Principal) (*Plan, error) {
	if p.Servers == nil {
		return p, nil
	}
	s, key, err := p.Servers.For(caller)
	if err != nil {
		return p, err
	}
	own := *p
	own.Servers, own.Server, own.Source = nil, key, s
	own.Base, own.Client, own.Credential = s.BaseURL(p.Operation), s.Document.Client, s.Document.Credentials.Choices[p.Operation]
	own.owner = newCredentialOwner(s, p.Operation)
	if p.Cache != nil {
		cache := *p.Cache
		cache.Group = s.CacheGroup
		own.Cache = &cache
	}
	own.Rates = make([]*admission.RateLimit, len(p.Rates))
	for i, r := range p.Rates {
		own.Rates[i] = r.At(key)
	}
	return &own, nil
}

// base returns the base URL that a plan has before a server is selected.
func (t *draft) base(selects bool) *url.URL {
	base := t.source.BaseURL(t.operation)
	if selects && base != nil {
		return unselected
	}
	return base
}

// CredentialOf returns the credential of a request about a job of the plan, at its server.
func (p *Plan) CredentialOf(r *job.Request) *credential.Choice {
	if p.Server == "" {
		return r.Credential
	}
	return job.OrDefault(p.Source.Document.Credentials.Choices[r.Operation])
}

// BaseOf returns the base URL of another operation of the API, at the server of the plan; nil if it has none.
func (p *Plan) BaseOf(op *openapi.Operation) *url.URL {
	if p.Servers != nil {
		return unselected
	}
	return p.Source.BaseURL(op)
}

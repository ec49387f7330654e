package plan

import (
	"encoding/json"
	"net/url"
	"slices"

	"drawbridge/auth"
	"drawbridge/auth/credential"
	"drawbridge/gateway/admission"
	"drawbridge/gateway/job"
	"drawbridge/gateway/source"
	"drawbridge/openapi"
)

// unselected is the base URL of a plan whose server is not selected yet. Its host has no address (RFC 6761 section 6.4), so that a request
// that is built without a selection goes nowhere.
var unselected = &url.URL{Scheme: "https", Host: "unselected.invalid"}

// For returns the plan with the server of a call, and the arguments without those that select it: the plan itself if all calls have the
// same server. caller may be nil. The error is a [*credential.ServerError] or an *[openapi.ArgumentError]; the plan then has no server
// that could be called.
func (p *Plan) For(caller *auth.Principal, args json.RawMessage) (*Plan, json.RawMessage, error) {
	if p.Servers == nil {
		return p, args, nil
	}
	args, given, err := p.serverArguments.take(args)
	if err != nil {
		return p, args, err
	}
	s, key, err := p.Servers.For(caller, given)
	if err != nil {
		return p, args, err
	}
	return p.at(s, key), args, nil
}

// Again returns the plan with the server of an earlier call, by the text that identifies it; nil if the server is gone, or if the
// claims of the caller, who may be nil, select another one now.
func (p *Plan) Again(caller *auth.Principal, server string) *Plan {
	if p.Servers == nil {
		if server != "" {
			return nil
		}
		return p
	}
	s := p.Servers.Again(caller, server)
	if s == nil {
		return nil
	}
	return p.at(s, server)
}

// at returns the plan with one of its servers.
func (p *Plan) at(s *source.Source, key string) *Plan {
	own := *p
	own.serverArguments = slices.Clone(p.serverArguments)
	for i := range own.serverArguments {
		own.serverArguments[i].selected = p.Servers.Value(s, own.serverArguments[i].variable)
	}
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
	return &own
}

// base returns the base URL that a plan has before a server is selected.
func (t *draft) base() *url.URL {
	base := t.source.BaseURL(t.operation)
	if t.servers != nil && base != nil {
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

// WithServer returns the arguments of a request with those that select its server, by which conditions and the user judge the call. Those of a
// plan whose server is not selected are absent, unless they have a default.
func (p *Plan) WithServer(args json.RawMessage) json.RawMessage { return p.serverArguments.with(args) }

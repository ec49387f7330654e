package plan

import (
	"net/http"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/render"
	"drawbridge/gateway/source"
	"drawbridge/openapi"
)

// credentialOwner says whose credentials the calls of an operation carry, so that a refusal is reported to the party that can do
// something about it.
type credentialOwner struct {
	gateway, exchanged, identity bool
	account                      *Account // of the caller at the service; nil if there is none
	// passed are the headers of the client that have the user's own credential, and likely those that seem to by their names.
	passed, likely []string
}

// newCredentialOwner returns the owner of the credentials that calls of an operation carry.
func newCredentialOwner(s *source.Source, op *openapi.Operation) (o credentialOwner) {
	c := &s.Config
	choice := s.Document.Credentials.Choices[op]
	add := func(one *config.Credential) {
		switch {
		case one == nil:
		case one.Type.NeedsCaller():
			o.exchanged = true
		case one.Type == config.CredentialAuthorizationCode:
			o.account = newAccount(s.Account(one), op, s.Document.API.Schemes, choice)
		default:
			o.gateway = true
		}
	}
	if base := s.BaseURL(op); base != nil && s.GoesElsewhere(base) {
		_, own := s.ServerCredential(base)
		add(own)
		return o
	}
	switch {
	case choice == nil:
		add(c.Credential)
	case len(choice.Schemes()) > 0:
		for _, scheme := range choice.Schemes() {
			add(c.Credentials[scheme])
		}
	case choice.Sends():
		add(c.Credential)
	}
	o.gateway = o.gateway || c.ClientCertificate != nil || c.Request != nil && sendsSecret(c.Request)
	o.identity = c.Identity != nil || len(c.Request.Claims()) > 0
	for _, h := range c.PassHeaders {
		switch {
		case h.IsCredential():
			o.passed = append(o.passed, h.From)
		case namesCredential(h.To):
			o.likely = append(o.likely, h.From)
		}
	}
	return o
}

// sendsSecret reports whether a value that is added to requests is a secret.
func sendsSecret(r *config.APIRequest) bool {
	for _, values := range []map[string]*config.RequestValue{r.Headers, r.Query} {
		for _, v := range values {
			if !v.Secret.IsZero() {
				return true
			}
		}
	}
	return false
}

// namesCredential reports whether a header is passed on by its name alone and yet holds a credential, as X-API-Key does.
func namesCredential(header string) bool {
	header = strings.ToLower(strings.ReplaceAll(header, "_", "-"))
	return slices.ContainsFunc([]string{"token", "api-key", "apikey", "auth", "secret", "session", "credential"}, func(word string) bool {
		return strings.Contains(header, word)
	})
}

// Account returns the account that callers need at the service; nil if they need none.
func (p *Plan) Account() *Account { return p.owner.account }

// CredentialOwner returns the party whose credentials a call carried. inbound are the headers of the client's request.
func (p *Plan) CredentialOwner(inbound http.Header) render.CredentialOwner {
	o := render.CredentialOwner{Exchanged: p.owner.exchanged, Account: p.owner.account != nil, Identity: p.owner.identity, Gateway: p.owner.gateway}
	add := func(names []string, expected bool) {
		for _, name := range names {
			switch {
			case slices.ContainsFunc(inbound[http.CanonicalHeaderKey(name)], isCredential):
				o.Sent = append(o.Sent, name)
			case expected:
				o.Missing = append(o.Missing, name)
			}
		}
	}
	add(p.owner.passed, true)
	add(p.owner.likely, !o.Gateway && !o.Exchanged && !o.Account)
	if len(o.Sent) > 0 { // one of several is enough for most services
		o.Missing = nil
	}
	return o
}

// isCredential reports whether a header has more than the name of a scheme: a client sends "Bearer " if the variable of its configuration that
// holds the token is not set.
func isCredential(value string) bool {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "", "bearer", "basic", "token", "apikey", "dpop", "digest", "negotiate":
		return false
	}
	return true
}

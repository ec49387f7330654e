package source

import (
	"net/url"

	"drawbridge/config"
	"drawbridge/openapi"
	"drawbridge/openapi/origin"
)

// BaseURL returns the URL that the operation's calls go to; nil if neither the configuration nor the document names one.
func (s *Source) BaseURL(op *openapi.Operation) *url.URL {
	if s.server != nil {
		return baseAt(op, *s.server)
	}
	return op.Base
}

// HasOrigin reports whether a URL has the only origin that receives the credentials and values of the API as a whole.
func (s *Source) HasOrigin(u *url.URL) bool { return hasOrigin(&s.Config, u) }

func hasOrigin(api *config.API, u *url.URL) bool { return origin.Same(credentialOrigin(*api), u) }

// GoesElsewhere reports whether a URL is on another origin than that of the API. An API of a file without a base URL
// has no origin.
func (s *Source) GoesElsewhere(u *url.URL) bool { return goesElsewhere(&s.Config, u) }

func goesElsewhere(api *config.API, u *url.URL) bool {
	return (api.BaseURL != nil || api.Spec.IsURL()) && !hasOrigin(api, u)
}

// ServerCredential returns the credential that is configured for a URL on another origin than that of the API, with its
// key below the API; "" if there is none.
func (s *Source) ServerCredential(u *url.URL) (key string, c *config.Credential) {
	return serverCredential(&s.Config, u)
}

func serverCredential(api *config.API, u *url.URL) (key string, c *config.Credential) {
	to, ok := origin.Of(u)
	if !ok {
		return "", nil
	}
	for name, own := range api.ServerCredentials {
		if at, ok := origin.Parse(name); ok && at == to {
			return "server_credentials." + name, own
		}
	}
	return "", nil
}

// Uncallable returns the reasons why calls of an operation can't be made or can't succeed, as far as they are known
// without a call: no base URL, an address that isn't allowed, no credential. Host names are resolved only by calls.
func (s *Source) Uncallable(op *openapi.Operation) (reasons []string) {
	if op.Base == nil {
		reasons = append(reasons, op.BaseProblem)
	} else if err := s.Document.Client.CheckHost(op.Base); err != nil {
		reasons = append(reasons, err.Error())
	}
	if why := s.Document.Credentials.Lacking[op]; why != "" {
		reasons = append(reasons, why)
	}
	return reasons
}
